/* Mutexes: types, time-outs, priority protocols, robustness. */

#include <pthread.h>
#include <time.h>

#include "case.h"

_Static_assert(sizeof(pthread_mutex_t) == 128, "as in tenon/posix-sync");
_Static_assert(sizeof(pthread_mutexattr_t) == 12, "as in tenon/posix-sync");

static pthread_mutex_t mutex, first, second;
static struct sched_param parameters;
static volatile int steps;

static pthread_t thread_of(int priority, void *(*start)(void *), void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread = 0;

	CHECK(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED) == 0);
	parameters.sched_priority = priority;
	CHECK(pthread_attr_setschedparam(&attributes, &parameters) == 0);
	CHECK(pthread_create(&thread, &attributes, start, argument) == 0);
	return thread;
}

static void make(pthread_mutex_t *which, int type, int protocol, int robust)
{
	pthread_mutexattr_t attributes;

	CHECK(pthread_mutexattr_init(&attributes) == 0);
	CHECK(pthread_mutexattr_settype(&attributes, type) == 0);
	CHECK(pthread_mutexattr_setprotocol(&attributes, protocol) == 0);
	CHECK(pthread_mutexattr_setrobust(&attributes, robust) == 0);
	CHECK(pthread_mutex_init(which, &attributes) == 0);
	CHECK(pthread_mutexattr_destroy(&attributes) == 0);
}

static void attributes(void)
{
	pthread_mutexattr_t a;
	int value = -1;

	CHECK(pthread_mutexattr_init(&a) == 0);
	CHECK(pthread_mutexattr_gettype(&a, &value) == 0 && value == PTHREAD_MUTEX_DEFAULT);
	CHECK(pthread_mutexattr_getprotocol(&a, &value) == 0 && value == PTHREAD_PRIO_NONE);
	CHECK(pthread_mutexattr_getrobust(&a, &value) == 0 && value == PTHREAD_MUTEX_STALLED);
	CHECK(pthread_mutexattr_getprioceiling(&a, &value) == 0);
	CHECK(value == sched_get_priority_max(SCHED_FIFO));
	CHECK(pthread_mutexattr_getpshared(&a, &value) == 0 && value == PTHREAD_PROCESS_PRIVATE);
	CHECK(pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED) == 0);
	CHECK(pthread_mutexattr_getpshared(&a, &value) == 0 && value == PTHREAD_PROCESS_SHARED);
	CHECK(pthread_mutexattr_setpshared(&a, 2) == EINVAL);
	CHECK(pthread_mutexattr_settype(&a, 9) == EINVAL);
	CHECK(pthread_mutexattr_settype(&a, -1) == EINVAL);
	CHECK(pthread_mutexattr_setprotocol(&a, 3) == EINVAL);
	CHECK(pthread_mutexattr_setrobust(&a, 2) == EINVAL);
	CHECK(pthread_mutexattr_setprioceiling(&a, 63) == EINVAL);
	CHECK(pthread_mutexattr_setprioceiling(&a, 0) == EINVAL);
	CHECK(pthread_mutexattr_destroy(&a) == 0);
	CHECK(pthread_mutexattr_gettype(&a, &value) == EINVAL);
	CHECK(pthread_mutex_init(&mutex, &a) == EINVAL);
}

static void *tries(void *argument)
{
	CHECK(pthread_mutex_trylock(argument) == EBUSY);
	CHECK(pthread_mutex_unlock(argument) == EPERM);
	return NULL;
}

static void types(void)
{
	static pthread_mutex_t fixed = PTHREAD_MUTEX_INITIALIZER;
	struct timespec past = { 0, 1 }, wrong = { 0, 1000000000 };

	CHECK(pthread_mutex_lock(&fixed) == 0);
	CHECK(pthread_mutex_trylock(&fixed) == EBUSY);
	CHECK(pthread_mutex_timedlock(&fixed, &past) == ETIMEDOUT);
	CHECK(pthread_mutex_timedlock(&fixed, &wrong) == EINVAL);
	CHECK(pthread_mutex_destroy(&fixed) == EBUSY);
	CHECK(pthread_mutex_unlock(&fixed) == 0);
	CHECK(pthread_mutex_timedlock(&fixed, &wrong) == 0);
	CHECK(pthread_mutex_unlock(&fixed) == 0);
	CHECK(pthread_mutex_unlock(&fixed) == EPERM);
	CHECK(pthread_mutex_destroy(&fixed) == 0);
	CHECK(pthread_mutex_lock(&fixed) == EINVAL);

	make(&mutex, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	CHECK(pthread_mutex_unlock(&mutex) == EPERM);
	CHECK(pthread_mutex_lock(&mutex) == 0);
	CHECK(pthread_mutex_lock(&mutex) == EDEADLK);
	CHECK(pthread_mutex_trylock(&mutex) == EBUSY);
	CHECK(pthread_mutex_timedlock(&mutex, &past) == EDEADLK);
	CHECK(pthread_mutex_consistent(&mutex) == EINVAL);
	CHECK(pthread_join(thread_of(20, tries, &mutex), NULL) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	CHECK(pthread_mutex_destroy(&mutex) == 0);

	make(&mutex, PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
	CHECK(pthread_mutex_lock(&mutex) == 0);
	CHECK(pthread_mutex_lock(&mutex) == 0);
	CHECK(pthread_mutex_trylock(&mutex) == 0);
	for (int i = 0; i < 3; i++) {
		CHECK(pthread_join(thread_of(20, tries, &mutex), NULL) == 0);
		CHECK(pthread_mutex_unlock(&mutex) == 0);
	}
	CHECK(pthread_mutex_unlock(&mutex) == EPERM);
	CHECK(pthread_mutex_destroy(&mutex) == 0);
}

static void *adds(void *argument)
{
	for (int i = 0; i < 200; i++) {
		CHECK(pthread_mutex_lock(&mutex) == 0);
		int before = steps;
		sched_yield();
		steps = before + 1;
		CHECK(pthread_mutex_unlock(&mutex) == 0);
	}
	return argument;
}

static void exclusion(void)
{
	pthread_t threads[5];

	make(&mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	steps = 0;
	for (int i = 0; i < 5; i++)
		CHECK(pthread_create(&threads[i], NULL, adds, NULL) == 0);
	for (int i = 0; i < 5; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK(steps == 1000);
	CHECK(pthread_mutex_destroy(&mutex) == 0);
}

static void *times_out(void *argument)
{
	struct timespec time = { 0, 0 };

	CHECK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &time) == ETIMEDOUT);
	CHECK(pthread_mutex_clocklock(&mutex, 99, &time) == EINVAL);
	CHECK(pthread_mutex_timedlock(&mutex, NULL) == EINVAL);
	return argument;
}

static void timeouts(void)
{
	make(&mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
	CHECK(pthread_mutex_lock(&mutex) == 0);
	CHECK(pthread_join(thread_of(20, times_out, NULL), NULL) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	CHECK(pthread_mutex_destroy(&mutex) == 0);
}

/* Chained inheritance: the low thread holds the first mutex; the middle one holds the second and waits
 * for the first; the high one waits for the second. The low one must run before others in between. */

static void *low(void *argument)
{
	pthread_t *others = argument;
	extern void *middle(void *), *high(void *), *between(void *);

	CHECK(pthread_mutex_lock(&first) == 0);
	others[0] = thread_of(12, middle, NULL);
	others[1] = thread_of(14, high, NULL);
	others[2] = thread_of(13, between, NULL);
	CHECK(steps == 0);
	CHECK(pthread_mutex_unlock(&first) == 0);
	return NULL;
}

void *middle(void *argument)
{
	CHECK(pthread_mutex_lock(&second) == 0);
	CHECK(pthread_mutex_lock(&first) == 0);
	CHECK(pthread_mutex_unlock(&first) == 0);
	CHECK(pthread_mutex_unlock(&second) == 0);
	return argument;
}

void *high(void *argument)
{
	CHECK(pthread_mutex_lock(&second) == 0);
	CHECK(steps == 0);
	CHECK(pthread_mutex_unlock(&second) == 0);
	return argument;
}

void *between(void *argument)
{
	steps = 1;
	return argument;
}

static void inheritance(void)
{
	pthread_t others[3], thread;

	make(&first, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
	make(&second, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
	steps = 0;
	thread = thread_of(11, low, others);
	CHECK(pthread_join(thread, NULL) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(pthread_join(others[i], NULL) == 0);
	CHECK(steps == 1);
	CHECK(pthread_mutex_destroy(&first) == 0 && pthread_mutex_destroy(&second) == 0);
}

static void *under_the_ceiling(void *argument)
{
	pthread_t thread;

	CHECK(pthread_mutex_lock(&mutex) == 0);
	thread = thread_of(29, between, NULL);
	CHECK(steps == 0);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	CHECK(steps == 1);
	CHECK(pthread_join(thread, NULL) == 0);
	return argument;
}

static void *above_the_ceiling(void *argument)
{
	int before = 0;

	CHECK(pthread_mutex_lock(&mutex) == EINVAL);
	CHECK(pthread_mutex_trylock(&mutex) == EINVAL);
	CHECK(pthread_mutex_setprioceiling(&mutex, 40, &before) == 0 && before == 30);
	CHECK(pthread_mutex_lock(&mutex) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	return argument;
}

static void ceiling(void)
{
	pthread_mutexattr_t a;
	int value = 0;

	CHECK(pthread_mutexattr_init(&a) == 0);
	CHECK(pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_PROTECT) == 0);
	CHECK(pthread_mutexattr_setprioceiling(&a, 30) == 0);
	CHECK(pthread_mutex_init(&mutex, &a) == 0);
	CHECK(pthread_mutex_getprioceiling(&mutex, &value) == 0 && value == 30);
	steps = 0;
	CHECK(pthread_join(thread_of(10, under_the_ceiling, NULL), NULL) == 0);
	CHECK(pthread_join(thread_of(31, above_the_ceiling, NULL), NULL) == 0);
	CHECK(pthread_mutex_getprioceiling(&mutex, &value) == 0 && value == 40);
	CHECK(pthread_mutex_setprioceiling(&mutex, 99, NULL) == EINVAL);
	CHECK(pthread_mutex_destroy(&mutex) == 0);
	make(&mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	CHECK(pthread_mutex_getprioceiling(&mutex, &value) == EINVAL);
	CHECK(pthread_mutex_destroy(&mutex) == 0);
}

static void *dies(void *argument)
{
	CHECK(pthread_mutex_lock(&mutex) == 0);
	return argument;
}

static void robust(void)
{
	for (int type = PTHREAD_MUTEX_NORMAL; type <= PTHREAD_MUTEX_ERRORCHECK; type++) {
		make(&mutex, type, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_ROBUST);
		CHECK(pthread_join(thread_of(20, dies, NULL), NULL) == 0);
		CHECK(pthread_mutex_lock(&mutex) == EOWNERDEAD);
		CHECK(pthread_mutex_consistent(&mutex) == 0);
		CHECK(pthread_mutex_consistent(&mutex) == EINVAL);
		CHECK(pthread_mutex_unlock(&mutex) == 0);
		CHECK(pthread_mutex_lock(&mutex) == 0);
		CHECK(pthread_mutex_unlock(&mutex) == 0);
		CHECK(pthread_join(thread_of(20, dies, NULL), NULL) == 0);
		CHECK(pthread_mutex_trylock(&mutex) == EOWNERDEAD);
		CHECK(pthread_mutex_unlock(&mutex) == 0);
		CHECK(pthread_mutex_lock(&mutex) == ENOTRECOVERABLE);
		CHECK(pthread_mutex_trylock(&mutex) == ENOTRECOVERABLE);
		CHECK(pthread_mutex_destroy(&mutex) == 0);
	}
}

static const struct test tests[] = {
	{ "attributes", attributes },
	{ "types", types },
	{ "exclusion", exclusion },
	{ "timeouts", timeouts },
	{ "inheritance", inheritance },
	{ "ceiling", ceiling },
	{ "robust", robust },
	{ NULL, NULL },
};
const struct suite mutex_suite = { "mutex", tests };
