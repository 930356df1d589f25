// SPDX-License-Identifier: GPL-2.0
/* ping: round trips over two channels to a VM that returns each message. */
#include "tenonctl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 1000, PATIENCE = 1000 /* ms */, SIZE = 64 };

static int channel(const char *name, int mode)
{
	char path[sizeof("/dev/tenon/") + TENON_NAME];
	int file;

	snprintf(path, sizeof(path), "/dev/tenon/%s", name);
	file = open(path, mode | O_CLOEXEC);
	if (file < 0 && errno == ENOENT)
		give_up(WRONG, "no channel \"%s\" here; ls /dev/tenon shows them", name);
	if (file < 0)
		give_up(WRONG, "%s: %s", path,
			errno == EACCES ? "it leads the other way" : strerror(errno));
	return file;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* One round trip; replies to earlier runs are ignored. */
static void trip(int out, int in, uint64_t number)
{
	struct pollfd reply = { .fd = in, .events = POLLIN };
	/* The maximum size of a message, as a shorter read would fail. */
	static char message[1 << 16], question[SIZE];
	uint64_t answer;

	memcpy(question, &number, sizeof(number));
	if (write(out, question, sizeof(question)) != sizeof(question))
		give_up(FAILED, "the other end does not take messages: %s", strerror(errno));
	do {
		if (poll(&reply, 1, PATIENCE) != 1)
			give_up(FAILED, "the other end does not answer");
		if (read(in, message, sizeof(message)) < 0)
			give_up(FAILED, "the other end makes no sense: %s", strerror(errno));
		memcpy(&answer, message, sizeof(answer));
	} while (answer != number);
}

void ping(const char *to, const char *from)
{
	static uint64_t times[COUNT];
	/* First number of this run, distinct from those of an interrupted run. */
	uint64_t first = now();
	int out, in, i;

	in = channel(from, O_RDONLY);
	out = channel(to, O_WRONLY | O_NONBLOCK);
	for (i = 0; i < COUNT; i++) {
		uint64_t begin = now();

		trip(out, in, first + i);
		times[i] = now() - begin;
	}
	qsort(times, COUNT, sizeof(times[0]), by_size);
	printf("%d round trips: %" PRIu64 " ns least, %" PRIu64 " median, %" PRIu64
	       " 99 of 100, %" PRIu64 " most\n",
	       COUNT, times[0], times[COUNT / 2], times[COUNT * 99 / 100], times[COUNT - 1]);
}
