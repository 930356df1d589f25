/* Thread servers: budgets and admission. */

#include <pthread.h>
#include <sched.h>
#include <tenon/server.h>
#include <time.h>

#include "case.h"

enum { MS = 1000000 };

static volatile int stop;
static volatile long turns;

static void *spins(void *argument)
{
	while (!stop)
		turns++;
	return argument;
}

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000l + time.tv_nsec;
}

/* Whether a thread of lower priority has run while this one spun for this long. */
static int runs_within(long ns)
{
	long begin = now(), before = turns;

	while (now() - begin < ns)
		;
	return turns != before;
}

static pthread_t spinner(void)
{
	pthread_t thread = 0;

	stop = 0;
	CHECK(pthread_create(&thread, NULL, spins, NULL) == 0);
	return thread;
}

static void end(pthread_t thread)
{
	stop = 1;
	CHECK(pthread_join(thread, NULL) == 0);
}

static void refusal(void)
{
	pthread_t one = spinner(), other = spinner();

	CHECK_ERRNO(tenon_server_attach(one, 0, 10 * MS), EINVAL);
	CHECK_ERRNO(tenon_server_attach(one, 11 * MS, 10 * MS), EINVAL);
	CHECK_ERRNO(tenon_server_attach(one, MS, 69000l * MS), EINVAL);
	CHECK_ERRNO(tenon_server_detach(one), EINVAL);
	CHECK(tenon_server_attach(one, 5 * MS, 10 * MS) == 0);
	CHECK_ERRNO(tenon_server_attach(one, MS, 100 * MS), EBUSY);
	CHECK_ERRNO(tenon_server_attach_background(one), EBUSY);
	/* Two budgets may be consumed back to back. */
	CHECK_ERRNO(tenon_server_attach(other, 5 * MS, 12 * MS), EAGAIN);
	CHECK(tenon_server_attach(other, 2 * MS, 12 * MS) == 0);
	CHECK(tenon_server_detach(one) == 0 && tenon_server_detach(other) == 0);
	CHECK(tenon_server_attach(other, 5 * MS, 12 * MS) == 0);
	stop = 1;
	CHECK(pthread_join(one, NULL) == 0 && pthread_join(other, NULL) == 0);
	CHECK_ERRNO(tenon_server_attach(one, MS, 10 * MS), ESRCH);
	CHECK_ERRNO(tenon_server_detach(other), ESRCH);
}

/* Time until then during which this spinning thread was preempted, seen as leaps of the clock. */
static long taken_until(long end)
{
	long taken = 0, last = now(), time;

	for (; last < end; last = time) {
		time = now();
		taken += time - last >= MS / 100 ? time - last : 0;
	}
	return taken;
}

static void budget(void)
{
	pthread_t thread = spinner();
	long begin, taken;

	CHECK(!runs_within(2 * MS));
	begin = now();
	/* Returns when the budget is depleted, as the background has a lower priority. */
	CHECK(tenon_server_attach(thread, MS, 10 * MS) == 0);
	taken = now() - begin;
	CHECK(taken >= MS);
	/* An overrun is charged to the next budget, so only their sum is guaranteed. */
	taken += taken_until(begin + 35 * MS);
	CHECK(taken >= 4 * (MS - MS / 100));
	CHECK(tenon_server_detach(thread) == 0);
	CHECK(!runs_within(12 * MS));
	end(thread);
}

static void background(void)
{
	pthread_t thread = spinner();
	struct timespec pause = { .tv_nsec = 2 * MS };
	long before;

	CHECK(tenon_server_attach_background(thread) == 0);
	CHECK(!runs_within(12 * MS));
	before = turns;
	/* A busy host may give the guest no time during one of these. */
	for (int i = 0; turns == before && i < 500; i++)
		CHECK(nanosleep(&pause, NULL) == 0);
	CHECK(turns != before);
	end(thread);
}

/* A server ends with its thread and can be reused. */
static void many(void)
{
	for (int i = 0; i < 40; i++) {
		pthread_t thread = spinner();

		CHECK(tenon_server_attach(thread, MS / 100, 10 * MS) == 0);
		end(thread);
	}
}

static const struct test tests[] = {
	{"refusal", refusal},
	{"budget", budget},
	{"background", background},
	{"many", many},
	{NULL, NULL},
};

const struct suite server_suite = {"server", tests};
