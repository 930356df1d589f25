/* Read-write locks, barriers, spin locks, once. */

#include <pthread.h>
#include <time.h>

#include "case.h"

_Static_assert(sizeof(pthread_rwlock_t) == 80, "as in tenon/posix-sync");
_Static_assert(sizeof(pthread_barrier_t) == 64, "as in tenon/posix-sync");
_Static_assert(sizeof(pthread_spinlock_t) == 48, "as in tenon/posix-sync");
_Static_assert(sizeof(pthread_rwlockattr_t) == 8, "as in tenon/posix-sync");

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static volatile int readers, writers, most, before, after, serial, calls;

static void *reads(void *argument)
{
	CHECK(pthread_rwlock_rdlock(&lock) == 0);
	CHECK(pthread_rwlock_trywrlock(&lock) == EBUSY);
	readers++;
	CHECK(writers == 0);
	most = readers > most ? readers : most;
	sched_yield();
	readers--;
	CHECK(pthread_rwlock_unlock(&lock) == 0);
	return argument;
}

static void *writes(void *argument)
{
	struct timespec past = { 0, 0 };

	CHECK(pthread_rwlock_wrlock(&lock) == 0);
	writers++;
	CHECK(writers == 1 && readers == 0);
	CHECK(pthread_rwlock_wrlock(&lock) == EDEADLK);
	CHECK(pthread_rwlock_rdlock(&lock) == EDEADLK);
	CHECK(pthread_rwlock_tryrdlock(&lock) == EBUSY);
	CHECK(pthread_rwlock_timedwrlock(&lock, &past) == EDEADLK);
	sched_yield();
	writers--;
	CHECK(pthread_rwlock_unlock(&lock) == 0);
	return argument;
}

static void *fails(void *argument)
{
	struct timespec past = { 0, 0 }, wrong = { 0, -1 };

	CHECK(pthread_rwlock_unlock(&lock) == EPERM);
	CHECK(pthread_rwlock_timedrdlock(&lock, &past) == ETIMEDOUT);
	CHECK(pthread_rwlock_timedwrlock(&lock, &past) == ETIMEDOUT);
	CHECK(pthread_rwlock_timedwrlock(&lock, &wrong) == EINVAL);
	CHECK(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
	CHECK(pthread_rwlock_clockwrlock(&lock, 44, &past) == EINVAL);
	CHECK(pthread_rwlock_destroy(&lock) == EBUSY);
	return argument;
}

static void read_write(void)
{
	pthread_t threads[12];

	most = 0;
	for (int i = 0; i < 12; i++)
		CHECK(pthread_create(&threads[i], NULL, i % 4 == 3 ? writes : reads, NULL) == 0);
	for (int i = 0; i < 12; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK(most >= 3);
	CHECK(pthread_rwlock_unlock(&lock) == EPERM);
	CHECK(pthread_rwlock_wrlock(&lock) == 0);
	CHECK(pthread_create(&threads[0], NULL, fails, NULL) == 0);
	CHECK(pthread_join(threads[0], NULL) == 0);
	CHECK(pthread_rwlock_unlock(&lock) == 0);
	CHECK(pthread_rwlock_destroy(&lock) == 0);
	CHECK(pthread_rwlock_rdlock(&lock) == EINVAL);
	CHECK(pthread_rwlock_init(&lock, NULL) == 0);
	CHECK(pthread_rwlock_rdlock(&lock) == 0 && pthread_rwlock_rdlock(&lock) == 0);
	CHECK(pthread_rwlock_unlock(&lock) == 0 && pthread_rwlock_unlock(&lock) == 0);
	CHECK(pthread_rwlock_unlock(&lock) == EPERM);
}

/* A reader does not overtake a waiting writer of equal priority. */
static void writers_first(void)
{
	pthread_t threads[2];

	CHECK(pthread_rwlock_rdlock(&lock) == 0);
	readers = 0;
	CHECK(pthread_create(&threads[0], NULL, writes, NULL) == 0);
	sched_yield();
	CHECK(pthread_rwlock_tryrdlock(&lock) == EBUSY);
	CHECK(pthread_create(&threads[1], NULL, reads, NULL) == 0);
	sched_yield();
	CHECK(readers == 0 && writers == 0);
	CHECK(pthread_rwlock_unlock(&lock) == 0);
	CHECK(pthread_join(threads[0], NULL) == 0 && pthread_join(threads[1], NULL) == 0);
}

static void *meets(void *argument)
{
	for (int round = 0; round < 10; round++) {
		before++;
		int met = pthread_barrier_wait(&barrier);
		CHECK(met == 0 || met == PTHREAD_BARRIER_SERIAL_THREAD);
		serial += met == PTHREAD_BARRIER_SERIAL_THREAD;
		CHECK(before >= 4 * (round + 1));
	}
	return argument;
}

static void barriers(void)
{
	pthread_t threads[4];

	before = serial = 0;
	CHECK(pthread_barrier_init(&barrier, NULL, 0) == EINVAL);
	CHECK(pthread_barrier_init(&barrier, NULL, 4) == 0);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, meets, NULL) == 0);
	sched_yield();
	for (int i = 0; i < 4; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK(before == 40 && serial == 10);
	CHECK(pthread_barrier_destroy(&barrier) == 0);
	CHECK(pthread_barrier_wait(&barrier) == EINVAL);
}

static void *spins(void *argument)
{
	for (int i = 0; i < 100; i++) {
		CHECK(pthread_spin_lock(&spin) == 0);
		int seen = after;
		sched_yield();
		after = seen + 1;
		CHECK(pthread_spin_unlock(&spin) == 0);
	}
	return argument;
}

static void spin_locks(void)
{
	pthread_t threads[3];

	after = 0;
	CHECK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(pthread_create(&threads[i], NULL, spins, NULL) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK(after == 300);
	CHECK(pthread_spin_trylock(&spin) == 0);
	CHECK(pthread_spin_trylock(&spin) == EBUSY);
	CHECK(pthread_spin_lock(&spin) == EDEADLK);
	CHECK(pthread_spin_destroy(&spin) == EBUSY);
	CHECK(pthread_spin_unlock(&spin) == 0);
	CHECK(pthread_spin_unlock(&spin) == EPERM);
	CHECK(pthread_spin_destroy(&spin) == 0);
	CHECK(pthread_spin_lock(&spin) == EINVAL);
}

static pthread_once_t once = PTHREAD_ONCE_INIT, twice = PTHREAD_ONCE_INIT;

static void routine(void)
{
	sched_yield();
	calls++;
}

static void cancelled_routine(void)
{
	calls++;
	if (calls == 1)
		CHECK(pthread_cancel(pthread_self()) == 0);
	pthread_testcancel();
}

static void *initialises(void *argument)
{
	CHECK(pthread_once(argument, argument == &once ? routine : cancelled_routine) == 0);
	CHECK(calls >= 1);
	return argument;
}

static void attributes(void)
{
	pthread_rwlockattr_t a;
	pthread_barrierattr_t b;
	pthread_rwlock_t own;
	int value = -1;

	CHECK(pthread_rwlockattr_init(&a) == 0);
	CHECK(pthread_rwlockattr_getpshared(&a, &value) == 0 && value == PTHREAD_PROCESS_PRIVATE);
	CHECK(pthread_rwlockattr_setpshared(&a, PTHREAD_PROCESS_SHARED) == 0);
	CHECK(pthread_rwlockattr_getpshared(&a, &value) == 0 && value == PTHREAD_PROCESS_SHARED);
	CHECK(pthread_rwlock_init(&own, &a) == 0 && pthread_rwlock_destroy(&own) == 0);
	CHECK(pthread_rwlockattr_destroy(&a) == 0);
	CHECK(pthread_rwlock_init(&own, &a) == EINVAL);
	CHECK(pthread_barrierattr_init(&b) == 0);
	CHECK(pthread_barrierattr_setpshared(&b, 5) == EINVAL);
	CHECK(pthread_barrierattr_getpshared(&b, &value) == 0 && value == PTHREAD_PROCESS_PRIVATE);
	CHECK(pthread_barrierattr_destroy(&b) == 0);
	CHECK(pthread_barrier_init(&barrier, &b, 2) == EINVAL);
}

static void one_time(void)
{
	pthread_t threads[3];

	calls = 0;
	for (int i = 0; i < 3; i++)
		CHECK(pthread_create(&threads[i], NULL, initialises, &once) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK(calls == 1);
	calls = 0;
	for (int i = 0; i < 3; i++)
		CHECK(pthread_create(&threads[i], NULL, initialises, &twice) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK(calls == 2);
}

static const struct test tests[] = {
	{ "read-write", read_write },
	{ "writers first", writers_first },
	{ "barriers", barriers },
	{ "spin locks", spin_locks },
	{ "attributes", attributes },
	{ "once", one_time },
	{ NULL, NULL },
};
const struct suite sync_suite = { "sync", tests };
