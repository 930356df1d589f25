#include "common.h"

/* Handlers. */

static void nested(int signal)
{
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	printf("in %d: %d %d", signal, sigismember(&mask, signal), sigismember(&mask, SIGUSR2));
	if (signal == SIGUSR1 && count++ < 2)
		raise(SIGUSR1);
	printf(".\n");
}

static void on_stack(int signal)
{
	char here;
	stack_t state;

	(void)signal;
	sigaltstack(NULL, &state);
	printf("on the stack: %d %d", &here >= stack && &here < stack + sizeof stack,
	       state.ss_flags == SS_ONSTACK);
	state.ss_flags = SS_DISABLE;
	printf(" %s\n", result(sigaltstack(&state, NULL)));
}

void handlers(void)
{
	struct sigaction action = {.sa_handler = nested}, before;
	sigset_t set, pending;
	stack_t state = {.ss_sp = stack, .ss_size = sizeof stack};

	sigaction(SIGUSR1, &action, NULL);
	reset();
	raise(SIGUSR1);
	sigaddset(&action.sa_mask, SIGUSR2);
	action.sa_flags = SA_NODEFER | SA_RESETHAND;
	sigaction(SIGUSR1, &action, NULL);
	count = 9;
	raise(SIGUSR1);
	sigaction(SIGUSR1, NULL, &before);
	printf("reset: %d %x\n", before.sa_handler == SIG_DFL, (unsigned)before.sa_flags);
	action.sa_handler = SIG_IGN;
	printf("kill handled: %s %s\n", result(sigaction(SIGKILL, &action, NULL)),
	       result(sigaction(SIGSTOP, &action, NULL)));
	printf("no signal: %s\n", result(sigaction(65, &action, NULL)));
	printf("no signal to kill: %s %s\n", result(kill(getpid(), 65)), result(kill(getpid(), -1)));

	reset();
	handle(SIGUSR1, plain, 0);
	handle(SIGUSR2, plain, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGKILL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR2);
	raise(SIGUSR1);
	raise(SIGUSR1);
	sigpending(&pending);
	printf("blocked: %d, pending: %d %d\n", count, sigismember(&pending, SIGUSR1),
	       sigismember(&pending, SIGUSR2));
	sigprocmask(SIG_BLOCK, NULL, &pending);
	printf("kill is not: %d\n", sigismember(&pending, SIGKILL));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	printf("delivered: %d, last first: %d %d\n", count, order[0], order[1]);

	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR1);
	handle(SIGUSR1, SIG_IGN, 0);
	sigpending(&pending);
	printf("ignored: %d\n", sigismember(&pending, SIGUSR1));
	sigprocmask(SIG_UNBLOCK, &set, NULL);

	printf("a small stack: %s\n", result(sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = 64}, NULL)));
	printf("a stack: %s\n", result(sigaltstack(&state, NULL)));
	handle(SIGUSR1, on_stack, SA_ONSTACK);
	raise(SIGUSR1);
	sigaltstack(NULL, &state);
	printf("after it: %d\n", state.ss_flags);
	handle(SIGUSR1, SIG_DFL, 0);
	handle(SIGUSR2, SIG_DFL, 0);
}

/* Real-time signals. */

void real_time(void)
{
	union sigval sent = {.sival_int = 1};
	sigset_t set;
	siginfo_t info;
	struct timespec time = {0, 0};
	int first = SIGRTMIN + 1, most = 0;

	reset();
	sigemptyset(&set);
	sigaddset(&set, first);
	sigaddset(&set, first + 1);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (sent.sival_int = 1; sent.sival_int < 4; sent.sival_int++) {
		sigqueue(getpid(), first + 1, sent);
		sigqueue(getpid(), first, sent);
		sigqueue(getpid(), SIGUSR1, sent);
	}
	for (int taken; (taken = sigtimedwait(&set, &info, &time)) > 0;)
		printf("taken: %d %d %d %d\n", taken == SIGUSR1 ? 0 : taken - first + 1,
		       info.si_value.sival_int, info.si_code, info.si_pid == getpid());
	printf("none: error %d\n", errno);
	time.tv_nsec = 20 * MS;
	printf("none in time: %s\n", result(sigtimedwait(&set, &info, &time)));
	time.tv_nsec = 1000 * MS;
	printf("no time: %s\n", result(sigtimedwait(&set, &info, &time)));
	while (most < 32 && sigqueue(getpid(), first, sent) == 0)
		most++;
	printf("queued: %d\n", most);
	time.tv_nsec = 0;
	while (sigtimedwait(&set, &info, &time) > 0)
		most--;
	printf("left: %d\n", most);
	handle_informed(first, 0);
	sent.sival_int = 77;
	sigqueue(getpid(), first, sent);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	printf("handled: %d %d %d\n", count, value, code);
	kill(getpid(), first);
	printf("by kill: %d %d %d\n", count, code, sender == getpid());
	info = (siginfo_t){.si_code = SI_USER, .si_signo = first};
	printf("as another: %s\n", result(syscall(SYS_rt_sigqueueinfo, getppid(), first, &info)));
}

/* Interrupted calls. */

static void sends_later(void)
{
	nap(30);
	kill(getppid(), SIGUSR1);
	nap(30);
}

static void writes_later(void)
{
	nap(30);
	kill(getppid(), SIGUSR1);
	nap(30);
	write(ready[1], "x", 1);
}

static void stops_parent(void)
{
	nap(20);
	kill(getppid(), SIGSTOP);
	nap(20);
	kill(getppid(), SIGCONT);
}

void interrupted(void)
{
	struct timespec time = {1, 0}, rest = {0, 0}, begin, end;
	struct pollfd poll_one = {.events = POLLIN};
	sigset_t empty, blocked;
	char byte;
	int status, word = 0;
	pid_t pid;
	long ms;

	handle(SIGUSR1, plain, 0);
	reset();
	pid = child(sends_later);
	printf("sleep: %s", result(nanosleep(&time, &rest)));
	printf(" %d %d\n", count, rest.tv_sec == 0 && rest.tv_nsec > 900 * MS);
	waitpid(pid, NULL, 0);

	handle(SIGUSR1, plain, SA_RESTART);
	pid = child(sends_later);
	printf("sleep, to restart: %s\n", result(nanosleep(&time, NULL)));
	waitpid(pid, NULL, 0);

	clock_gettime(CLOCK_MONOTONIC, &begin);
	time = begin;
	time.tv_sec++;
	pid = child(sends_later);
	printf("until a time: %d\n",
	       clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL));
	waitpid(pid, NULL, 0);

	pipe(ready);
	pid = child(writes_later);
	reset();
	printf("read, to restart: %s", result(read(ready[0], &byte, 1)));
	printf(" %d\n", count);
	waitpid(pid, NULL, 0);
	handle(SIGUSR1, plain, 0);
	pid = child(writes_later);
	printf("read: %s\n", result(read(ready[0], &byte, 1)));
	waitpid(pid, NULL, 0);
	read(ready[0], &byte, 1);

	poll_one.fd = ready[0];
	pid = child(sends_later);
	printf("poll: %s\n", result(poll(&poll_one, 1, 1000)));
	waitpid(pid, NULL, 0);
	handle(SIGUSR1, plain, SA_RESTART);
	pid = child(sends_later);
	printf("poll, to restart: %s\n", result(poll(&poll_one, 1, -1)));
	waitpid(pid, NULL, 0);
	pid = child(sends_later);
	printf("select: %s\n", result(select(0, NULL, NULL, NULL, NULL)));
	waitpid(pid, NULL, 0);

	pid = child(sends_later);
	reset();
	printf("wait, to restart: %s", result(waitpid(pid, &status, 0) == pid));
	printf(" %d\n", count);
	handle(SIGUSR1, plain, 0);
	pid = child(sends_later);
	printf("wait: %s\n", result(waitpid(pid, &status, 0)));
	waitpid(pid, NULL, 0);

	pid = child(sends_later);
	printf("futex: %s\n", result(syscall(SYS_futex, &word, 0, 0, NULL)));
	waitpid(pid, NULL, 0);
	handle(SIGUSR1, plain, SA_RESTART);
	time = (struct timespec){0, 100 * MS};
	pid = child(sends_later);
	printf("futex with a time: %s\n", result(syscall(SYS_futex, &word, 0, 0, &time)));
	waitpid(pid, NULL, 0);

	sigemptyset(&empty);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	reset();
	raise(SIGUSR1);
	printf("suspend: %s", result(sigsuspend(&empty)));
	sigprocmask(SIG_BLOCK, NULL, &empty);
	printf(" %d %d\n", count, sigismember(&empty, SIGUSR1));
	sigemptyset(&empty);
	raise(SIGUSR1);
	time = (struct timespec){1, 0};
	printf("ppoll: %s", result(ppoll(&poll_one, 1, &time, &empty)));
	printf(" %d\n", count);
	raise(SIGUSR1);
	write(ready[1], "x", 1);
	printf("ppoll, ready: %s", result(ppoll(&poll_one, 1, &time, &empty)));
	printf(" %d\n", count);
	read(ready[0], &byte, 1);
	printf("pselect: %s", result(pselect(0, NULL, NULL, NULL, &time, &empty)));
	printf(" %d\n", count);
	sigprocmask(SIG_UNBLOCK, &blocked, NULL);

	clock_gettime(CLOCK_MONOTONIC, &begin);
	pid = child(stops_parent);
	time = (struct timespec){0, 100 * MS};
	printf("sleep over a stop: %s", result(nanosleep(&time, NULL)));
	clock_gettime(CLOCK_MONOTONIC, &end);
	ms = (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / MS;
	printf(" %d\n", ms >= 100 && ms < 118);
	waitpid(pid, NULL, 0);
	handle(SIGUSR1, SIG_DFL, 0);
	close(ready[0]);
	close(ready[1]);
}
