// SPDX-License-Identifier: GPL-2.0
/*
 * fwq: fixed work quantum, repeated.
 *
 * The program makes no system call during a quantum, so that differences between quanta are noise
 * of the system. It prints the counter's measurements; each quantum is between two hint
 * instructions without effect, by which a bench counts from outside.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A quantum: iterations of a loop, and instructions per iteration. */
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
