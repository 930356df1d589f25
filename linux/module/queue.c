// SPDX-License-Identifier: GPL-2.0
/*
 * One end of a channel's message queue: the counterpart of core_ring::message in C.
 *
 * The index of this end has no private copy. Only this VM can write it, and a program that has
 * mapped the part can advance it too.
 */
#include "queue.h"

#ifdef __KERNEL__
#include <asm/barrier.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#endif

#define INDEX 0
#define WAKE 1
/* In words: the slots start at the second cache line; each message follows its length. */
#define SLOTS 8
#define LENGTH 1

/* Epochs on the status page. */
#define PRODUCER 0
#define CONSUMER 1

static u32 stride(const struct tenon_queue *queue)
{
	return LENGTH + (queue->size + 7) / 8;
}

u64 tenon_queue_bytes(u32 count, u32 size)
{
	return 8 * (SLOTS + (u64)count * (LENGTH + (size + 7) / 8));
}

void tenon_queue_attach(struct tenon_queue *queue, void *producer, void *consumer, void *status,
			u32 count, u32 size, bool is_producer)
{
	queue->own = is_producer ? producer : consumer;
	queue->peer = is_producer ? consumer : producer;
	queue->slots = (u64 *)producer + SLOTS;
	queue->epoch = (u64 *)status + (is_producer ? CONSUMER : PRODUCER);
	queue->known = smp_load_acquire(queue->epoch);
	queue->count = count;
	queue->size = size;
	queue->producer = is_producer;
}

/* Whether the known peer has disconnected. A peer that connects where none was is not reported. */
static bool is_gone(const struct tenon_queue *queue, u64 now)
{
	u64 before = queue->known;

	return now != before && ((before & 1) || now != before + 1);
}

/* An invalid index of the consumer is treated as if nothing had been taken. */
static bool is_full(const struct tenon_queue *queue)
{
	/* Acquire: the consumer has finished reading the slot that is overwritten next. */
	u64 tail = smp_load_acquire(&queue->peer[INDEX]);

	return READ_ONCE(queue->own[INDEX]) - tail >= queue->count;
}

/* State of the queue, with the epoch of the peer; does not change what is reported later. */
static int state(const struct tenon_queue *queue, u64 *epoch)
{
	u64 ahead;

	/*
	 * The epoch is read before the index, so that all messages of a disconnected producer are
	 * seen.
	 */
	*epoch = smp_load_acquire(queue->epoch);
	if (queue->producer) {
		if (is_gone(queue, *epoch))
			return -EPIPE;
		return is_full(queue) ? -EAGAIN : 0;
	}
	/* Acquire: the messages up to this index. */
	ahead = smp_load_acquire(&queue->peer[INDEX]) - READ_ONCE(queue->own[INDEX]);
	if (ahead)
		return ahead > queue->count ? -EBADMSG : 0;
	return is_gone(queue, *epoch) ? -EPIPE : -EAGAIN;
}

int tenon_queue_next(struct tenon_queue *queue, u64 **slot)
{
	u64 epoch, index;
	int error = state(queue, &epoch);

	if (error == -EPIPE || error == -EAGAIN)
		queue->known = epoch;
	if (error == -EBADMSG)
		smp_store_release(&queue->own[INDEX], smp_load_acquire(&queue->peer[INDEX]));
	index = READ_ONCE(queue->own[INDEX]) & (queue->count - 1);
	*slot = queue->slots + index * stride(queue);
	return error;
}

u32 tenon_queue_length(const struct tenon_queue *queue, const u64 *slot)
{
	return min_t(u64, READ_ONCE(*slot), queue->size);
}

/* Advances the index of this end; returns whether the peer waits for exactly that index. */
static bool step(struct tenon_queue *queue)
{
	u64 index = READ_ONCE(queue->own[INDEX]) + 1;

	/* Release: the message is written, or read, before the index is stored. */
	smp_store_release(&queue->own[INDEX], index);
	/* Orders the store of the index before the load of the peer's wake word. */
	smp_mb();
	return (u32)READ_ONCE(queue->peer[WAKE]) == (u32)index;
}

bool tenon_queue_sent(struct tenon_queue *queue, u64 *slot, u32 length)
{
	WRITE_ONCE(*slot, length);
	return step(queue);
}

bool tenon_queue_taken(struct tenon_queue *queue)
{
	return step(queue);
}

bool tenon_queue_ask(struct tenon_queue *queue)
{
	u64 own = READ_ONCE(queue->own[INDEX]);
	u64 wanted = queue->producer ? own - queue->count + 1 : own + 1;
	u64 waits = (READ_ONCE(queue->own[WAKE]) >> 32) + 1;

	/* The count makes each wake word unique: Mortise delivers one doorbell per value. */
	WRITE_ONCE(queue->own[WAKE], waits << 32 | (u32)wanted);
	/*
	 * Pairs with the barrier of the peer: either it sees the request, or this end sees its
	 * index.
	 */
	smp_mb();
	if (READ_ONCE(*queue->epoch) != queue->known)
		return false;
	return queue->producer ? is_full(queue) : READ_ONCE(queue->peer[INDEX]) == own;
}

bool tenon_queue_ready(struct tenon_queue *queue)
{
	u64 epoch;

	do {
		/* An error is reported by the next read or write. */
		if (state(queue, &epoch) != -EAGAIN)
			return true;
		queue->known = epoch;
	} while (!tenon_queue_ask(queue));
	return false;
}
