/* Threads: create, join, detach, exit. */

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "case.h"

static _Thread_local int own = 1;
static int order[8], steps;

static void *twice(void *argument)
{
	CHECK(own == 1);
	own = 2;
	errno = 77;
	return (char *)argument + (size_t)argument;
}

static void results(void)
{
	pthread_t thread;
	void *result;

	own = 5;
	errno = 3;
	CHECK(pthread_create(&thread, NULL, twice, (void *)21) == 0);
	CHECK(pthread_join(thread, &result) == 0);
	CHECK(result == (void *)42);
	CHECK(own == 5 && errno == 3);
	CHECK(pthread_join(thread, NULL) == ESRCH);
	CHECK(pthread_detach(thread) == ESRCH);
	own = 1;
}

static void *leaves(void *argument)
{
	pthread_exit(argument);
}

static void many(void)
{
	pthread_t threads[20];
	void *result;

	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < 20; i++)
			CHECK(pthread_create(&threads[i], NULL, leaves, (void *)i) == 0);
		for (size_t i = 0; i < 20; i++)
			CHECK(pthread_join(threads[i], &result) == 0 && result == (void *)i);
	}
}

static void *looks_at_itself(void *argument)
{
	pthread_t *self = argument;
	CHECK(pthread_equal(*self, pthread_self()));
	CHECK(pthread_join(pthread_self(), NULL) == EDEADLK);
	return NULL;
}

static void itself(void)
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, looks_at_itself, &thread) == 0);
	CHECK(!pthread_equal(thread, pthread_self()));
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(pthread_join(pthread_self(), NULL) == EDEADLK);
	CHECK(pthread_join(0, NULL) == ESRCH);
}

static void *counts(void *argument)
{
	++*(volatile int *)argument;
	return NULL;
}

static void detached(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	static volatile int count;

	CHECK(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
	for (int i = 0; i < 500; i++) {
		CHECK(pthread_create(&thread, &attributes, counts, (void *)&count) == 0);
		int joined = pthread_join(thread, NULL);
		CHECK(joined == EINVAL || joined == ESRCH);
		sched_yield();
	}
	CHECK(count == 500);
	CHECK(pthread_create(&thread, NULL, counts, (void *)&count) == 0);
	CHECK(pthread_detach(thread) == 0);
	sched_yield();
	CHECK(count == 501);
	CHECK(pthread_attr_destroy(&attributes) == 0);
}

static void *notes(void *argument)
{
	order[steps++] = (int)(size_t)argument;
	return NULL;
}

static void priorities(void)
{
	pthread_attr_t attributes;
	pthread_t threads[3];
	struct sched_param parameters;

	CHECK(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED) == 0);
	CHECK(pthread_attr_setschedpolicy(&attributes, SCHED_FIFO) == 0);
	steps = 0;
	for (int i = 0; i < 3; i++) {
		parameters.sched_priority = 5 + i;
		CHECK(pthread_attr_setschedparam(&attributes, &parameters) == 0);
		CHECK(pthread_create(&threads[i], &attributes, notes, (void *)(size_t)i) == 0);
	}
	CHECK(steps == 0);
	for (int i = 0; i < 3; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK(order[0] == 2 && order[1] == 1 && order[2] == 0);
	parameters.sched_priority = sched_get_priority_max(SCHED_FIFO);
	CHECK(pthread_attr_setschedparam(&attributes, &parameters) == 0);
	CHECK(pthread_create(&threads[0], &attributes, notes, (void *)7) == 0);
	CHECK(steps == 4 && order[3] == 7);
	CHECK(pthread_join(threads[0], NULL) == 0);
}

static void too_many(void)
{
	static pthread_t threads[100];
	int made = 0, error;

	while ((error = pthread_create(&threads[made], NULL, leaves, NULL)) == 0)
		made++;
	CHECK(error == EAGAIN);
	CHECK(made >= 50);
	while (made--)
		CHECK(pthread_join(threads[made], NULL) == 0);
}

static void *has_slept(void *argument)
{
	pthread_testcancel();
	return argument;
}

/* Operations on a thread that has not started are not lost. */
static void unborn(void)
{
	struct sched_param parameters;
	pthread_t thread;
	void *result;
	int policy;

	CHECK(pthread_create(&thread, NULL, has_slept, NULL) == 0);
	CHECK(pthread_getschedparam(thread, &policy, &parameters) == 0);
	CHECK(policy == SCHED_FIFO && parameters.sched_priority == 16);
	CHECK(pthread_setschedprio(thread, 15) == 0);
	CHECK(pthread_cancel(thread) == 0);
	CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
}

static void *names_itself(void *argument)
{
	CHECK(pthread_setname_np(pthread_self(), "of its own") == 0);
	return argument;
}

/* As in glibc: 16 bytes with the NUL. A later thread does not have the name of a former one. */
static void names(void)
{
	char name[17] = "0123456789abcdef";
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, leaves, NULL) == 0);
	CHECK(pthread_getname_np(thread, name, 16) == 0 && name[0] == '\0' && name[16] == '\0');
	CHECK(pthread_setname_np(thread, "fifteen bytes!!") == 0);
	CHECK(pthread_setname_np(thread, "sixteen bytes!!!") == ERANGE);
	CHECK(pthread_getname_np(thread, name, 15) == ERANGE);
	CHECK(pthread_getname_np(thread, name, sizeof name) == 0);
	CHECK(strcmp(name, "fifteen bytes!!") == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(pthread_setname_np(thread, "late") == ESRCH);
	CHECK(pthread_getname_np(thread, name, sizeof name) == ESRCH);
	CHECK(pthread_create(&thread, NULL, names_itself, NULL) == 0);
	CHECK(pthread_getname_np(thread, name, sizeof name) == 0 && name[0] == '\0');
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(pthread_setname_np(pthread_self(), "first") == 0);
	CHECK(pthread_getname_np(pthread_self(), name, sizeof name) == 0);
	CHECK(strcmp(name, "first") == 0);
}

static const struct test tests[] = {
	{ "results", results },
	{ "many", many },
	{ "itself", itself },
	{ "detached", detached },
	{ "priorities", priorities },
	{ "too many", too_many },
	{ "unborn", unborn },
	{ "names", names },
	{ NULL, NULL },
};
const struct suite thread_suite = { "thread", tests };
