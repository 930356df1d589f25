/* Named and unnamed semaphores. */

#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "case.h"

_Static_assert(sizeof(sem_t) == 48, "as in tenon/posix-sync");
_Static_assert(O_CREAT == 0x40 && O_EXCL == 0x800, "as in tenon/posix-sync");

static sem_t semaphore;
static volatile int passed;

static int value_of(sem_t *which)
{
	int value = -7;

	CHECK(sem_getvalue(which, &value) == 0);
	return value;
}

static void counting(void)
{
	struct timespec past = { 0, 1 }, wrong = { 0, 1000000000 };

	CHECK_ERRNO(sem_init(&semaphore, 0, (unsigned)SEM_VALUE_MAX + 1), EINVAL);
	CHECK(sem_init(&semaphore, 0, 2) == 0);
	CHECK(sem_wait(&semaphore) == 0);
	CHECK(sem_trywait(&semaphore) == 0);
	CHECK_ERRNO(sem_trywait(&semaphore), EAGAIN);
	CHECK_ERRNO(sem_timedwait(&semaphore, &past), ETIMEDOUT);
	CHECK_ERRNO(sem_timedwait(&semaphore, &wrong), EINVAL);
	CHECK_ERRNO(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &past), ETIMEDOUT);
	CHECK_ERRNO(sem_clockwait(&semaphore, 55, &past), EINVAL);
	CHECK(value_of(&semaphore) == 0);
	CHECK(sem_post(&semaphore) == 0 && value_of(&semaphore) == 1);
	CHECK(sem_timedwait(&semaphore, &wrong) == 0);
	CHECK(sem_destroy(&semaphore) == 0);
	CHECK_ERRNO(sem_post(&semaphore), EINVAL);
	CHECK_ERRNO(sem_wait(&semaphore), EINVAL);
	CHECK(sem_init(&semaphore, 0, SEM_VALUE_MAX) == 0);
	CHECK_ERRNO(sem_post(&semaphore), EOVERFLOW);
	CHECK(sem_destroy(&semaphore) == 0);
}

static void *passes(void *argument)
{
	CHECK(sem_wait(&semaphore) == 0);
	passed++;
	return argument;
}

static void waiting(void)
{
	pthread_t threads[3];
	void *result;

	passed = 0;
	CHECK(sem_init(&semaphore, 0, 0) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(pthread_create(&threads[i], NULL, passes, NULL) == 0);
	sched_yield();
	CHECK(passed == 0 && value_of(&semaphore) == 0);
	CHECK_ERRNO(sem_destroy(&semaphore), EBUSY);
	CHECK(sem_post(&semaphore) == 0);
	CHECK(value_of(&semaphore) == 0);
	sched_yield();
	CHECK(passed == 1);
	CHECK(sem_post(&semaphore) == 0);
	CHECK(pthread_join(threads[0], NULL) == 0 && pthread_join(threads[1], NULL) == 0);
	CHECK(passed == 2);
	CHECK(pthread_cancel(threads[2]) == 0);
	CHECK(pthread_join(threads[2], &result) == 0 && result == PTHREAD_CANCELED);
	CHECK(passed == 2);
	CHECK(sem_destroy(&semaphore) == 0);
}

static void named(void)
{
	sem_t *one, *same, *many[100];
	int count = 0;
	char name[] = "/aa";

	errno = 0;
	CHECK(sem_open("/none", 0) == SEM_FAILED && errno == ENOENT);
	CHECK(sem_open("/", O_CREAT, 0600, 1) == SEM_FAILED && errno == EINVAL);
	CHECK(sem_open("/big", O_CREAT, 0600, (unsigned)SEM_VALUE_MAX + 1) == SEM_FAILED);
	CHECK(errno == EINVAL);
	CHECK(sem_open("/a-name-of-more-than-thirty-one-bytes", O_CREAT, 0600, 1) == SEM_FAILED);
	CHECK(errno == ENAMETOOLONG);
	one = sem_open("/one", O_CREAT | O_EXCL, 0600, 3);
	CHECK(one != SEM_FAILED && value_of(one) == 3);
	CHECK(sem_open("/one", O_CREAT | O_EXCL, 0600, 3) == SEM_FAILED && errno == EEXIST);
	same = sem_open("/one", O_CREAT, 0600, 9);
	CHECK(same == one && value_of(one) == 3);
	CHECK_ERRNO(sem_destroy(one), EINVAL);
	CHECK(sem_close(one) == 0);
	CHECK(sem_unlink("/one") == 0);
	CHECK_ERRNO(sem_unlink("/one"), ENOENT);
	CHECK(sem_open("/one", 0) == SEM_FAILED && errno == ENOENT);
	CHECK(sem_wait(same) == 0 && value_of(same) == 2);
	CHECK(sem_close(same) == 0);
	CHECK_ERRNO(sem_close(same), EINVAL);
	CHECK_ERRNO(sem_post(same), EINVAL);
	CHECK_ERRNO(sem_close(&semaphore), EINVAL);
	for (; count < 100; count++) {
		name[2] = (char)('0' + count);
		many[count] = sem_open(name, O_CREAT, 0600, 0);
		if (many[count] == SEM_FAILED)
			break;
	}
	CHECK(count == 16 && errno == ENOSPC);
	while (count--) {
		name[2] = (char)('0' + count);
		CHECK(sem_unlink(name) == 0 && sem_close(many[count]) == 0);
	}
}

static const struct test tests[] = {
	{ "counting", counting },
	{ "waiting", waiting },
	{ "named", named },
	{ NULL, NULL },
};
const struct suite semaphore_suite = { "semaphore", tests };
