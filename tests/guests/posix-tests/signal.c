/* Signals. */

#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "case.h"

_Static_assert(sizeof(siginfo_t) == 24, "SigInfo of tenon-pthread");
_Static_assert(sizeof(struct sigaction) == 24, "Action of tenon-pthread");
_Static_assert(sizeof(struct sigevent) == 32, "SigEvent of tenon-pthread");
_Static_assert(sizeof(sigset_t) == 8, "Set of tenon-pthread");

static volatile int calls, last, values[16];
static pthread_t caller;

static void note(int signal)
{
	values[calls % 16] = signal;
	calls++;
	last = signal;
	caller = pthread_self();
	errno = 99;
}

static void note_more(int signal, siginfo_t *information, void *context)
{
	(void)context;
	CHECK(signal == information->si_signo);
	values[calls % 16] = information->si_value.sival_int;
	calls++;
	last = information->si_code;
}

static void handle(int signal, int flags)
{
	struct sigaction action = {.sa_flags = flags};

	if (flags & SA_SIGINFO)
		action.sa_sigaction = note_more;
	else
		action.sa_handler = note;
	CHECK(sigemptyset(&action.sa_mask) == 0);
	CHECK(sigaction(signal, &action, NULL) == 0);
	calls = last = 0;
}

static sigset_t only(int signal)
{
	sigset_t set;

	CHECK(sigemptyset(&set) == 0 && sigaddset(&set, signal) == 0);
	return set;
}

static void sets(void)
{
	sigset_t set;

	CHECK(sigfillset(&set) == 0 && sigismember(&set, SIGRTMAX) == 1);
	CHECK(sigdelset(&set, SIGUSR1) == 0 && sigismember(&set, SIGUSR1) == 0);
	CHECK(sigemptyset(&set) == 0 && sigismember(&set, SIGUSR2) == 0);
	CHECK_ERRNO(sigaddset(&set, 0), EINVAL);
	CHECK_ERRNO(sigaddset(&set, 64), EINVAL);
	CHECK_ERRNO(sigdelset(&set, -1), EINVAL);
	CHECK_ERRNO(sigismember(&set, 1000), EINVAL);
}

static void actions(void)
{
	struct sigaction old, ignored = {.sa_handler = SIG_IGN};

	handle(SIGUSR1, 0);
	CHECK(sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_handler == note);
	CHECK_ERRNO(sigaction(SIGKILL, &ignored, NULL), EINVAL);
	CHECK_ERRNO(sigaction(SIGSTOP, &ignored, NULL), EINVAL);
	CHECK_ERRNO(sigaction(0, NULL, &old), EINVAL);
	CHECK_ERRNO(sigaction(64, NULL, &old), EINVAL);
	errno = 5;
	CHECK(raise(SIGUSR1) == 0);
	CHECK(calls == 1 && last == SIGUSR1 && errno == 5);
	CHECK(signal(SIGUSR1, SIG_IGN) == note);
	CHECK(raise(SIGUSR1) == 0 && calls == 1);
	CHECK(signal(SIGUSR1, SIG_DFL) == SIG_IGN);
	CHECK(raise(SIGCHLD) == 0);
	CHECK(signal(SIGKILL, note) == SIG_ERR);
	handle(SIGUSR2, SA_RESETHAND);
	CHECK(raise(SIGUSR2) == 0 && calls == 1);
	CHECK(sigaction(SIGUSR2, NULL, &old) == 0 && old.sa_handler == SIG_DFL);
	CHECK(raise(0) == 0);
	CHECK_ERRNO(raise(64), EINVAL);
	CHECK_ERRNO(kill(getpid(), SIGSTOP), EINVAL);
	CHECK_ERRNO(kill(getpid(), -1), EINVAL);
	CHECK_ERRNO(kill(4242, SIGUSR1), ESRCH);
	CHECK(kill(getpid(), 0) == 0);
}

static void blocked(void)
{
	sigset_t set = only(SIGUSR1), old, pending;

	handle(SIGUSR1, 0);
	CHECK(pthread_sigmask(SIG_BLOCK, &set, &old) == 0);
	CHECK(sigismember(&old, SIGUSR1) == 0);
	CHECK(kill(getpid(), SIGUSR1) == 0 && kill(getpid(), SIGUSR1) == 0);
	CHECK(calls == 0);
	CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 1);
	CHECK(sigprocmask(SIG_UNBLOCK, &set, &old) == 0);
	CHECK(sigismember(&old, SIGUSR1) == 1);
	CHECK(calls == 1);
	CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 0);
	CHECK(pthread_sigmask(77, &set, NULL) == EINVAL);
	CHECK_ERRNO(sigprocmask(77, &set, NULL), EINVAL);
	sigfillset(&set);
	CHECK(pthread_sigmask(SIG_SETMASK, &set, &old) == 0);
	CHECK(pthread_sigmask(SIG_SETMASK, &old, &set) == 0);
	CHECK(sigismember(&set, SIGKILL) == 0 && sigismember(&set, SIGUSR1) == 1);
	/* Ignoring a signal discards a pending one. */
	set = only(SIGUSR1);
	CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	CHECK(raise(SIGUSR1) == 0);
	CHECK(signal(SIGUSR1, SIG_IGN) == note);
	CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 0);
	CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
}

static void realtime(void)
{
	sigset_t set = only(SIGRTMIN);
	union sigval value;
	int refused = 0;

	CHECK(SIGRTMAX - SIGRTMIN >= 7);
	sigaddset(&set, SIGRTMIN + 3);
	CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	handle(SIGRTMIN + 3, SA_SIGINFO);
	handle(SIGRTMIN, SA_SIGINFO);
	for (int i = 1; i <= 3; i++) {
		value.sival_int = 10 + i;
		CHECK(sigqueue(getpid(), SIGRTMIN + 3, value) == 0);
		value.sival_int = i;
		CHECK(sigqueue(getpid(), SIGRTMIN, value) == 0);
	}
	CHECK(calls == 0);
	CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
	CHECK(calls == 6 && last == SI_QUEUE);
	/* With several signals pending, a handler is nested only if its signal is not blocked. Signals are
	 * delivered by number, then by age. */
	for (int i = 0; i < 3; i++)
		CHECK(values[i] == i + 1 && values[3 + i] == 11 + i);
	CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	for (int i = 0; i < 2000 && !refused; i++)
		refused = sigqueue(getpid(), SIGRTMIN, value) == -1;
	CHECK(refused && errno == EAGAIN);
	CHECK(signal(SIGRTMIN, SIG_IGN) != SIG_ERR);
	CHECK(sigqueue(getpid(), SIGRTMIN + 3, value) == 0);
	CHECK(signal(SIGRTMIN + 3, SIG_IGN) != SIG_ERR);
	CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
}

static void accepted(void)
{
	sigset_t set = only(SIGUSR1);
	struct timespec none = {0}, little = {.tv_nsec = 1000000}, bad = {.tv_nsec = -1};
	union sigval value = {.sival_int = 44};
	siginfo_t information;
	int signal = 0;

	sigaddset(&set, SIGRTMIN);
	CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	CHECK(raise(SIGUSR1) == 0 && sigwait(&set, &signal) == 0 && signal == SIGUSR1);
	CHECK(sigqueue(getpid(), SIGRTMIN, value) == 0);
	CHECK(sigwaitinfo(&set, &information) == SIGRTMIN);
	CHECK(information.si_code == SI_QUEUE && information.si_value.sival_int == 44);
	CHECK_ERRNO(sigtimedwait(&set, NULL, &none), EAGAIN);
	CHECK_ERRNO(sigtimedwait(&set, &information, &little), EAGAIN);
	CHECK_ERRNO(sigtimedwait(&set, &information, &bad), EINVAL);
	CHECK(raise(SIGUSR1) == 0 && sigtimedwait(&set, &information, &none) == SIGUSR1);
	CHECK(information.si_code == SI_USER && information.si_pid == getpid());
	CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
}

static sem_t begun;

static void *accepts(void *argument)
{
	sigset_t set = only(SIGUSR2);
	int signal = 0;

	CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	CHECK(sem_post(&begun) == 0);
	CHECK(sigwait(&set, &signal) == 0);
	*(int *)argument = signal;
	return NULL;
}

static void others_accept(void)
{
	sigset_t set = only(SIGUSR2);
	pthread_t thread;
	int got = 0;

	CHECK(sem_init(&begun, 0, 0) == 0);
	CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	CHECK(pthread_create(&thread, NULL, accepts, &got) == 0);
	CHECK(sem_wait(&begun) == 0 && usleep(100) == 0);
	CHECK(kill(getpid(), SIGUSR2) == 0);
	CHECK(pthread_join(thread, NULL) == 0 && got == SIGUSR2);
	CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
	CHECK(sem_destroy(&begun) == 0);
}

static int outcome, number;

static void *sleeps(void *argument)
{
	struct timespec time = {.tv_sec = 1000}, rest = {0};

	(void)argument;
	outcome = nanosleep(&time, &rest);
	number = errno;
	CHECK(rest.tv_sec == 999);
	return NULL;
}

static void *takes(void *argument)
{
	outcome = sem_wait(argument);
	number = errno;
	return NULL;
}

static void *receives(void *argument)
{
	char text[128];

	outcome = mq_receive(*(mqd_t *)argument, text, sizeof text, NULL);
	number = errno;
	return NULL;
}

static void interrupted(void)
{
	mqd_t queue = mq_open("/signal", O_CREAT | O_RDWR, 0600, NULL);
	pthread_t thread;
	sem_t unit;

	CHECK(sem_init(&unit, 0, 0) == 0);
	handle(SIGUSR1, 0);
	CHECK(pthread_create(&thread, NULL, sleeps, NULL) == 0 && usleep(100) == 0);
	CHECK(pthread_kill(thread, SIGUSR1) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(outcome == -1 && number == EINTR && calls == 1 && pthread_equal(caller, thread));

	CHECK(pthread_create(&thread, NULL, takes, &unit) == 0 && usleep(100) == 0);
	CHECK(pthread_kill(thread, SIGUSR1) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(outcome == -1 && number == EINTR && calls == 2);

	CHECK(pthread_create(&thread, NULL, receives, &queue) == 0 && usleep(100) == 0);
	CHECK(pthread_kill(thread, SIGUSR1) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(outcome == -1 && number == EINTR && calls == 3);

	/* With SA_RESTART the wait continues. */
	handle(SIGUSR1, SA_RESTART);
	CHECK(pthread_create(&thread, NULL, receives, &queue) == 0 && usleep(100) == 0);
	CHECK(pthread_kill(thread, SIGUSR1) == 0 && usleep(100) == 0 && calls == 1);
	CHECK(mq_send(queue, "now", 3, 0) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(outcome == 3);

	CHECK(pthread_create(&thread, NULL, takes, &unit) == 0 && usleep(100) == 0);
	CHECK(pthread_kill(thread, SIGUSR1) == 0 && usleep(100) == 0 && calls == 2);
	CHECK(sem_post(&unit) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(outcome == 0);
	CHECK(pthread_kill(thread, SIGUSR1) == ESRCH);
	CHECK(pthread_kill(pthread_self(), 64) == EINVAL);
	CHECK(mq_close(queue) == 0 && mq_unlink("/signal") == 0 && sem_destroy(&unit) == 0);
}

static void *suspends(void *argument)
{
	sigset_t set;

	(void)argument;
	sigfillset(&set);
	sigdelset(&set, SIGUSR1);
	outcome = sigsuspend(&set);
	number = errno;
	return NULL;
}

static void suspended(void)
{
	sigset_t set = only(SIGUSR1), now;
	pthread_t thread;

	handle(SIGUSR1, 0);
	CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	CHECK(pthread_create(&thread, NULL, suspends, NULL) == 0 && usleep(100) == 0);
	CHECK(kill(getpid(), SIGUSR1) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(outcome == -1 && number == EINTR && calls == 1 && pthread_equal(caller, thread));
	/* A pending signal ends the wait at once, and is blocked again afterwards. */
	CHECK(raise(SIGUSR1) == 0);
	sigemptyset(&now);
	CHECK_ERRNO(sigsuspend(&now), EINTR);
	CHECK(calls == 2);
	CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, SIGUSR1) == 1);
	CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
}

static pthread_t less_urgent(void *(*start)(void *), void *argument)
{
	pthread_attr_t attributes;
	struct sched_param parameters = {.sched_priority = 5};
	pthread_t thread;

	CHECK(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED) == 0);
	CHECK(pthread_attr_setschedparam(&attributes, &parameters) == 0);
	CHECK(pthread_create(&thread, &attributes, start, argument) == 0);
	return thread;
}

static void *suspends_late(void *lag)
{
	for (volatile size_t i = 0; i < (size_t)lag; i++)
		;
	return suspends(NULL);
}

/* The signal arrives after, during and before the call; a second one ends the wait if it is lost. */
static void suspended_late(void)
{
	sigset_t set = only(SIGUSR1);

	handle(SIGUSR1, 0);
	CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	for (size_t lag = 0; lag < 1500; lag++) {
		outcome = 0;
		pthread_t thread = less_urgent(suspends_late, (void *)lag);
		CHECK(usleep(5) == 0 && pthread_kill(thread, SIGUSR1) == 0);
		for (int i = 0; i < 100 && outcome != -1; i++)
			CHECK(usleep(200) == 0);
		CHECK(outcome == -1 || pthread_kill(thread, SIGUSR1) != 0);
		CHECK(pthread_join(thread, NULL) == 0);
	}
	CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
}

static volatile int stop;

static void stops(int signal)
{
	stop = signal;
}

static void *spins(void *argument)
{
	(void)argument;
	while (!stop)
		;
	return NULL;
}

/* A thread that never blocks runs the handler after a preemption. */
static void computing(void)
{
	struct sigaction action = {.sa_handler = stops};
	pthread_t thread;

	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	thread = less_urgent(spins, NULL);
	CHECK(usleep(1000) == 0);
	CHECK(pthread_kill(thread, SIGUSR1) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(stop == SIGUSR1);
}

static const struct test tests[] = {
	{"sets", sets},
	{"actions", actions},
	{"blocked", blocked},
	{"realtime", realtime},
	{"accepted", accepted},
	{"others accept", others_accept},
	{"interrupted", interrupted},
	{"suspended", suspended},
	{"suspended late", suspended_late},
	{"computing", computing},
	{NULL, NULL},
};

const struct suite signal_suite = {"signal", tests};
