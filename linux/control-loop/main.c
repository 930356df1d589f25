// SPDX-License-Identifier: GPL-2.0
/*
 * control-loop: waits for periodic points in time.
 *
 * A detached thread waits without Linux. The program prints the counter's measurements; each wait
 * is between two hint instructions without effect, by which a bench counts from outside.
 */
#include <tenon/detach.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PERIOD = 1000000 }; /* ns */

enum { WRONG = 2, MOST = 1000000 };

static void wait_until(uint64_t ns)
{
	__asm__ volatile("hint #126" : : : "memory");
	tenon_wait_until(ns);
	__asm__ volatile("hint #127" : : : "memory");
}

int main(int count, char **argument)
{
	long releases = count > 1 ? atol(argument[1]) : 10000;
	uint64_t next, early = 0, missed = 0;

	if (count > 2 || releases < 1 || releases > MOST) {
		fprintf(stderr, "control-loop [RELEASES]: 1 to %d\n", MOST);
		return WRONG;
	}
	next = tenon_now() + PERIOD;
	for (long release = 0; release < releases; release++, next += PERIOD) {
		uint64_t now;

		wait_until(next);
		now = tenon_now();
		early += now < next;
		missed += now >= next + PERIOD;
	}
	printf("%ld releases, %" PRIu64 " early, %" PRIu64 " missed\n", releases, early, missed);
	return 0;
}
