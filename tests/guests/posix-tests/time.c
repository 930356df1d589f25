/* Clocks and sleeps. */

#include <pthread.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "case.h"

#define SECOND 1000000000LL

static long long total(struct timespec time)
{
	return time.tv_sec * SECOND + time.tv_nsec;
}

static struct timespec split(long long nanoseconds)
{
	return (struct timespec){nanoseconds / SECOND, nanoseconds % SECOND};
}

static long long now(clockid_t clock)
{
	struct timespec time;

	CHECK(clock_gettime(clock, &time) == 0);
	CHECK(time.tv_nsec >= 0 && time.tv_nsec < SECOND);
	return total(time);
}

static void reading(void)
{
	struct timespec time;
	long long last = now(CLOCK_MONOTONIC);

	for (int i = 0; i < 1000; i++) {
		long long next = now(CLOCK_MONOTONIC);
		CHECK(next >= last);
		last = next;
	}
	CHECK_ERRNO(clock_gettime((clockid_t)77, &time), EINVAL);
	CHECK(clock_getres(CLOCK_MONOTONIC, &time) == 0);
	CHECK(time.tv_sec == 0 && time.tv_nsec >= 1 && time.tv_nsec <= 1000);
	CHECK(clock_getres(CLOCK_REALTIME, NULL) == 0);
	CHECK_ERRNO(clock_getres((clockid_t)77, NULL), EINVAL);
}

/* No other program runs, so CPU time equals elapsed time. */
static void processor_time(void)
{
	clock_t begin = clock();
	long long start = now(CLOCK_MONOTONIC);

	CHECK(begin >= 0 && begin < 3600LL * CLOCKS_PER_SEC);
	for (volatile int i = 0; i < 100000; i++)
		;
	long long passed = now(CLOCK_MONOTONIC) - start;
	long long used = (clock() - begin) * (SECOND / CLOCKS_PER_SEC);
	CHECK(passed > 0 && used >= passed - 1000 && used < passed + SECOND);
}

static void setting(void)
{
	struct timespec before, wanted = {.tv_sec = 1700000000, .tv_nsec = 5}, bad = {.tv_nsec = -1};
	struct timeval microseconds;

	CHECK(clock_gettime(CLOCK_REALTIME, &before) == 0);
	CHECK(clock_settime(CLOCK_REALTIME, &wanted) == 0);
	long long passed = now(CLOCK_REALTIME) - total(wanted);
	CHECK(passed >= 0 && passed < SECOND);
	CHECK(time(NULL) == 1700000000);
	CHECK(gettimeofday(&microseconds, NULL) == 0 && microseconds.tv_sec == 1700000000);
	CHECK_ERRNO(clock_settime(CLOCK_MONOTONIC, &wanted), EINVAL);
	CHECK_ERRNO(clock_settime(CLOCK_REALTIME, &bad), EINVAL);
	CHECK_ERRNO(clock_settime((clockid_t)77, &wanted), EINVAL);
	CHECK(clock_settime(CLOCK_REALTIME, &before) == 0);
}

static void for_a_while(void)
{
	static const long long whiles[] = {0, 1, 999, 20000, 3000000};
	struct timespec bad = {.tv_nsec = SECOND}, negative = {.tv_sec = -1};

	for (size_t i = 0; i < sizeof whiles / sizeof *whiles; i++) {
		struct timespec length = split(whiles[i]);
		long long start = now(CLOCK_MONOTONIC);
		CHECK(nanosleep(&length, NULL) == 0);
		CHECK(now(CLOCK_MONOTONIC) - start >= whiles[i]);
		start = now(CLOCK_MONOTONIC);
		CHECK(clock_nanosleep(CLOCK_REALTIME, 0, &length, NULL) == 0);
		CHECK(now(CLOCK_MONOTONIC) - start >= whiles[i]);
	}
	CHECK_ERRNO(nanosleep(&bad, NULL), EINVAL);
	CHECK_ERRNO(nanosleep(&negative, NULL), EINVAL);
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL) == EINVAL);
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &bad, NULL) == EINVAL);
	CHECK(clock_nanosleep((clockid_t)77, 0, &bad, NULL) == EINVAL);
	long long start = now(CLOCK_MONOTONIC);
	CHECK(usleep(1500) == 0 && now(CLOCK_MONOTONIC) - start >= 1500000);
	CHECK(sleep(0) == 0);
}

static void until_a_time(void)
{
	struct timespec past = {.tv_sec = 0};
	long long next = now(CLOCK_MONOTONIC);

	CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &past, NULL) == 0);
	for (int i = 0; i < 20; i++) {
		next += 1000000;
		struct timespec time = split(next);
		CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == 0);
		CHECK(now(CLOCK_MONOTONIC) >= next);
	}
}

static void *sleeps_long(void *argument)
{
	struct timespec time = *(struct timespec *)argument;

	CHECK(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, NULL) == 0);
	CHECK(now(CLOCK_REALTIME) >= total(time));
	return NULL;
}

/* A step of CLOCK_REALTIME ends exactly the sleeps with a wake-up time that it passes. */
static void stepped(void)
{
	struct timespec before, far, wanted;
	pthread_t thread;

	CHECK(clock_gettime(CLOCK_REALTIME, &before) == 0);
	far = before;
	far.tv_sec += 100000;
	CHECK(pthread_create(&thread, NULL, sleeps_long, &far) == 0);
	CHECK(usleep(1000) == 0);
	wanted = far;
	wanted.tv_sec -= 10;
	CHECK(clock_settime(CLOCK_REALTIME, &wanted) == 0);
	CHECK(usleep(1000) == 0);
	CHECK(clock_settime(CLOCK_REALTIME, &far) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(clock_settime(CLOCK_REALTIME, &before) == 0);
}

static struct timespec far;
static volatile int back;

static void *sleeps_late(void *lag)
{
	for (volatile size_t i = 0; i < (size_t)lag; i++)
		;
	sleeps_long(&far);
	back = 1;
	return NULL;
}

/* The step occurs after, during and before the call; a second one ends the sleep if it is missed. */
static void stepped_late(void)
{
	struct timespec before;
	pthread_attr_t attributes;
	struct sched_param parameters = {.sched_priority = 5};
	pthread_t thread;

	CHECK(clock_gettime(CLOCK_REALTIME, &before) == 0);
	CHECK(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED) == 0);
	CHECK(pthread_attr_setschedparam(&attributes, &parameters) == 0);
	far = before;
	far.tv_sec += 100000;
	for (size_t lag = 0; lag < 1500; lag++) {
		back = 0;
		CHECK(pthread_create(&thread, &attributes, sleeps_late, (void *)lag) == 0);
		CHECK(usleep(5) == 0 && clock_settime(CLOCK_REALTIME, &far) == 0);
		for (int i = 0; i < 100 && !back; i++)
			CHECK(usleep(200) == 0);
		CHECK(back || clock_settime(CLOCK_REALTIME, &far) != 0);
		CHECK(pthread_join(thread, NULL) == 0);
		CHECK(clock_settime(CLOCK_REALTIME, &before) == 0);
	}
}

static void *sleeps_for_good(void *argument)
{
	(void)argument;
	sleep(1000000);
	CHECK(!"it to be cancelled");
	return NULL;
}

static void cancelled(void)
{
	pthread_t thread;
	void *result;

	CHECK(pthread_create(&thread, NULL, sleeps_for_good, NULL) == 0);
	CHECK(usleep(100) == 0);
	CHECK(pthread_cancel(thread) == 0);
	CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
}

static const struct test tests[] = {
	{"reading", reading},
	{"processor time", processor_time},
	{"setting", setting},
	{"for a while", for_a_while},
	{"until a time", until_a_time},
	{"stepped", stepped},
	{"stepped late", stepped_late},
	{"cancelled", cancelled},
	{NULL, NULL},
};

const struct suite time_suite = {"time", tests};
