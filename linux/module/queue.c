// SPDX-License-Identifier: GPL-2.0
/*
 * One end of a channel's message queue: the counterpart of core_ring::message in C.
 *
 * This end's index is kept where it is published. Nobody else can write it, and a program that
 * mapped the part and used it is then gone on with.
 */
#include "queue.h"

#ifdef __KERNEL__
#include <asm/barrier.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#endif

#define INDEX 0
#define WAKE 1
/* In words: the slots are behind a cache line of their own, a length is before each message. */
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

/* Whether the peer known before is gone. One that comes where nobody was is no matter. */
static bool is_gone(const struct tenon_queue *queue, u64 now)
{
	u64 before = queue->known;

	return now != before && ((before & 1) || now != before + 1);
}

/* A consumer that took what was never sent, or untook, is taken for one that took nothing. */
static bool is_full(const struct tenon_queue *queue)
{
	/* Acquire: the consumer is done with the slot that is overwritten from here on. */
	u64 tail = smp_load_acquire(&queue->peer[INDEX]);

	return READ_ONCE(queue->own[INDEX]) - tail >= queue->count;
}

/* What there is to do or to tell, as of an epoch of the peer's; nothing of it is told by this. */
static int look(const struct tenon_queue *queue, u64 *epoch)
{
	u64 ahead;

	/* Before the index: what a producer sent before it went is seen then. */
	*epoch = smp_load_acquire(queue->epoch);
	if (queue->producer) {
		if (is_gone(queue, *epoch))
			return -EPIPE;
		return is_full(queue) ? -EAGAIN : 0;
	}
	/* Acquire: the messages that the index shows. */
	ahead = smp_load_acquire(&queue->peer[INDEX]) - READ_ONCE(queue->own[INDEX]);
	if (ahead)
		return ahead > queue->count ? -EBADMSG : 0;
	return is_gone(queue, *epoch) ? -EPIPE : -EAGAIN;
}

int tenon_queue_next(struct tenon_queue *queue, u64 **slot)
{
	u64 epoch, index;
	int error = look(queue, &epoch);

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

/* Publishes this end's index; returns whether the peer waits for just that. */
static bool step(struct tenon_queue *queue)
{
	u64 index = READ_ONCE(queue->own[INDEX]) + 1;

	/* Release: the message before the index that shows it, or the reading before its end. */
	smp_store_release(&queue->own[INDEX], index);
	/* The index before the look at whether anybody waits for it. */
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

	/* The count of waits makes each of them a new word: Mortise passes on a word once. */
	WRITE_ONCE(queue->own[WAKE], waits << 32 | (u32)wanted);
	/* Pairs with the peer's: it sees what is asked, or this sees what it did. */
	smp_mb();
	if (READ_ONCE(*queue->epoch) != queue->known)
		return false;
	return queue->producer ? is_full(queue) : READ_ONCE(queue->peer[INDEX]) == own;
}

bool tenon_queue_ready(struct tenon_queue *queue)
{
	u64 epoch;

	do {
		/* What is to be told, is told to who reads or writes. */
		if (look(queue, &epoch) != -EAGAIN)
			return true;
		queue->known = epoch;
	} while (!tenon_queue_ask(queue));
	return false;
}
