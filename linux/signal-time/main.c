// SPDX-License-Identifier: GPL-2.0
/*
 * signal-time: latency from a signal to the handler of a detached program, or, with `stop` or
 * `kill`, until its parent is notified.
 *
 * The detached program waits without Linux meanwhile, the sender sleeps in Linux. Both read the
 * same counter.
 */
#include <tenon/detach.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static pid_t child_of_its_own(void)
{
	pid_t child;

	shared->ready = 0;
	child = fork();
	if (child < 0) {
		perror("signal-time");
		exit(FAILED);
	}
	if (!child)
		wait_detached();
	while (!shared->ready && !waitpid(child, NULL, WNOHANG))
		usleep(PAUSE);
	if (!shared->ready)
		exit(FAILED);
	return child;
}

static uint64_t handled(pid_t child)
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

/* Time until the parent is notified that the child has stopped or ended. */
static uint64_t ended(pid_t child, int signal)
{
	uint64_t sent;

	usleep(PAUSE);
	sent = tenon_now();
	kill(child, signal);
	waitpid(child, NULL, WUNTRACED);
	return tenon_now() - sent;
}

int main(int count, char **argument)
{
	long signals = count > 1 ? atol(argument[1]) : 1000;
	const char *how = count > 2 ? argument[2] : "handled";
	int stops = !strcmp(how, "stop"), kills = !strcmp(how, "kill");
	static uint64_t took[MOST];
	pid_t child;

	if (count > 3 || signals < 1 || signals > MOST ||
	    (!stops && !kills && strcmp(how, "handled"))) {
		fprintf(stderr, "signal-time [SIGNALS [handled|stop|kill]]: 1 to %d\n", MOST);
		return WRONG;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED) {
		perror("signal-time");
		return FAILED;
	}
	child = child_of_its_own();
	for (long number = 0; number < signals; number++) {
		took[number] = kills ? ended(child, SIGKILL) :
			       stops ? ended(child, SIGSTOP) : handled(child);
		if (kills)
			child = child_of_its_own();
		else if (stops)
			kill(child, SIGCONT);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	qsort(took, signals, sizeof(took[0]), later);
	printf("%ld signals: %" PRIu64 " ns least, %" PRIu64 " median, %" PRIu64
	       " but for one in a hundred, %" PRIu64 " most\n",
	       signals, took[0], took[signals / 2], took[signals * 99 / 100], took[signals - 1]);
	return 0;
}
