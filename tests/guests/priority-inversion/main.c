/* Priority inversion, with and without priority inheritance.
 *
  * A low-priority thread holds a mutex for 5 ms of work, and a high-priority thread locks it. A
  * medium-priority thread has 50 ms of work and does not use the mutex. Without inheritance the
  * high-priority thread waits for both others; with it, only for the critical section.
  *
  * A portable POSIX program that needs SCHED_FIFO. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define MILLISECOND 1000000LL
#define SECTION (5 * MILLISECOND)
#define OTHER_WORK (50 * MILLISECOND)

static pthread_mutex_t mutex;
static struct timespec start;
static long long waited;

static void must(int error, const char *what)
{
	if (error != 0) {
		fprintf(stderr, "%s: %s\n", what, strerror(error));
		exit(EXIT_FAILURE);
	}
}

static long long now(void)
{
	struct timespec time;

	if (clock_gettime(CLOCK_MONOTONIC, &time) != 0)
		must(errno, "clock_gettime");
	return time.tv_sec * 1000 * MILLISECOND + time.tv_nsec;
}

/* Spins. */
static void work(long long nanoseconds)
{
	long long end = now() + nanoseconds;

	while (now() < end)
		;
}

/* Sleeps until some milliseconds after the start of the round. */
static void at(int milliseconds)
{
	struct timespec time = start;

	time.tv_nsec += milliseconds * MILLISECOND;
	if (time.tv_nsec >= 1000 * MILLISECOND) {
		time.tv_nsec -= 1000 * MILLISECOND;
		time.tv_sec++;
	}
	must(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL), "clock_nanosleep");
}

static void *low(void *unused)
{
	at(1);
	must(pthread_mutex_lock(&mutex), "lock");
	work(SECTION);
	must(pthread_mutex_unlock(&mutex), "unlock");
	return unused;
}

static void *medium(void *unused)
{
	at(3);
	work(OTHER_WORK);
	return unused;
}

static void *high(void *unused)
{
	long long before;

	at(2);
	before = now();
	must(pthread_mutex_lock(&mutex), "lock");
	waited = now() - before;
	must(pthread_mutex_unlock(&mutex), "unlock");
	return unused;
}

static pthread_t thread(int priority, void *(*body)(void *))
{
	pthread_attr_t attributes;
	struct sched_param parameters = { .sched_priority = priority };
	pthread_t made;

	must(pthread_attr_init(&attributes), "attributes");
	must(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED), "inherit");
	must(pthread_attr_setschedpolicy(&attributes, SCHED_FIFO), "policy");
	must(pthread_attr_setschedparam(&attributes, &parameters), "priority");
	must(pthread_create(&made, &attributes, body, NULL), "pthread_create");
	must(pthread_attr_destroy(&attributes), "attributes");
	return made;
}

/* One round; returns the waiting time of the high-priority thread. */
static long long round_with(int protocol)
{
	int least = sched_get_priority_min(SCHED_FIFO);
	pthread_mutexattr_t attributes;
	pthread_t threads[3];

	must(pthread_mutexattr_init(&attributes), "attributes");
	must(pthread_mutexattr_setprotocol(&attributes, protocol), "protocol");
	must(pthread_mutex_init(&mutex, &attributes), "mutex");
	must(pthread_mutexattr_destroy(&attributes), "attributes");
	if (clock_gettime(CLOCK_MONOTONIC, &start) != 0)
		must(errno, "clock_gettime");
	threads[0] = thread(least + 1, low);
	threads[1] = thread(least + 2, medium);
	threads[2] = thread(least + 3, high);
	for (int i = 0; i < 3; i++)
		must(pthread_join(threads[i], NULL), "pthread_join");
	must(pthread_mutex_destroy(&mutex), "mutex");
	return waited;
}

int main(void)
{
	long long without, with;

	if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
		perror("mlockall");
	without = round_with(PTHREAD_PRIO_NONE);
	with = round_with(PTHREAD_PRIO_INHERIT);
	printf("the urgent thread waited %lld us without inheritance\n", without / 1000);
	printf("the urgent thread waited %lld us with inheritance\n", with / 1000);
	if (without < OTHER_WORK || with > 2 * SECTION) {
		printf("not as it should be\n");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
