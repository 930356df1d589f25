/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One end of a channel, mapped into a program that polls it. No function makes a system call, so
 * that hyplets can use it too. A message is one word.
 *
 * 	HYP_DATA static struct tenon_line levels;
 *
 * 	if (tenon_line_open(&levels, "levels") || tenon_line_map(&levels))
 * 		return 1;
 * 	... and in the hyplet:
 * 	while (!tenon_line_take(&levels, &level))
 * 		;
 *
 * No doorbell is rung: the peer polls too. Words of a hostile or disconnected peer can have any
 * value.
 */
#ifndef TENON_CHANNEL_USER_H
#define TENON_CHANNEL_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The producer's and the consumer's part. */
enum { TENON_LINE_PARTS = 2 };

struct tenon_line {
	uint64_t *own; /* index of this end */
	const uint64_t *peer; /* index of the peer */
	uint64_t *slots;
	uint64_t count;
	struct {
		void *start;
		size_t size;
	} parts[TENON_LINE_PARTS];
};

/* Maps this VM's end of a channel; -1 with errno, EMSGSIZE if a message is not one word. */
int tenon_line_open(struct tenon_line *line, const char *name);

/* Maps it for hyplets, as hyp_map() does. */
int tenon_line_map(const struct tenon_line *line);

/* Slot of a message: a length and the word (docs/formats.md). */
static inline __attribute__((always_inline, unused)) uint64_t *tenon_line_slot(
	const struct tenon_line *line, uint64_t index)
{
	return line->slots + 2 * (index & (line->count - 1));
}

/* Sends a word; false if the channel is full. */
static inline __attribute__((always_inline, unused)) bool tenon_line_send(
	const struct tenon_line *line, uint64_t word)
{
	uint64_t index = *line->own, *slot = tenon_line_slot(line, index);

	if (index - __atomic_load_n(line->peer, __ATOMIC_ACQUIRE) >= line->count)
		return false;
	slot[0] = sizeof(word);
	slot[1] = word;
	__atomic_store_n(line->own, index + 1, __ATOMIC_RELEASE);
	return true;
}

/* Receives a word; false if the channel is empty. */
static inline __attribute__((always_inline, unused)) bool tenon_line_take(
	const struct tenon_line *line, uint64_t *word)
{
	uint64_t index = *line->own;

	if (__atomic_load_n(line->peer, __ATOMIC_ACQUIRE) == index)
		return false;
	*word = *(volatile uint64_t *)(tenon_line_slot(line, index) + 1);
	__atomic_store_n(line->own, index + 1, __ATOMIC_RELEASE);
	return true;
}

#endif
