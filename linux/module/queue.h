/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One end of a channel's message queue, in the memory that docs/formats.md describes.
 *
 * It takes no lock and knows no device, so that a test outside of the kernel can drive it. The
 * peer is not trusted: of its words only indices within bounds are believed, and what it does to
 * the bytes of a message while they are copied is its own loss.
 */
#ifndef TENON_QUEUE_H
#define TENON_QUEUE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "host.h"
#endif

struct tenon_queue {
	u64 *own; /* index and wake of this end */
	const u64 *peer; /* those of the peer */
	u64 *slots;
	const u64 *epoch; /* the peer's: odd while it is there */
	u64 known; /* its epoch when this end last looked */
	u32 count;
	u32 size;
	bool producer;
};

void tenon_queue_attach(struct tenon_queue *queue, void *producer, void *consumer, void *status,
			u32 count, u32 size, bool is_producer);

/* Bytes of the producer's part. */
u64 tenon_queue_bytes(u32 count, u32 size);

/*
 * The slot of the next message to send, or of the first to take: 0, and `slot`;
 * -EAGAIN: full, or empty; -EPIPE: the peer went, told once; -EBADMSG: what the peer says it sent
 * makes no sense and was given up.
 */
int tenon_queue_next(struct tenon_queue *queue, u64 **slot);

/* Bytes of the message in a slot, read once. */
u32 tenon_queue_length(const struct tenon_queue *queue, const u64 *slot);

/* The message of `length` bytes in `slot` is sent; returns whether the peer waits for it. */
bool tenon_queue_sent(struct tenon_queue *queue, u64 *slot, u32 length);

/* The first message was taken; returns whether the peer waits for its slot. */
bool tenon_queue_taken(struct tenon_queue *queue);

/* Whether a place, a message or a peer's end is to be had; if not, a doorbell comes once it is. */
bool tenon_queue_ready(struct tenon_queue *queue);

/* Asks for a doorbell; returns whether to wait for it, as nothing came in between. */
bool tenon_queue_ask(struct tenon_queue *queue);

#endif
