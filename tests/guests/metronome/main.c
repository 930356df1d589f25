/* Periodic tasks with absolute sleeps.
 *
  * Three tasks with periods of 1, 2 and 5 ms and rate-monotonic priorities. Each sleeps until its next
  * release, a multiple of the period after the first one, so that a late release delays no later one.
  * At the end each prints its number of releases and its maximum latency.
  *
  * A portable POSIX program that needs SCHED_FIFO. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MILLISECOND 1000000LL
#define LENGTH (200 * MILLISECOND)
#define TASKS 3

struct task {
	long long period;
	int releases;
	int early;
	long long latest;
};

static struct task tasks[TASKS] = {
	{ .period = 1 * MILLISECOND },
	{ .period = 2 * MILLISECOND },
	{ .period = 5 * MILLISECOND },
};
static struct timespec first;

static void must(int error, const char *what)
{
	if (error != 0) {
		fprintf(stderr, "%s: %s\n", what, strerror(error));
		exit(EXIT_FAILURE);
	}
}

static long long total(const struct timespec *time)
{
	return time->tv_sec * 1000 * MILLISECOND + time->tv_nsec;
}

static void add(struct timespec *time, long long nanoseconds)
{
	time->tv_nsec += nanoseconds;
	while (time->tv_nsec >= 1000 * MILLISECOND) {
		time->tv_nsec -= 1000 * MILLISECOND;
		time->tv_sec++;
	}
}

static void *run(void *argument)
{
	struct task *task = argument;
	struct timespec release = first, now;

	for (; task->releases * task->period < LENGTH; task->releases++) {
		int error;

		while ((error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &release, NULL)) == EINTR)
			;
		must(error, "clock_nanosleep");
		if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
			must(errno, "clock_gettime");
		long long late = total(&now) - total(&release);
		task->early += late < 0;
		if (late > task->latest)
			task->latest = late;
		add(&release, task->period);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[TASKS];
	int most = sched_get_priority_max(SCHED_FIFO), fine = 1;

	if (clock_gettime(CLOCK_MONOTONIC, &first) != 0)
		must(errno, "clock_gettime");
	add(&first, 5 * MILLISECOND);
	for (int i = 0; i < TASKS; i++) {
		pthread_attr_t attributes;
		struct sched_param parameters = { .sched_priority = most - 2 - i };

		must(pthread_attr_init(&attributes), "attributes");
		must(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED), "inherit");
		must(pthread_attr_setschedpolicy(&attributes, SCHED_FIFO), "policy");
		must(pthread_attr_setschedparam(&attributes, &parameters), "priority");
		must(pthread_create(&threads[i], &attributes, run, &tasks[i]), "pthread_create");
		must(pthread_attr_destroy(&attributes), "attributes");
	}
	for (int i = 0; i < TASKS; i++)
		must(pthread_join(threads[i], NULL), "pthread_join");
	for (int i = 0; i < TASKS; i++) {
		struct task *task = &tasks[i];

		printf("every %lld ms: %d releases, %d early, the latest %lld us after its time\n",
		       task->period / MILLISECOND, task->releases, task->early, task->latest / 1000);
		fine = fine && task->early == 0 && task->releases == LENGTH / task->period;
	}
	return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
