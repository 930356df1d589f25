/* Message queues. */

#include <limits.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "case.h"

_Static_assert(O_RDONLY == 0 && O_WRONLY == 1 && O_RDWR == 2, "access modes of tenon-posix");
_Static_assert(O_CREAT == 0x40 && O_EXCL == 0x800 && O_NONBLOCK == 0x4000, "flags of tenon-posix");
_Static_assert(sizeof(struct mq_attr) == 32, "attributes of tenon-posix");

#define NAME "/queue"

static struct mq_attr small = {.mq_maxmsg = 2, .mq_msgsize = 8};

static mqd_t make(int flags)
{
	mqd_t queue = mq_open(NAME, O_CREAT | O_EXCL | flags, 0600, &small);
	CHECK(queue != (mqd_t)-1);
	return queue;
}

static void done(mqd_t queue)
{
	CHECK(mq_unlink(NAME) == 0);
	CHECK(mq_close(queue) == 0);
}

static void names(void)
{
	char longest[NAME_MAX + 3];

	CHECK_ERRNO(mq_open("/none", O_RDWR), ENOENT);
	CHECK_ERRNO(mq_open("noslash", O_RDWR | O_CREAT, 0600, NULL), EINVAL);
	CHECK_ERRNO(mq_open("/", O_RDWR | O_CREAT, 0600, NULL), EINVAL);
	CHECK_ERRNO(mq_unlink("/none"), ENOENT);
	memset(longest, 'x', sizeof longest);
	longest[0] = '/';
	longest[NAME_MAX + 2] = 0;
	CHECK_ERRNO(mq_open(longest, O_RDWR | O_CREAT, 0600, NULL), ENAMETOOLONG);
	longest[NAME_MAX + 1] = 0;
	mqd_t queue = mq_open(longest, O_RDWR | O_CREAT, 0600, NULL);
	CHECK(queue != (mqd_t)-1);
	CHECK(mq_unlink(longest) == 0 && mq_close(queue) == 0);
}

static void opening(void)
{
	mqd_t one = make(O_RDWR), other;
	struct mq_attr wrong = {.mq_maxmsg = 0, .mq_msgsize = 8};

	CHECK_ERRNO(mq_open(NAME, O_RDWR | O_CREAT | O_EXCL, 0600, &small), EEXIST);
	other = mq_open(NAME, O_RDWR | O_CREAT, 0600, &wrong);
	CHECK(other != (mqd_t)-1 && other != one);
	CHECK(mq_close(other) == 0);
	CHECK_ERRNO(mq_close(other), EBADF);
	CHECK_ERRNO(mq_send(other, "", 0, 0), EBADF);
	CHECK_ERRNO(mq_close(-1), EBADF);
	done(one);
	CHECK_ERRNO(mq_open(NAME, O_RDWR | O_CREAT, 0600, &wrong), EINVAL);
	wrong.mq_maxmsg = 1;
	wrong.mq_msgsize = -1;
	CHECK_ERRNO(mq_open(NAME, O_RDWR | O_CREAT, 0600, &wrong), EINVAL);
	wrong.mq_msgsize = LONG_MAX;
	CHECK_ERRNO(mq_open(NAME, O_RDWR | O_CREAT, 0600, &wrong), ENOSPC);
}

static void order(void)
{
	struct mq_attr ten = {.mq_maxmsg = 10, .mq_msgsize = 8};
	mqd_t queue = mq_open(NAME, O_RDWR | O_CREAT, 0600, &ten);
	static const char expected[] = "dacbe";
	char text[8];
	unsigned int priority;

	CHECK(mq_send(queue, "a", 1, 5) == 0);
	CHECK(mq_send(queue, "b", 1, 1) == 0);
	CHECK(mq_send(queue, "c", 1, 5) == 0);
	CHECK(mq_send(queue, "d", 1, MQ_PRIO_MAX - 1) == 0);
	CHECK(mq_send(queue, "e", 1, 0) == 0);
	for (const char *next = expected; *next; next++) {
		CHECK(mq_receive(queue, text, sizeof text, &priority) == 1);
		CHECK(text[0] == *next);
	}
	CHECK(priority == 0);
	CHECK(mq_send(queue, "", 0, 0) == 0);
	CHECK(mq_receive(queue, text, sizeof text, NULL) == 0);
	CHECK_ERRNO(mq_send(queue, "a", 1, MQ_PRIO_MAX), EINVAL);
	CHECK_ERRNO(mq_send(queue, "123456789", 9, 0), EMSGSIZE);
	CHECK_ERRNO(mq_receive(queue, text, 7, NULL), EMSGSIZE);
	done(queue);
}

static void without_waiting(void)
{
	mqd_t queue = make(O_RDWR | O_NONBLOCK);
	struct mq_attr before, blocking = {.mq_flags = 0};
	struct timespec past = {.tv_sec = 0}, bad = {.tv_nsec = 1000000000};
	char text[8];

	CHECK_ERRNO(mq_receive(queue, text, sizeof text, NULL), EAGAIN);
	CHECK(mq_send(queue, "1", 1, 0) == 0 && mq_send(queue, "2", 1, 0) == 0);
	CHECK_ERRNO(mq_send(queue, "3", 1, 0), EAGAIN);
	CHECK(mq_getattr(queue, &before) == 0);
	CHECK(before.mq_flags == O_NONBLOCK && before.mq_curmsgs == 2);
	CHECK(before.mq_maxmsg == 2 && before.mq_msgsize == 8);
	CHECK(mq_setattr(queue, &blocking, &before) == 0);
	CHECK(before.mq_flags == O_NONBLOCK);
	CHECK(mq_getattr(queue, &before) == 0 && before.mq_flags == 0);
	CHECK_ERRNO(mq_timedsend(queue, "3", 1, 0, &past), ETIMEDOUT);
	CHECK_ERRNO(mq_timedsend(queue, "3", 1, 0, &bad), EINVAL);
	/* An invalid time-out is no error if the call need not block. */
	CHECK(mq_timedreceive(queue, text, sizeof text, NULL, &bad) == 1);
	CHECK(mq_timedsend(queue, "3", 1, 0, &bad) == 0);
	done(queue);
}

static void access_modes(void)
{
	mqd_t both = make(O_RDWR);
	mqd_t reader = mq_open(NAME, O_RDONLY), writer = mq_open(NAME, O_WRONLY);
	char text[8];

	CHECK_ERRNO(mq_send(reader, "a", 1, 0), EBADF);
	CHECK_ERRNO(mq_receive(writer, text, sizeof text, NULL), EBADF);
	CHECK(mq_send(writer, "a", 1, 0) == 0);
	CHECK(mq_receive(reader, text, sizeof text, NULL) == 1);
	CHECK(mq_close(reader) == 0 && mq_close(writer) == 0);
	done(both);
}

static void unlinked(void)
{
	mqd_t old = make(O_RDWR), new;
	char text[8];

	CHECK(mq_send(old, "old", 3, 0) == 0);
	CHECK(mq_unlink(NAME) == 0);
	CHECK_ERRNO(mq_open(NAME, O_RDWR), ENOENT);
	new = make(O_RDWR | O_NONBLOCK);
	CHECK_ERRNO(mq_receive(new, text, sizeof text, NULL), EAGAIN);
	CHECK(mq_receive(old, text, sizeof text, NULL) == 3);
	CHECK(mq_close(old) == 0);
	done(new);
}

static void comes_and_goes(void)
{
	struct mq_attr large = {.mq_maxmsg = 64, .mq_msgsize = 1024};

	for (int round = 0; round < 500; round++) {
		mqd_t queue = mq_open(NAME, O_RDWR | O_CREAT | O_EXCL, 0600, &large);
		if (queue == (mqd_t)-1 || mq_send(queue, "text", 4, 3) != 0) {
			CHECK(!"its memory came back");
			return;
		}
		done(queue);
	}
}

static char trail[8];
static size_t steps;

static void *receives(void *argument)
{
	char text[8];

	CHECK(mq_receive(*(mqd_t *)argument, text, sizeof text, NULL) == 1);
	trail[steps++] = text[0];
	return NULL;
}

static void *sends(void *argument)
{
	CHECK(mq_send(*(mqd_t *)argument, "x", 1, 0) == 0);
	trail[steps++] = 's';
	return NULL;
}

static pthread_t urgent(int priority, void *(*start)(void *), void *argument)
{
	pthread_attr_t attributes;
	struct sched_param parameters = {.sched_priority = priority};
	pthread_t thread;

	CHECK(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED) == 0);
	CHECK(pthread_attr_setschedparam(&attributes, &parameters) == 0);
	CHECK(pthread_create(&thread, &attributes, start, argument) == 0);
	CHECK(pthread_attr_destroy(&attributes) == 0);
	return thread;
}

static void waiting(void)
{
	mqd_t queue = make(O_RDWR);
	pthread_t threads[2];
	char text[8];

	steps = 0;
	/* The receiver with the highest priority gets the first message. */
	threads[0] = urgent(20, receives, &queue);
	threads[1] = urgent(30, receives, &queue);
	CHECK(mq_send(queue, "1", 1, 0) == 0 && mq_send(queue, "2", 1, 9) == 0);
	CHECK(steps == 2 && memcmp(trail, "12", 2) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	/* A blocked sender continues as soon as there is space. */
	CHECK(mq_send(queue, "a", 1, 0) == 0 && mq_send(queue, "b", 1, 0) == 0);
	threads[0] = urgent(20, sends, &queue);
	CHECK(steps == 2);
	CHECK(mq_receive(queue, text, sizeof text, NULL) == 1 && text[0] == 'a');
	CHECK(steps == 3 && trail[2] == 's');
	CHECK(pthread_join(threads[0], NULL) == 0);
	done(queue);
}

static void *waits_for_good(void *argument)
{
	char text[8];

	mq_receive(*(mqd_t *)argument, text, sizeof text, NULL);
	CHECK(!"it to be cancelled");
	return NULL;
}

static void cancelled(void)
{
	mqd_t queue = make(O_RDWR | O_NONBLOCK);
	struct mq_attr blocking = {.mq_flags = 0}, nonblocking = {.mq_flags = O_NONBLOCK};
	void *result;
	char text[8];

	CHECK(mq_setattr(queue, &blocking, NULL) == 0);
	pthread_t thread = urgent(20, waits_for_good, &queue);
	CHECK(pthread_cancel(thread) == 0);
	CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
	CHECK(mq_setattr(queue, &nonblocking, NULL) == 0);
	CHECK(mq_send(queue, "1", 1, 0) == 0 && mq_receive(queue, text, sizeof text, NULL) == 1);
	done(queue);
	CHECK_ERRNO(mq_open(NAME, O_RDWR), ENOENT);
}

/* A new notification request while an earlier signal is pending is served at the next message. */
static void told_again(void)
{
	mqd_t queue = make(O_RDWR);
	struct sigevent first = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct sigevent second = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
	struct timespec none = {0};
	siginfo_t information;
	sigset_t set;
	char text[8];

	second.sigev_value.sival_int = 7;
	CHECK(sigemptyset(&set) == 0);
	CHECK(sigaddset(&set, SIGUSR1) == 0 && sigaddset(&set, SIGUSR2) == 0);
	CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	CHECK(mq_notify(queue, &first) == 0);
	CHECK_ERRNO(mq_notify(queue, &second), EBUSY);
	CHECK(mq_send(queue, "1", 1, 0) == 0);
	CHECK(mq_receive(queue, text, sizeof text, NULL) == 1);
	CHECK(mq_notify(queue, &second) == 0);
	CHECK(sigtimedwait(&set, NULL, &none) == SIGUSR1);
	CHECK(mq_send(queue, "2", 1, 0) == 0);
	CHECK(sigtimedwait(&set, &information, &none) == SIGUSR2);
	CHECK(information.si_code == SI_MESGQ && information.si_value.sival_int == 7);
	CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
	done(queue);
}

/* The notification is registered per queue, however often it was opened. */
static void opened_often(void)
{
	struct sigevent none = {.sigev_notify = SIGEV_NONE};
	int known = 0;

	CHECK(mq_close(make(O_RDWR)) == 0);
	for (int round = 0; round < 1 << 15; round++) {
		mqd_t queue = mq_open(NAME, O_RDWR);
		mq_notify(queue, &none);
		known += mq_notify(queue, &none) == -1 && errno == EBUSY;
		mq_close(queue);
	}
	CHECK(known == 1 << 15);
	CHECK(mq_unlink(NAME) == 0);
}

static const struct test tests[] = {
	{"names", names},
	{"opening", opening},
	{"order", order},
	{"without waiting", without_waiting},
	{"access modes", access_modes},
	{"unlinked", unlinked},
	{"comes and goes", comes_and_goes},
	{"waiting", waiting},
	{"cancelled", cancelled},
	{"told again", told_again},
	{"opened often", opened_often},
	{NULL, NULL},
};

const struct suite mqueue_suite = {"mqueue", tests};
