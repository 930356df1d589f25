/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One end of a channel in a program's own memory, for who polls it: without a system call, so that
 * a hyplet can use it too. A message here is one word.
 *
 *	HYP_DATA static struct tenon_line levels;
 *
 *	if (tenon_line_open(&levels, "levels") || tenon_line_map(&levels))
 *		return 1;
 *	... and in the hyplet:
 *	while (!tenon_line_take(&levels, &level))
 *		;
 *
 * The peer is not rung: it polls as well. It may be hostile or gone, and words make no sense then.
 */
#ifndef TENON_CHANNEL_USER_H
#define TENON_CHANNEL_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The producer's and the consumer's. */
enum { TENON_LINE_PARTS = 2 };

struct tenon_line {
	uint64_t *own; /* this end's index, and the peer's */
	const uint64_t *peer;
	uint64_t *slots;
	uint64_t count;
	struct {
		void *start;
		size_t size;
	} parts[TENON_LINE_PARTS];
};

/* Takes this VM's end of a channel; -1 with errno, EMSGSIZE if its messages have no room for a word. */
int tenon_line_open(struct tenon_line *line, const char *name);

/* Lets hyplets reach it, as hyp_map() does. */
int tenon_line_map(const struct tenon_line *line);

/* A length, and the word (docs/formats.md). */
static inline __attribute__((always_inline, unused)) uint64_t *tenon_line_slot(
	const struct tenon_line *line, uint64_t index)
{
	return line->slots + 2 * (index & (line->count - 1));
}

/* Sends a word if there is room. */
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

/* Takes a word if there is one. */
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
