// SPDX-License-Identifier: GPL-2.0
/*
 * fwq: a fixed quantum of work, over and over.
 *
 * Whatever makes one quantum longer than another is not the program's: it knows of no core of its
 * own and calls nobody meanwhile. It says what the counter saw; around each quantum are two hints
 * that mean nothing to the core, by which a bench counts from outside.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A quantum: so many turns of a loop of so many instructions. */
enum { TURNS = 10000, TURN = 10 };

enum { WRONG = 2, MOST = 1000000 };

static uint64_t ticks(void)
{
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
	return ticks;
}

static uint64_t nanoseconds(uint64_t ticks)
{
	uint64_t frequency;

	__asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
	return ticks * 1000000000 / frequency;
}

static void work(void)
{
	uint64_t turns = TURNS, sum = 0;

	__asm__ volatile("hint #126\n"
			 "1:\n\t"
			 ".rept %c[turn] - 2\n\t"
			 "add %[sum], %[sum], #1\n\t"
			 ".endr\n\t"
			 "subs %[turns], %[turns], #1\n\t"
			 "b.ne 1b\n\t"
			 "hint #127"
			 : [turns] "+r"(turns), [sum] "+r"(sum)
			 : [turn] "i"(TURN)
			 : "cc");
}

int main(int count, char **argument)
{
	uint64_t least = UINT64_MAX, most = 0;
	long quanta = count > 1 ? atol(argument[1]) : 10000;

	if (count > 2 || quanta < 1 || quanta > MOST) {
		fprintf(stderr, "fwq [QUANTA]: 1 to %d\n", MOST);
		return WRONG;
	}
	for (long quantum = 0; quantum < quanta; quantum++) {
		uint64_t began = ticks(), took;

		work();
		took = ticks() - began;
		least = took < least ? took : least;
		most = took > most ? took : most;
	}
	printf("%ld quanta of %d instructions; %" PRIu64 " ns at least, %" PRIu64 " at most\n",
	       quanta, TURNS * TURN, nanoseconds(least), nanoseconds(most));
	return 0;
}
