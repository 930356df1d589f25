// SPDX-License-Identifier: GPL-2.0
/*
 * signal-time: how soon a detached program's handler runs when a signal is sent to it.
 *
 * The detached one waits without Linux meanwhile, the sender sleeps in Linux. Both read the same
 * counter.
 */
#include <tenon/detach.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FAILED = 1, WRONG = 2, MOST = 100000 };
enum { PAUSE = 1000 }; /* µs */

#define HOUR UINT64_C(3600000000000)

static struct {
	volatile int ready;
	volatile uint64_t came;
} *shared;

static void came(int signal)
{
	(void)signal;
	shared->came = tenon_now();
}

static _Noreturn void wait_detached(void)
{
	struct sigaction action = { .sa_handler = came };

	sigaction(SIGUSR1, &action, NULL);
	if (tenon_detach(-1)) {
		perror("signal-time: no CPU of its own");
		exit(FAILED);
	}
	shared->ready = 1;
	for (;;)
		tenon_wait_until(tenon_now() + HOUR);
}

static int later(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

static uint64_t send(pid_t child)
{
	uint64_t sent;

	shared->came = 0;
	usleep(PAUSE);
	sent = tenon_now();
	kill(child, SIGUSR1);
	while (!shared->came)
		usleep(PAUSE);
	return shared->came - sent;
}

int main(int count, char **argument)
{
	long signals = count > 1 ? atol(argument[1]) : 1000;
	static uint64_t took[MOST];
	pid_t child;

	if (count > 2 || signals < 1 || signals > MOST) {
		fprintf(stderr, "signal-time [SIGNALS]: 1 to %d\n", MOST);
		return WRONG;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	child = shared == MAP_FAILED ? -1 : fork();
	if (child < 0) {
		perror("signal-time");
		return FAILED;
	}
	if (!child)
		wait_detached();
	while (!shared->ready && !waitpid(child, NULL, WNOHANG))
		usleep(PAUSE);
	if (!shared->ready)
		return FAILED;
	for (long number = 0; number < signals; number++)
		took[number] = send(child);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	qsort(took, signals, sizeof(took[0]), later);
	printf("%ld signals: %" PRIu64 " ns least, %" PRIu64 " median, %" PRIu64
	       " but for one in a hundred, %" PRIu64 " most\n",
	       signals, took[0], took[signals / 2], took[signals * 99 / 100], took[signals - 1]);
	return 0;
}
