/* Cancellation, cleanup handlers, thread-specific data. */

#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "case.h"

static char trace[16];
static volatile int reached;
static pthread_t other;

static void note(void *argument)
{
	strncat(trace, argument, 1);
}

static void *waits(void *argument)
{
	pthread_cleanup_push(note, "a");
	pthread_cleanup_push(note, "b");
	reached = 1;
	pthread_join(other, NULL);
	reached = 2;
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return argument;
}

static void in_a_wait(void)
{
	pthread_t thread;
	void *result;

	trace[0] = 0;
	reached = 0;
	other = pthread_self();
	CHECK(pthread_create(&thread, NULL, waits, NULL) == 0);
	sched_yield();
	CHECK(reached == 1);
	CHECK(pthread_cancel(thread) == 0);
	CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
	CHECK(reached == 1);
	CHECK(strcmp(trace, "ba") == 0);
	CHECK(pthread_cancel(thread) == ESRCH);
}

static void before_a_wait(void)
{
	pthread_t thread;
	void *result;

	trace[0] = 0;
	reached = 0;
	CHECK(pthread_create(&thread, NULL, waits, NULL) == 0);
	CHECK(pthread_cancel(thread) == 0);
	CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
	CHECK(reached == 1 && strcmp(trace, "ba") == 0);
}

static void *cancels_itself(void *argument)
{
	int before = 7;

	CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before) == 0);
	CHECK(before == PTHREAD_CANCEL_ENABLE);
	CHECK(pthread_setcancelstate(9, &before) == EINVAL);
	CHECK(pthread_setcanceltype(9, &before) == EINVAL);
	CHECK(pthread_cancel(pthread_self()) == 0);
	pthread_testcancel();
	CHECK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before) == 0);
	CHECK(before == PTHREAD_CANCEL_DISABLE);
	reached = 5;
	pthread_testcancel();
	reached = 6;
	return argument;
}

static void disabled(void)
{
	pthread_t thread;
	void *result;

	CHECK(pthread_create(&thread, NULL, cancels_itself, NULL) == 0);
	CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
	CHECK(reached == 5);
}

static void *spins(void *argument)
{
	int before;
	volatile double x = 1.0;

	CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before) == 0);
	CHECK(before == PTHREAD_CANCEL_DEFERRED);
	pthread_cleanup_push(note, "s");
	for (reached = 0;; reached++) {
		x = x * 1.5;
		if (reached == 1000)
			CHECK(pthread_setschedprio(other, 20) == 0);
	}
	pthread_cleanup_pop(0);
	return argument;
}

static void anywhere(void)
{
	struct sched_param parameters;
	pthread_t thread;
	void *result;
	int policy;

	trace[0] = 0;
	other = pthread_self();
	CHECK(pthread_getschedparam(other, &policy, &parameters) == 0);
	CHECK(policy == SCHED_FIFO && parameters.sched_priority == 16);
	CHECK(pthread_create(&thread, NULL, spins, NULL) == 0);
	CHECK(pthread_setschedprio(other, 5) == 0);
	CHECK(reached == 1000);
	CHECK(pthread_cancel(thread) == 0);
	CHECK(pthread_setschedparam(other, SCHED_RR, &parameters) == 0);
	CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
	CHECK(strcmp(trace, "s") == 0 && reached == 1000);
	CHECK(pthread_getschedparam(other, &policy, &parameters) == 0);
	CHECK(policy == SCHED_RR && parameters.sched_priority == 16);
	CHECK(pthread_setschedparam(other, SCHED_FIFO, &parameters) == 0);
	CHECK(pthread_setschedprio(other, 63) == EINVAL);
	CHECK(pthread_setschedprio(thread, 4) == ESRCH);
	CHECK(pthread_getschedparam(thread, &policy, &parameters) == ESRCH);
}

static pthread_key_t key, again;
static int destroyed;

static void destroy(void *value)
{
	destroyed += *(int *)value;
}

static void revive(void *value)
{
	reached++;
	CHECK(pthread_setspecific(again, value) == 0);
}

static void *has_values(void *argument)
{
	CHECK(pthread_getspecific(key) == NULL);
	CHECK(pthread_setspecific(key, argument) == 0);
	CHECK(pthread_getspecific(key) == argument);
	CHECK(pthread_setspecific(again, argument) == 0);
	return NULL;
}

static void keys(void)
{
	pthread_key_t many[PTHREAD_KEYS_MAX];
	pthread_t thread;
	int five = 5, made = 0;

	reached = destroyed = 0;
	CHECK(pthread_key_create(&key, destroy) == 0);
	CHECK(pthread_key_create(&again, revive) == 0);
	CHECK(pthread_setspecific(key, &made) == 0);
	CHECK(pthread_create(&thread, NULL, has_values, &five) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(destroyed == 5);
	CHECK(reached == PTHREAD_DESTRUCTOR_ITERATIONS);
	CHECK(pthread_getspecific(key) == &made);
	CHECK(pthread_key_delete(key) == 0);
	CHECK(pthread_key_delete(key) == EINVAL);
	CHECK(pthread_getspecific(key) == NULL);
	CHECK(pthread_setspecific(key, &made) == EINVAL);
	CHECK(pthread_key_create(&key, NULL) == 0);
	CHECK(pthread_getspecific(key) == NULL);
	while (made < PTHREAD_KEYS_MAX && pthread_key_create(&many[made], NULL) == 0)
		made++;
	CHECK(made == PTHREAD_KEYS_MAX - 2);
	CHECK(pthread_key_create(&many[made], NULL) == EAGAIN);
	while (made--)
		CHECK(pthread_key_delete(many[made]) == 0);
	CHECK(pthread_key_delete(key) == 0 && pthread_key_delete(again) == 0);
}

static const struct test tests[] = {
	{ "in a wait", in_a_wait },
	{ "before a wait", before_a_wait },
	{ "disabled", disabled },
	{ "anywhere", anywhere },
	{ "keys", keys },
	{ NULL, NULL },
};
const struct suite cancel_suite = { "cancel", tests };
