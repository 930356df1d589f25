/* Timers, alarm, and notification of messages. */

#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "case.h"

_Static_assert(sizeof(timer_t) == 8, "TimerId of tenon-posix");
_Static_assert(sizeof(struct itimerspec) == 32, "Itimerspec of tenon-posix");

#define SECOND 1000000000LL
#define NEVER ((timer_t)-1)

static volatile int calls, value, code;
static sem_t told;

static void note(int signal, siginfo_t *information, void *context)
{
	(void)signal, (void)context;
	calls++;
	value = information->si_value.sival_int;
	code = information->si_code;
}

static void handle(int signal)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART, .sa_sigaction = note};

	CHECK(sigaction(signal, &action, NULL) == 0);
	calls = value = code = 0;
}

static long long now(clockid_t clock)
{
	struct timespec time;

	CHECK(clock_gettime(clock, &time) == 0);
	return time.tv_sec * SECOND + time.tv_nsec;
}

static struct timespec split(long long nanoseconds)
{
	return (struct timespec){nanoseconds / SECOND, nanoseconds % SECOND};
}

static timer_t make(int signal)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal};
	timer_t timer = NEVER;

	event.sigev_value.sival_int = 4711;
	CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	return timer;
}

static void arm(timer_t timer, long long first, long long interval)
{
	struct itimerspec setting = {.it_value = split(first), .it_interval = split(interval)};

	CHECK(timer_settime(timer, 0, &setting, NULL) == 0);
}

/* Sleeps for the full time despite signals. */
static void rest(long long nanoseconds)
{
	struct timespec until = split(now(CLOCK_MONOTONIC) + nanoseconds);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

static void refused(void)
{
	struct sigevent event = {.sigev_notify = 99};
	struct itimerspec setting = {.it_value.tv_nsec = -1};
	timer_t timer, many[300];
	int made = 0;

	CHECK_ERRNO(timer_create((clockid_t)77, NULL, &timer), EINVAL);
	CHECK_ERRNO(timer_create(CLOCK_REALTIME, &event, &timer), EINVAL);
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = 64;
	CHECK_ERRNO(timer_create(CLOCK_REALTIME, &event, &timer), EINVAL);
	timer = make(SIGUSR1);
	CHECK_ERRNO(timer_settime(timer, 0, &setting, NULL), EINVAL);
	CHECK(timer_delete(timer) == 0);
	CHECK_ERRNO(timer_delete(timer), EINVAL);
	CHECK_ERRNO(timer_gettime(timer, &setting), EINVAL);
	CHECK_ERRNO(timer_getoverrun(timer), EINVAL);
	setting.it_value.tv_nsec = 0;
	CHECK_ERRNO(timer_settime(timer, 0, &setting, NULL), EINVAL);
	while (made < 300 && timer_create(CLOCK_MONOTONIC, NULL, &many[made]) == 0)
		made++;
	CHECK(made >= 32 && errno == EAGAIN);
	while (made > 0)
		CHECK(timer_delete(many[--made]) == 0);
}

static void once(void)
{
	timer_t timer = make(SIGUSR1);
	struct itimerspec left;
	long long start = now(CLOCK_MONOTONIC);
	int early;

	handle(SIGUSR1);
	CHECK(timer_gettime(timer, &left) == 0 && left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0);
	arm(timer, 3000000, 0);
	CHECK(timer_gettime(timer, &left) == 0 && left.it_value.tv_nsec <= 3000000);
	/* By the host's clock the wait may have been longer. */
	CHECK(left.it_value.tv_nsec > 0 || now(CLOCK_MONOTONIC) - start >= 3000000);
	rest(2000000);
	early = calls;
	CHECK(early == 0 || now(CLOCK_MONOTONIC) - start >= 3000000);
	rest(20000000);
	CHECK(calls == 1 && value == 4711 && code == SI_TIMER);
	CHECK(now(CLOCK_MONOTONIC) - start >= 3000000);
	CHECK(timer_gettime(timer, &left) == 0 && left.it_value.tv_nsec == 0);
	/* A timer that is disarmed in time does not expire. */
	arm(timer, 3000000, 0);
	arm(timer, 0, 0);
	rest(6000000);
	CHECK(calls == 1);
	CHECK(timer_delete(timer) == 0);
}

static void again(void)
{
	timer_t timer = make(SIGUSR1);
	struct itimerspec setting = {.it_interval = split(2000000)}, old;

	handle(SIGUSR1);
	long long start = now(CLOCK_MONOTONIC);
	setting.it_value = split(start + 2000000);
	CHECK(timer_settime(timer, TIMER_ABSTIME, &setting, &old) == 0);
	CHECK(old.it_value.tv_nsec == 0 && old.it_interval.tv_nsec == 0);
	rest(21000000);
	setting.it_value = split(0);
	CHECK(timer_settime(timer, 0, &setting, &old) == 0);
	CHECK(old.it_interval.tv_nsec == 2000000 && old.it_value.tv_nsec > 0);
	int count = calls;
	/* On a busy machine one signal may stand for several expiries, and the remaining time be longer. */
	CHECK(count >= 1 && count <= (now(CLOCK_MONOTONIC) - start) / 2000000);
	rest(5000000);
	CHECK(calls == count);
	CHECK(timer_delete(timer) == 0);
}

static void overrun(void)
{
	timer_t timer = make(SIGRTMIN);
	sigset_t set;
	siginfo_t information;

	CHECK(sigemptyset(&set) == 0 && sigaddset(&set, SIGRTMIN) == 0);
	CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	arm(timer, 1000000, 1000000);
	rest(10500000);
	arm(timer, 0, 0);
	CHECK(sigwaitinfo(&set, &information) == SIGRTMIN && information.si_code == SI_TIMER);
	CHECK(information.si_value.sival_int == 4711);
	/* Disarming resets the overrun count; one signal stands for all expiries. */
	struct timespec none = {0};
	CHECK_ERRNO(sigtimedwait(&set, NULL, &none), EAGAIN);

	arm(timer, 1000000, 1000000);
	rest(10500000);
	CHECK(sigwaitinfo(&set, &information) == SIGRTMIN);
	CHECK(timer_getoverrun(timer) >= 8);
	CHECK(timer_delete(timer) == 0);
	while (sigtimedwait(&set, NULL, &none) == SIGRTMIN)
		;
	CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
}

/* An interval shorter than its handling does not starve other threads. */
static void too_short(void)
{
	timer_t timer = make(SIGUSR1);
	sigset_t set;
	siginfo_t information;

	CHECK(sigemptyset(&set) == 0 && sigaddset(&set, SIGUSR1) == 0);
	CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	arm(timer, 1000000, 32);
	rest(11000000);
	CHECK(sigwaitinfo(&set, &information) == SIGUSR1);
	CHECK(timer_getoverrun(timer) >= 10000000 / 32 * 9 / 10);
	CHECK(timer_delete(timer) == 0);
	struct timespec none = {0};
	while (sigtimedwait(&set, NULL, &none) == SIGUSR1)
		;
	CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
	/* Times in the past expire at once, also times before the epoch. */
	struct itimerspec past = {.it_value.tv_sec = -5};
	handle(SIGUSR1);
	timer = make(SIGUSR1);
	CHECK(timer_settime(timer, TIMER_ABSTIME, &past, NULL) == 0);
	rest(1000000);
	CHECK(calls == 1);
	CHECK(timer_delete(timer) == 0);
}

static void by_thread(union sigval given)
{
	value = given.sival_int;
	CHECK(sem_post(&told) == 0);
}

static void in_a_thread(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = by_thread};
	timer_t timer;

	value = 0;
	event.sigev_value.sival_int = 88;
	CHECK(sem_init(&told, 0, 0) == 0);
	CHECK(timer_create(CLOCK_REALTIME, &event, &timer) == 0);
	arm(timer, 1000000, 1000000);
	for (int i = 0; i < 3; i++)
		CHECK(sem_wait(&told) == 0);
	CHECK(value == 88);
	CHECK(timer_delete(timer) == 0);
	rest(5000000);
	event.sigev_notify = SIGEV_NONE;
	CHECK(timer_create(CLOCK_REALTIME, &event, &timer) == 0);
	arm(timer, 1000, 0);
	rest(1000000);
	CHECK(timer_delete(timer) == 0);
}

/* A step of CLOCK_REALTIME affects absolute timers, not relative ones. */
static void stepped(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
	struct itimerspec setting = {.it_value = split(now(CLOCK_REALTIME) + 1000 * SECOND)};
	struct timespec before = split(now(CLOCK_REALTIME)), later = before;
	timer_t absolute, relative;

	handle(SIGUSR2);
	CHECK(timer_create(CLOCK_REALTIME, &event, &absolute) == 0);
	CHECK(timer_create(CLOCK_REALTIME, &event, &relative) == 0);
	CHECK(timer_settime(absolute, TIMER_ABSTIME, &setting, NULL) == 0);
	arm(relative, 1000 * SECOND, 0);
	rest(1000000);
	CHECK(calls == 0);
	later.tv_sec += 2000;
	CHECK(clock_settime(CLOCK_REALTIME, &later) == 0);
	rest(1000000);
	CHECK(calls == 1);
	CHECK(clock_settime(CLOCK_REALTIME, &before) == 0);
	CHECK(timer_delete(absolute) == 0 && timer_delete(relative) == 0);
}

static void alarms(void)
{
	handle(SIGALRM);
	CHECK(alarm(100) == 0);
	CHECK(alarm(1) == 100);
	CHECK_ERRNO(pause(), EINTR);
	CHECK(calls == 1);
	CHECK(alarm(7) == 0 && alarm(0) == 7 && alarm(0) == 0);
}

static void messages(void)
{
	mqd_t queue = mq_open("/timer", O_CREAT | O_RDWR, 0600, NULL);
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	char text[128];

	handle(SIGUSR1);
	event.sigev_value.sival_int = 5;
	CHECK(mq_notify(queue, &event) == 0);
	CHECK_ERRNO(mq_notify(queue, &event), EBUSY);
	CHECK(mq_send(queue, "1", 1, 0) == 0);
	CHECK(calls == 1 && value == 5 && code == SI_MESGQ);
	/* Notification occurs once, for the first message. */
	CHECK(mq_send(queue, "2", 1, 0) == 0 && calls == 1);
	CHECK(mq_notify(queue, &event) == 0);
	CHECK(mq_send(queue, "3", 1, 0) == 0 && calls == 1);
	for (int i = 0; i < 3; i++)
		CHECK(mq_receive(queue, text, sizeof text, NULL) == 1);
	CHECK(mq_notify(queue, NULL) == 0);
	CHECK(mq_send(queue, "4", 1, 0) == 0 && calls == 1);
	CHECK_ERRNO(mq_notify(-1, &event), EBADF);
	CHECK(mq_close(queue) == 0 && mq_unlink("/timer") == 0);
}

static const struct test tests[] = {
	{"refused", refused},
	{"once", once},
	{"again", again},
	{"overrun", overrun},
	{"too short", too_short},
	{"in a thread", in_a_thread},
	{"stepped", stepped},
	{"alarm", alarms},
	{"messages", messages},
	{NULL, NULL},
};

const struct suite timer_suite = {"timer", tests};
