/* Attributes of threads. */

#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "case.h"

_Static_assert(sizeof(pthread_t) == 8, "as in tenon/pthread");
_Static_assert(sizeof(pthread_attr_t) == 40, "as in tenon/pthread");

static void values(void)
{
	pthread_attr_t attributes;
	struct sched_param parameters = { 0 };
	int value;
	size_t size;

	CHECK(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_attr_getdetachstate(&attributes, &value) == 0);
	CHECK(value == PTHREAD_CREATE_JOINABLE);
	CHECK(pthread_attr_setdetachstate(&attributes, 7) == EINVAL);
	CHECK(pthread_attr_getscope(&attributes, &value) == 0 && value == PTHREAD_SCOPE_SYSTEM);
	CHECK(pthread_attr_setscope(&attributes, PTHREAD_SCOPE_PROCESS) == ENOTSUP);
	CHECK(pthread_attr_setscope(&attributes, 9) == EINVAL);
	CHECK(pthread_attr_getinheritsched(&attributes, &value) == 0);
	CHECK(value == PTHREAD_INHERIT_SCHED);
	CHECK(pthread_attr_setschedpolicy(&attributes, 9) == EINVAL);
	CHECK(pthread_attr_setschedpolicy(&attributes, SCHED_RR) == 0);
	CHECK(pthread_attr_getschedpolicy(&attributes, &value) == 0 && value == SCHED_RR);
	parameters.sched_priority = 63;
	CHECK(pthread_attr_setschedparam(&attributes, &parameters) == EINVAL);
	parameters.sched_priority = 62;
	CHECK(pthread_attr_setschedparam(&attributes, &parameters) == 0);
	CHECK(pthread_attr_getguardsize(&attributes, &size) == 0 && size == PAGESIZE);
	CHECK(pthread_attr_setguardsize(&attributes, 0) == 0);
	CHECK(pthread_attr_getguardsize(&attributes, &size) == 0 && size == 0);
	CHECK(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN - 1) == EINVAL);
	CHECK(pthread_attr_setstacksize(&attributes, 10000) == 0);
	CHECK(pthread_attr_getstacksize(&attributes, &size) == 0 && size == 10000);
	CHECK(pthread_attr_destroy(&attributes) == 0);
	CHECK(pthread_attr_getstacksize(&attributes, &size) == EINVAL);
}

static void policies(void)
{
	pthread_attr_t attributes;
	struct sched_param parameters = { -1 };
	pthread_t thread;
	int value = -1;

	CHECK(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_attr_getschedpolicy(&attributes, &value) == 0 && value == SCHED_OTHER);
	CHECK(pthread_attr_getschedparam(&attributes, &parameters) == 0);
	CHECK(parameters.sched_priority == 0);
	CHECK(sched_get_priority_min(SCHED_OTHER) == 0 && sched_get_priority_min(SCHED_FIFO) == 1);
	CHECK(sched_get_priority_max(SCHED_RR) - sched_get_priority_min(SCHED_RR) >= 31);
	CHECK_ERRNO(sched_get_priority_max(9), EINVAL);
	CHECK(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED) == 0);
	CHECK(pthread_attr_setschedpolicy(&attributes, SCHED_FIFO) == 0);
	CHECK(pthread_create(&thread, &attributes, NULL, NULL) == EINVAL);
	CHECK(sched_getscheduler(0) == SCHED_FIFO);
	CHECK(sched_getparam(0, &parameters) == 0 && parameters.sched_priority == 16);
	parameters.sched_priority = 0;
	CHECK_ERRNO(sched_setparam(0, &parameters), EINVAL);
	CHECK(sched_setscheduler(1, SCHED_OTHER, &parameters) == SCHED_FIFO);
	parameters.sched_priority = 16;
	CHECK(sched_setscheduler(0, SCHED_FIFO, &parameters) == SCHED_OTHER);
	CHECK_ERRNO(sched_setscheduler(7, SCHED_FIFO, &parameters), ESRCH);
	CHECK_ERRNO(sched_getscheduler(7), ESRCH);
}

static char stack[16384] __attribute__((aligned(16)));

static void *where(void *argument)
{
	char here;
	return (void *)(size_t)(&here > stack && &here < stack + sizeof stack);
}

static void *deep(void *argument)
{
	volatile char room[3000];
	room[0] = room[2999] = 1;
	return (void *)(size_t)(room[0] + room[2999]);
}

static void stacks(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	void *result;

	CHECK(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_attr_setstack(&attributes, stack + 1, 8192) == 0);
	CHECK(pthread_create(&thread, &attributes, where, NULL) == 0);
	CHECK(pthread_join(thread, &result) == 0 && result == (void *)1);
	CHECK(pthread_attr_setstack(&attributes, stack, 100) == EINVAL);
	CHECK(pthread_attr_setstack(&attributes, stack, sizeof stack) == 0);
	CHECK(pthread_create(&thread, &attributes, where, NULL) == 0);
	CHECK(pthread_join(thread, &result) == 0 && result == (void *)1);
	CHECK(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_create(&thread, &attributes, where, NULL) == 0);
	CHECK(pthread_join(thread, &result) == 0 && result == NULL);
	CHECK(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN) == 0);
	CHECK(pthread_create(&thread, &attributes, deep, NULL) == 0);
	CHECK(pthread_join(thread, &result) == 0 && result == (void *)2);
	CHECK(pthread_attr_setstacksize(&attributes, 1UL << 40) == 0);
	CHECK(pthread_create(&thread, &attributes, deep, NULL) == EAGAIN);
	/* So large that adding the guard size, or rounding up, would overflow. */
	CHECK(pthread_attr_setstacksize(&attributes, SIZE_MAX & ~0xfffUL) == 0);
	CHECK(pthread_create(&thread, &attributes, deep, NULL) == EAGAIN);
	CHECK(pthread_attr_setstacksize(&attributes, SIZE_MAX) == 0);
	CHECK(pthread_create(&thread, &attributes, deep, NULL) == EAGAIN);
	CHECK(pthread_attr_setstack(&attributes, stack, SIZE_MAX) == 0);
	CHECK(pthread_create(&thread, &attributes, deep, NULL) == EINVAL);
}

static const struct test tests[] = {
	{ "values", values },
	{ "policies", policies },
	{ "stacks", stacks },
	{ NULL, NULL },
};
const struct suite attributes_suite = { "attributes", tests };
