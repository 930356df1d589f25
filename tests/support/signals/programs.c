#include "common.h"

/* Orphans and programs. */

static void orphan_stops(void)
{
	setpgid(0, 0);
	raise(SIGTSTP);
}

static void hung_up(int signal)
{
	(void)signal;
	write(ready[1], "h", 1);
}

static void continued(int signal)
{
	(void)signal;
	write(ready[1], "c", 1);
}

static void leaves_stopped(void)
{
	pid_t pid;

	setsid();
	handle(SIGHUP, hung_up, 0);
	handle(SIGCONT, continued, 0);
	pid = child(orphan_stops);
	setpgid(pid, pid);
	waitpid(pid, NULL, WUNTRACED);
	kill(pid, SIGSTOP);
}

static void parent_is_first(void)
{
	if (fork() == 0) {
		while (getppid() != 1)
			nap(1);
		write(ready[1], "1", 1);
		_exit(0);
	}
	_exit(0);
}

void orphans(void)
{
	char text[8] = "";
	pid_t pid;

	pipe(ready);
	pid = child(parent_is_first);
	waitpid(pid, NULL, 0);
	read(ready[0], text, 1);
	printf("an orphan's parent: %s\n", text);
	pid = child(leaves_stopped);
	waitpid(pid, NULL, 0);
	read(ready[0], text, 1);
	read(ready[0], text + 1, 1);
	printf("stopped orphans: %s\n", text);
	close(ready[0]);
	close(ready[1]);
	pipe(ready);
	close(ready[0]);
	handle(SIGPIPE, plain, 0);
	reset();
	printf("no reader: %s", result(write(ready[1], "x", 1)));
	printf(" %d\n", last);
	handle(SIGPIPE, SIG_DFL, 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		write(ready[1], "x", 1);
	printf("by it: %s\n", waited(pid, 0));
	close(ready[1]);
}

void program(void)
{
	sigset_t set;
	pid_t pid;

	handle(SIGUSR1, SIG_IGN, 0);
	handle(SIGUSR2, plain, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		raise(SIGHUP);
		execl("/bin/signals", "signals", "again", NULL);
	}
	printf("the program: %s\n", waited(pid, 0));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int again(void)
{
	struct sigaction one, two;
	sigset_t mask, pending;

	sigaction(SIGUSR1, NULL, &one);
	sigaction(SIGUSR2, NULL, &two);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	sigpending(&pending);
	printf("in a program: %d %d %d %d\n", one.sa_handler == SIG_IGN, two.sa_handler == SIG_DFL,
	       sigismember(&mask, SIGHUP), sigismember(&pending, SIGHUP));
	return 5;
}

/* Timers. */

static void alarmed(void)
{
	struct itimerval time = {{0, 0}, {0, 20000}};

	setitimer(ITIMER_REAL, &time, NULL);
	forever();
}

void timers(void)
{
	struct itimerval real = {{0, 0}, {0, 30000}}, left;
	struct itimerspec time = {{0, 10 * MS}, {0, 10 * MS}}, rest;
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_value.sival_int = 77};
	struct timespec none = {0, 0};
	siginfo_t info;
	sigset_t set;
	timer_t timer, other;
	pid_t pid;

	pid = child(alarmed);
	printf("an alarm: %s\n", waited(pid, 0));
	reset();
	handle_informed(SIGALRM, 0);
	setitimer(ITIMER_REAL, &real, NULL);
	pause();
	printf("handled: %d %d\n", count, code);
	getitimer(ITIMER_REAL, &left);
	printf("over: %ld %ld\n", (long)left.it_value.tv_usec, (long)left.it_interval.tv_usec);
	real.it_interval.tv_usec = real.it_value.tv_usec = 10000;
	setitimer(ITIMER_REAL, &real, NULL);
	reset();
	nap(55);
	memset(&real, 0, sizeof real);
	setitimer(ITIMER_REAL, &real, &left);
	printf("often: %d, left: %d %ld\n", count >= 4 && count <= 6, left.it_value.tv_usec > 0,
	       (long)left.it_interval.tv_usec);
	printf("no timer: %s %s\n", result(setitimer(9, &real, NULL)), result(getitimer(9, &left)));
	real.it_value.tv_usec = 1000000;
	printf("no time: %s\n", result(setitimer(ITIMER_REAL, &real, NULL)));

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	event.sigev_signo = SIGRTMIN;
	printf("a timer: %s\n", result(timer_create(CLOCK_MONOTONIC, &event, &timer)));
	timer_settime(timer, 0, &time, NULL);
	nap(45);
	memset(&info, 0, sizeof info);
	printf("its signal: %d", sigtimedwait(&set, &info, &none) == SIGRTMIN);
	printf(" %d %d %d\n", info.si_code, info.si_value.sival_int,
	       info.si_overrun >= 2 && info.si_overrun <= 4);
	printf("missed: %d\n", timer_getoverrun(timer) == info.si_overrun);
	timer_gettime(timer, &rest);
	printf("left: %d %ld\n", rest.it_value.tv_nsec > 0 && rest.it_value.tv_nsec <= 10 * MS,
	       rest.it_interval.tv_nsec);
	memset(&time, 0, sizeof time);
	printf("stopped: %s", result(timer_settime(timer, 0, &time, &rest)));
	timer_gettime(timer, &rest);
	while (sigtimedwait(&set, &info, &none) > 0)
		;
	printf(" %ld\n", rest.it_value.tv_nsec);
	clock_gettime(CLOCK_MONOTONIC, &time.it_value);
	time.it_value.tv_sec--;
	timer_settime(timer, TIMER_ABSTIME, &time, NULL);
	none.tv_nsec = 100 * MS;
	printf("in the past: %d", sigtimedwait(&set, &info, &none) == SIGRTMIN);
	printf(" %d\n", info.si_overrun);
	event.sigev_notify = SIGEV_NONE;
	printf("without a signal: %s", result(timer_create(CLOCK_REALTIME, &event, &other)));
	time.it_value = (struct timespec){5, 0};
	timer_settime(other, 0, &time, NULL);
	timer_gettime(other, &rest);
	printf(" %ld\n", (long)rest.it_value.tv_sec);
	printf("deleted: %s %s", result(timer_delete(timer)), result(timer_delete(other)));
	printf(" %s\n", result(syscall(SYS_timer_gettime, 1 << 20, &rest)));
	event.sigev_notify = 9;
	printf("no notice: %s", result(timer_create(CLOCK_MONOTONIC, &event, &timer)));
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = 99;
	printf(" %s", result(timer_create(CLOCK_MONOTONIC, &event, &timer)));
	printf(" %s\n", result(timer_create(99, NULL, &timer)));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	handle(SIGALRM, SIG_DFL, 0);
}
