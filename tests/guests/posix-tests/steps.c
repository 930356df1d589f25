/* Steps of CLOCK_REALTIME and absolute waits on it. */

#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include "case.h"

static struct timespec far;
static volatile int back;
static sem_t semaphore;
static pthread_mutex_t mutex, condition_mutex;
static pthread_cond_t condition;
static pthread_rwlock_t lock;
static mqd_t empty, full;

static int number(int outcome)
{
	return outcome == -1 ? errno : 0;
}

static int for_a_semaphore(void)
{
	return number(sem_timedwait(&semaphore, &far));
}

static int for_a_mutex(void)
{
	return pthread_mutex_timedlock(&mutex, &far);
}

static int for_reading(void)
{
	return pthread_rwlock_timedrdlock(&lock, &far);
}

static int for_writing(void)
{
	return pthread_rwlock_timedwrlock(&lock, &far);
}

static int for_a_condition(void)
{
	int outcome;

	CHECK(pthread_mutex_lock(&condition_mutex) == 0);
	do
		outcome = pthread_cond_timedwait(&condition, &condition_mutex, &far);
	while (outcome == 0);
	CHECK(pthread_mutex_unlock(&condition_mutex) == 0);
	return outcome;
}

static int for_a_message(void)
{
	char text[8];

	return number((int)mq_timedreceive(empty, text, sizeof text, NULL, &far));
}

static int for_room(void)
{
	return number(mq_timedsend(full, "2", 1, 0, &far));
}

static const struct wait {
	const char *what;
	int (*lasts)(void);
} waits[] = {
	{"semaphore", for_a_semaphore},
	{"mutex", for_a_mutex},
	{"reading", for_reading},
	{"writing", for_writing},
	{"condition", for_a_condition},
	{"message", for_a_message},
	{"room", for_room},
};

struct late {
	const struct wait *wait;
	int lag;
};

static void *waits_late(void *argument)
{
	const struct late *late = argument;

	for (volatile int i = 0; i < late->lag; i++)
		;
	CHECK(late->wait->lasts() == ETIMEDOUT);
	back = 1;
	return NULL;
}

/* Whether the waiting thread returns within some milliseconds. */
static int comes_back(void)
{
	for (int i = 0; i < 50 && !back; i++)
		CHECK(usleep(100) == 0);
	return back;
}

static void set(long long seconds)
{
	struct timespec time = far;

	time.tv_sec += seconds;
	CHECK(clock_settime(CLOCK_REALTIME, &time) == 0);
}

/* Starts a waiting thread, and sets the clock after this many microseconds. */
static void step(const struct wait *wait, int lag, useconds_t after, int earlier)
{
	struct late late = {wait, lag};
	struct sched_param parameters = {.sched_priority = 5};
	pthread_attr_t attributes;
	pthread_t thread;

	back = 0;
	CHECK(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED) == 0);
	CHECK(pthread_attr_setschedparam(&attributes, &parameters) == 0);
	CHECK(pthread_create(&thread, &attributes, waits_late, &late) == 0);
	CHECK(usleep(after) == 0);
	if (earlier) {
		set(-10);
		CHECK(usleep(2000) == 0 && !back);
		set(-100);
		CHECK(usleep(2000) == 0 && !back);
	}
	set(0);
	if (!comes_back()) {
		failed(__FILE__, __LINE__, wait->what);
		CHECK(pthread_cancel(thread) == 0);
		/* pthread_mutex_lock is no cancellation point. */
		if (wait->lasts == for_a_mutex)
			CHECK(pthread_mutex_unlock(&mutex) == 0);
		if (wait->lasts == for_reading || wait->lasts == for_writing)
			CHECK(pthread_rwlock_unlock(&lock) == 0);
	}
	CHECK(pthread_join(thread, NULL) == 0);
	set(-100000);
}

static void begin(void)
{
	struct mq_attr one = {.mq_maxmsg = 1, .mq_msgsize = 8};

	CHECK(clock_gettime(CLOCK_REALTIME, &far) == 0);
	far.tv_sec += 100000;
	CHECK(sem_init(&semaphore, 0, 0) == 0);
	CHECK(pthread_mutex_init(&mutex, NULL) == 0 && pthread_mutex_lock(&mutex) == 0);
	CHECK(pthread_mutex_init(&condition_mutex, NULL) == 0);
	CHECK(pthread_cond_init(&condition, NULL) == 0);
	CHECK(pthread_rwlock_init(&lock, NULL) == 0 && pthread_rwlock_wrlock(&lock) == 0);
	empty = mq_open("/empty", O_RDWR | O_CREAT | O_EXCL, 0600, &one);
	full = mq_open("/full", O_RDWR | O_CREAT | O_EXCL, 0600, &one);
	CHECK(mq_send(full, "1", 1, 0) == 0);
}

static void end(void)
{
	CHECK(sem_destroy(&semaphore) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_destroy(&mutex) == 0);
	CHECK(pthread_cond_destroy(&condition) == 0);
	CHECK(pthread_mutex_destroy(&condition_mutex) == 0);
	CHECK(pthread_rwlock_unlock(&lock) == 0 && pthread_rwlock_destroy(&lock) == 0);
	CHECK(mq_close(empty) == 0 && mq_unlink("/empty") == 0);
	CHECK(mq_close(full) == 0 && mq_unlink("/full") == 0);
}

/* Only a step past the time-out ends the wait. */
static void while_waiting(void)
{
	begin();
	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
		step(&waits[i], 0, 1000, 1);
	end();
}

/* The same with a step before or during the call. */
static void while_beginning(void)
{
	begin();
	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
		for (int lag = 0; lag < 1200; lag += 3)
			step(&waits[i], lag, 5, 0);
	end();
}

static const struct test tests[] = {
	{"while waiting", while_waiting},
	{"while beginning", while_beginning},
	{NULL, NULL},
};

const struct suite steps_suite = {"steps", tests};
