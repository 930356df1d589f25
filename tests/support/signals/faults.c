#include "common.h"

/* Faults. */

static sigjmp_buf back;

static void faulted(int signal, siginfo_t *info, void *context)
{
	ucontext_t *user = context;

	(void)signal;
	code = info->si_code;
	address = info->si_addr;
	sender = user->uc_mcontext.fault_address == (unsigned long)info->si_addr;
	siglongjmp(back, signal);
}

static void skip(int signal, siginfo_t *info, void *context)
{
	ucontext_t *user = context;

	(void)info;
	last = signal;
	code = info->si_code;
	user->uc_mcontext.pc += 4;
	user->uc_mcontext.regs[0] = 42;
}

static void overflow(long depth)
{
	volatile char room[4096];

	room[depth % 4096] = 1;
	if (depth < 1 << 20)
		overflow(depth + room[depth % 4096]);
	room[1] = 0;
}

void faults(void)
{
	struct sigaction action = {.sa_sigaction = faulted, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	stack_t state = {.ss_sp = stack, .ss_size = sizeof stack};
	char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double one = 1.5;
	pid_t pid;

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaltstack(&state, NULL);
	if (!sigsetjmp(back, 1))
		*(volatile char *)8 = 0;
	printf("no page: %d %lx %d\n", code, (unsigned long)address, sender);
	if (!sigsetjmp(back, 1))
		*(volatile char *)(page + 5) = 0;
	printf("a read-only page: %d %d %d\n", code, address == page + 5, sender);
	if (!sigsetjmp(back, 1))
		((void (*)(void))page)();
	printf("data as code: %d %d\n", code, address == page);
	if (!sigsetjmp(back, 1))
		overflow(1);
	printf("no stack: %d\n", code);
	action.sa_sigaction = skip;
	sigaction(SIGILL, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
	register long x0 __asm__("x0") = 1;
	__asm__ volatile("fmov d8, %1\n.inst 0\nfadd d8, d8, d8\nfmov %1, d8"
			 : "+r"(x0), "+r"(one) : : "v8", "memory");
	printf("no instruction: %d %d %ld %g\n", last, code, x0, one);
	x0 = 1;
	__asm__ volatile("brk #0" : "+r"(x0) : : "memory");
	printf("a breakpoint: %d %d %ld\n", last, code, x0);

	handle(SIGSEGV, SIG_IGN, 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		*(volatile char *)8 = 0;
	printf("ignored: %s\n", waited(pid, 0));
	sigaction(SIGSEGV, &action, NULL);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		sigset_t set;

		sigfillset(&set);
		sigprocmask(SIG_BLOCK, &set, NULL);
		*(volatile char *)8 = 0;
	}
	printf("blocked: %s\n", waited(pid, 0));
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		/* A handler without a stack. */
		action.sa_flags = 0;
		sigaction(SIGUSR1, &action, NULL);
		handle(SIGSEGV, SIG_DFL, 0);
		__asm__ volatile("mov x0, %0\nmov x1, #10\nmov x8, #129\nmov x2, #0\nmov sp, x2\nsvc #0"
				 : : "r"((long)getpid()) : "x0", "x1", "x2", "x8", "memory");
	}
	printf("no stack for a handler: %s\n", waited(pid, 0));
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		handle(SIGSEGV, SIG_DFL, 0);
		memset(stack, 0xff, sizeof stack);
		__asm__ volatile("mov sp, %0\nmov x8, #139\nsvc #0" : : "r"(stack) : "x8", "memory");
	}
	printf("a frame that is none: %s\n", waited(pid, 0));
	handle(SIGSEGV, SIG_DFL, 0);
	handle(SIGBUS, SIG_DFL, 0);
	handle(SIGILL, SIG_DFL, 0);
	handle(SIGTRAP, SIG_DFL, 0);
}

/* Threads. */

static volatile pthread_t took;
static volatile int go;

static void takes(int signal)
{
	(void)signal;
	took = pthread_self();
	count++;
}

static void *blocks_all(void *unused)
{
	sigset_t set;

	(void)unused;
	sigfillset(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	go = 1;
	while (go)
		nap(5);
	return NULL;
}

static void *waits_for_signal(void *unused)
{
	sigset_t set;
	int signal = 0;

	(void)unused;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	go = 2;
	sigwait(&set, &signal);
	return (void *)(long)signal;
}

static void many_threads(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, blocks_all, NULL);
	while (!go)
		nap(1);
	raise(SIGSTOP);
	kill(getpid(), SIGTERM);
	nap(1000);
}

void threads(void)
{
	pthread_t thread;
	sigset_t set;
	void *found;
	pid_t pid;

	handle(SIGUSR1, takes, SA_RESTART);
	reset();
	go = 0;
	pthread_create(&thread, NULL, blocks_all, NULL);
	while (!go)
		nap(1);
	kill(getpid(), SIGUSR1);
	printf("the one that does not block: %d %d\n", count, took == pthread_self());
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_kill(thread, SIGUSR1);
	nap(10);
	printf("to one thread: %d\n", count);
	go = 0;
	pthread_join(thread, NULL);
	printf("it is gone: %d\n", count);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);

	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&thread, NULL, waits_for_signal, NULL);
	while (go != 2)
		nap(1);
	nap(5);
	kill(getpid(), SIGUSR2);
	pthread_join(thread, &found);
	printf("a thread waits: %ld\n", (long)found);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	printf("no thread: %s %s %s\n", result(syscall(SYS_tgkill, getpid(), 1 << 20, 0)),
	       result(syscall(SYS_tkill, -1, 0)), result(syscall(SYS_tgkill, getppid(), getpid(), 0)));

	go = 0;
	pid = child(many_threads);
	printf("all stop: %s\n", waited(pid, WUNTRACED));
	kill(pid, SIGCONT);
	printf("all end: %s\n", waited(pid, 0));
	handle(SIGUSR1, SIG_DFL, 0);
}
