/* Condition variables. */

#include <pthread.h>
#include <time.h>

#include "case.h"

_Static_assert(sizeof(pthread_cond_t) == 56, "as in tenon/posix-sync");
_Static_assert(sizeof(pthread_condattr_t) == 12, "as in tenon/posix-sync");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int tickets, waiting, woken, locked_at_cleanup;

static void *takes(void *argument)
{
	CHECK(pthread_mutex_lock(&mutex) == 0);
	waiting++;
	while (tickets == 0)
		CHECK(pthread_cond_wait(&condition, &mutex) == 0);
	tickets--;
	woken++;
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	return argument;
}

static void start(pthread_t *threads, int count, void *(*function)(void *))
{
	waiting = woken = tickets = 0;
	for (int i = 0; i < count; i++)
		CHECK(pthread_create(&threads[i], NULL, function, NULL) == 0);
	while (waiting < count)
		sched_yield();
}

static void give(int count, int (*notify)(pthread_cond_t *))
{
	CHECK(pthread_mutex_lock(&mutex) == 0);
	tickets += count;
	CHECK(notify(&condition) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	for (int i = 0; i < 20; i++)
		sched_yield();
}

static void notifying(void)
{
	pthread_t threads[4];

	CHECK(pthread_cond_signal(&condition) == 0);
	start(threads, 4, takes);
	CHECK(woken == 0);
	CHECK(pthread_cond_destroy(&condition) == EBUSY);
	give(1, pthread_cond_signal);
	CHECK(woken == 1);
	give(3, pthread_cond_broadcast);
	CHECK(woken == 4);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

static void timeouts(void)
{
	pthread_condattr_t attributes;
	pthread_cond_t monotonic;
	struct timespec past = { 0, 1000 }, wrong = { 0, -1 };
	clockid_t clock = (clockid_t)-1;

	CHECK(pthread_mutex_lock(&mutex) == 0);
	CHECK(pthread_cond_timedwait(&condition, &mutex, &past) == ETIMEDOUT);
	CHECK(pthread_cond_timedwait(&condition, &mutex, &wrong) == EINVAL);
	CHECK(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
	CHECK(pthread_cond_clockwait(&condition, &mutex, 77, &past) == EINVAL);
	CHECK(pthread_mutex_trylock(&mutex) == EBUSY);
	CHECK(pthread_condattr_init(&attributes) == 0);
	CHECK(pthread_condattr_getclock(&attributes, &clock) == 0 && clock == CLOCK_REALTIME);
	CHECK(pthread_condattr_setclock(&attributes, 77) == EINVAL);
	CHECK(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
	CHECK(pthread_condattr_getclock(&attributes, &clock) == 0 && clock == CLOCK_MONOTONIC);
	CHECK(pthread_cond_init(&monotonic, &attributes) == 0);
	CHECK(pthread_condattr_destroy(&attributes) == 0);
	CHECK(pthread_cond_timedwait(&monotonic, &mutex, &past) == ETIMEDOUT);
	CHECK(pthread_cond_destroy(&monotonic) == 0);
	CHECK(pthread_cond_signal(&monotonic) == EINVAL);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	CHECK(pthread_cond_wait(&condition, &mutex) == EPERM);
}

static void cleanup(void *argument)
{
	locked_at_cleanup = pthread_mutex_trylock(argument) == EBUSY;
	CHECK(pthread_mutex_unlock(argument) == 0);
}

static void *waits_for_good(void *argument)
{
	CHECK(pthread_mutex_lock(&mutex) == 0);
	waiting++;
	pthread_cleanup_push(cleanup, &mutex);
	for (;;)
		CHECK(pthread_cond_wait(&condition, &mutex) == 0);
	pthread_cleanup_pop(0);
	return argument;
}

static void cancelling(void)
{
	pthread_t thread;
	void *result;

	start(&thread, 1, waits_for_good);
	CHECK(pthread_cancel(thread) == 0);
	CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
	CHECK(locked_at_cleanup);
	CHECK(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
	CHECK(pthread_cond_destroy(&condition) == 0);
}

static const struct test tests[] = {
	{ "notifying", notifying },
	{ "timeouts", timeouts },
	{ "cancelling", cancelling },
	{ NULL, NULL },
};
const struct suite cond_suite = { "cond", tests };
