/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One end of a channel's message queue, in the memory that docs/formats.md describes.
 *
 * It uses no lock and no device, so that it can be tested on the host. The peer is not trusted: its
 * indices are checked against the bounds, and changes of a message while it is copied affect only
 * that message.
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
	const u64 *peer; /* index and wake of the peer */
	u64 *slots;
	const u64 *epoch; /* of the peer: odd while it is connected */
	u64 known; /* last known epoch of the peer */
	u32 count;
	u32 size;
	bool producer;
};

void tenon_queue_attach(struct tenon_queue *queue, void *producer, void *consumer, void *status,
			u32 count, u32 size, bool is_producer);

/* Size of the producer's part in bytes. */
u64 tenon_queue_bytes(u32 count, u32 size);

/*
 * Finds the slot of the next message to send, or of the first to take: 0, and `slot`; -EAGAIN:
 * full, or empty; -EPIPE: the peer has disconnected, reported once; -EBADMSG: the peer's index is
 * out of bounds, and its messages were discarded.
 */
int tenon_queue_next(struct tenon_queue *queue, u64 **slot);

/* Length in bytes of the message in a slot, read once. */
u32 tenon_queue_length(const struct tenon_queue *queue, const u64 *slot);

/* Sends the message of `length` bytes in `slot`; returns whether the peer waits for it. */
bool tenon_queue_sent(struct tenon_queue *queue, u64 *slot, u32 length);

/* Releases the first message; returns whether the peer waits for its slot. */
bool tenon_queue_taken(struct tenon_queue *queue);

/* Whether tenon_queue_next() would not return -EAGAIN; otherwise a doorbell is requested. */
bool tenon_queue_ready(struct tenon_queue *queue);

/* Requests a doorbell; returns whether to wait for it, that is, nothing has changed meanwhile. */
bool tenon_queue_ask(struct tenon_queue *queue);

#endif
