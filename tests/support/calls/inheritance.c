/* Locks with priority inheritance, by the futexes themselves. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { WAKE = 1, LOCK = 6, UNLOCK = 7, TRY = 8, WAIT_REQUEUE = 11, REQUEUE = 12, LOCK2 = 13 };
enum { PRIVATE = 128, OWNER = 0x3fffffff };

static uint32_t lock_word, second_word, wait_word;
static volatile int step;
static volatile int order[4], ordered;

static long futex(uint32_t *word, int operation, long value, const void *more, uint32_t *other, long third)
{
	return syscall(SYS_futex, word, operation | PRIVATE, value, more, other, third);
}

static void rest(long milliseconds)
{
	struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static void show_word(const char *what, uint32_t word)
{
	uint32_t owner = word & OWNER;

	printf("%s: owner %s, flags %x\n", what,
	       owner == 0 ? "none" : owner == (uint32_t)gettid() ? "self" : "other", word >> 30);
	fflush(stdout);
}

static void alone(void)
{
	struct timespec past = { 0, 0 }, wrong = { 0, 2000000000 };

	show("lock", futex(&lock_word, LOCK, 0, NULL, NULL, 0));
	show_word("locked", lock_word);
	show("lock again", futex(&lock_word, LOCK, 0, NULL, NULL, 0));
	show("try again", futex(&lock_word, TRY, 0, NULL, NULL, 0));
	show("unlock", futex(&lock_word, UNLOCK, 0, NULL, NULL, 0));
	show_word("unlocked", lock_word);
	show("unlock again", futex(&lock_word, UNLOCK, 0, NULL, NULL, 0));
	show("try", futex(&lock_word, TRY, 0, NULL, NULL, 0));
	show("unlock", futex(&lock_word, UNLOCK, 0, NULL, NULL, 0));
	show("by the other clock", futex(&lock_word, LOCK2, 0, NULL, NULL, 0));
	show("unlock", futex(&lock_word, UNLOCK, 0, NULL, NULL, 0));
	show("a time that is none", futex(&lock_word, LOCK, 0, &wrong, NULL, 0));
	lock_word = 4000000;
	show("an owner that is none", futex(&lock_word, LOCK, 0, NULL, NULL, 0));
	lock_word = getppid();
	show("another process's, late", futex(&lock_word, LOCK, 0, &past, NULL, 0));
	show("another process's, try", futex(&lock_word, TRY, 0, NULL, NULL, 0));
	show("unlock another's", futex(&lock_word, UNLOCK, 0, NULL, NULL, 0));
	lock_word = 0;
	show("no word", futex((uint32_t *)8, LOCK, 0, NULL, NULL, 0));
	show("an odd word", futex((uint32_t *)((char *)&lock_word + 1), LOCK, 0, NULL, NULL, 0));
	show("the same word", futex(&lock_word, WAIT_REQUEUE, 0, NULL, &lock_word, 0));
	show("requeue two", futex(&wait_word, REQUEUE, 2, (void *)1, &lock_word, 0));
	show("requeue another value", futex(&wait_word, REQUEUE, 1, (void *)1, &lock_word, 5));
	show("requeue none", futex(&wait_word, REQUEUE, 1, (void *)1, &lock_word, 0));
	show("wait for another value", futex(&wait_word, WAIT_REQUEUE, 5, NULL, &lock_word, 0));
	show("wait late", futex(&wait_word, WAIT_REQUEUE, 0, &past, &lock_word, 0));
}

static void *waiter(void *argument)
{
	long number = (long)argument;
	struct sched_param priority = { 10 + number };

	sched_setscheduler(0, SCHED_FIFO, &priority);
	if (futex(&lock_word, LOCK, 0, NULL, NULL, 0) == 0) {
		order[ordered++] = number;
		futex(&lock_word, UNLOCK, 0, NULL, NULL, 0);
	}
	return NULL;
}

/* Waiters get the lock in the order of their priorities. */
static void in_order(void)
{
	static const long numbers[] = { 2, 1, 3 };
	struct sched_param priority = { 5 };
	pthread_t threads[3];

	sched_setscheduler(0, SCHED_FIFO, &priority);
	futex(&lock_word, LOCK, 0, NULL, NULL, 0);
	for (int index = 0; index < 3; index++) {
		pthread_create(&threads[index], NULL, waiter, (void *)numbers[index]);
		rest(2);
	}
	show_word("with waiters", lock_word);
	show("wake", futex(&lock_word, WAKE, 1, NULL, NULL, 0));
	show("unlock", futex(&lock_word, UNLOCK, 0, NULL, NULL, 0));
	for (int index = 0; index < 3; index++)
		pthread_join(threads[index], NULL);
	printf("order: %d %d %d\n", order[0], order[1], order[2]);
	show_word("at last", lock_word);
}

static void *crosser(void *argument)
{
	(void)argument;
	futex(&second_word, LOCK, 0, NULL, NULL, 0);
	show("first of the other", futex(&lock_word, LOCK, 0, NULL, NULL, 0));
	futex(&lock_word, UNLOCK, 0, NULL, NULL, 0);
	futex(&second_word, UNLOCK, 0, NULL, NULL, 0);
	return NULL;
}

static void circle(void)
{
	pthread_t thread;

	futex(&lock_word, LOCK, 0, NULL, NULL, 0);
	pthread_create(&thread, NULL, crosser, NULL);
	rest(5);
	show("a circle", futex(&second_word, LOCK, 0, NULL, NULL, 0));
	show("unlock", futex(&lock_word, UNLOCK, 0, NULL, NULL, 0));
	pthread_join(thread, NULL);
}

static void *dying(void *argument)
{
	(void)argument;
	futex(&lock_word, LOCK, 0, NULL, NULL, 0);
	step = 1;
	rest(10);
	return NULL;
}

static void death(void)
{
	pthread_t thread;

	step = 0;
	pthread_create(&thread, NULL, dying, NULL);
	while (!step)
		rest(1);
	show("of an owner that dies", futex(&lock_word, LOCK, 0, NULL, NULL, 0));
	show_word("inherited", lock_word);
	show("unlock", futex(&lock_word, UNLOCK, 0, NULL, NULL, 0));
	show_word("after it", lock_word);
	pthread_join(thread, NULL);
}

static void *requeued(void *argument)
{
	struct sched_param priority = { 10 + (long)argument };

	sched_setscheduler(0, SCHED_FIFO, &priority);
	show("requeued", futex(&wait_word, WAIT_REQUEUE, 0, NULL, &lock_word, 0));
	show_word("its lock", lock_word);
	show("unlock", futex(&lock_word, UNLOCK, 0, NULL, NULL, 0));
	return NULL;
}

static void requeueing(void)
{
	pthread_t threads[2];
	struct sched_param priority = { 20 };

	sched_setscheduler(0, SCHED_FIFO, &priority);
	for (long index = 0; index < 2; index++)
		pthread_create(&threads[index], NULL, requeued, (void *)index);
	rest(5);
	show("wake those", futex(&wait_word, WAKE, 1, NULL, NULL, 0));
	show("requeue", futex(&wait_word, REQUEUE, 1, (void *)5, &lock_word, 0));
	for (int index = 0; index < 2; index++)
		pthread_join(threads[index], NULL);
	show_word("at last", lock_word);
}

/* A lock of the standard, robust, with priority inheritance. */
static pthread_mutex_t mutex;

static void *robust(void *argument)
{
	(void)argument;
	pthread_mutex_lock(&mutex);
	return NULL;
}

static void standard(void)
{
	pthread_mutexattr_t kind;
	pthread_t thread;
	struct timespec past = { 1, 0 };

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
	pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
	show("mutex", pthread_mutex_init(&mutex, &kind));
	pthread_create(&thread, NULL, robust, NULL);
	pthread_join(thread, NULL);
	printf("its owner died: %d\n", pthread_mutex_lock(&mutex) == EOWNERDEAD);
	show("consistent", pthread_mutex_consistent(&mutex));
	show("unlock", pthread_mutex_unlock(&mutex));
	show("timed", pthread_mutex_timedlock(&mutex, &past));
	show("unlock", pthread_mutex_unlock(&mutex));
}

/* A thread of medium priority does not delay the owner for which an urgent one waits. */
static volatile unsigned long loops;

static void *medium(void *argument)
{
	struct sched_param priority = { 20 };

	(void)argument;
	sched_setscheduler(0, SCHED_FIFO, &priority);
	while (step != 2)
		loops++;
	return NULL;
}

static void *low(void *argument)
{
	struct sched_param priority = { 10 };

	(void)argument;
	sched_setscheduler(0, SCHED_FIFO, &priority);
	futex(&lock_word, LOCK, 0, NULL, NULL, 0);
	step = 1;
	rest(6);
	futex(&lock_word, UNLOCK, 0, NULL, NULL, 0);
	return NULL;
}

static void inversion(void)
{
	struct sched_param priority = { 30 };
	pthread_t first, second;

	step = 0;
	sched_setscheduler(0, SCHED_FIFO, &priority);
	pthread_create(&first, NULL, low, NULL);
	while (!step)
		rest(1);
	pthread_create(&second, NULL, medium, NULL);
	rest(1);
	show("lock of a low thread", futex(&lock_word, LOCK, 0, NULL, NULL, 0));
	printf("the medium one ran: %d\n", loops > 0);
	step = 2;
	futex(&lock_word, UNLOCK, 0, NULL, NULL, 0);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
}

int main(void)
{
	run_part(alone);
	run_part(in_order);
	run_part(circle);
	run_part(death);
	run_part(requeueing);
	run_part(standard);
	run_part(inversion);
	return 0;
}
