/* System calls and signals case by case: the output must be the same attached and detached. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <tenon/detach.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t seen;
static volatile double spoiled;
static sigjmp_buf back;

static void count(int signal)
{
	/* A handler's floating-point state is separate from the program's. */
	spoiled = signal * 3.5;
	seen++;
}

static void on(int signal, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(signal, &action, NULL);
}

static void timer(long us, long every)
{
	struct itimerval value = { { 0, every }, { 0, us } };

	setitimer(ITIMER_REAL, &value, NULL);
}

/* Spins without a system call until this number of signals, with a floating-point sum. */
static void signals(void)
{
	double sum = 0, step = 0.5;
	long i = 0;

	on(SIGALRM, count, SA_RESTART);
	timer(1000, 1000);
	while (seen < 200) {
		sum += step;
		i++;
	}
	timer(0, 0);
	printf("signals: sum %s\n", sum == i * 0.5 ? "right" : "WRONG");
}

static void interrupted(void)
{
	struct timespec time = { 5, 0 };
	int ends[2], result;
	char byte = 'x';

	on(SIGALRM, count, 0);
	timer(20000, 0);
	result = nanosleep(&time, &time);
	printf("interrupted: %d %s\n", result, strerror(errno));
	if (pipe(ends))
		exit(1);
	on(SIGALRM, count, SA_RESTART);
	timer(20000, 0);
	if (!fork()) {
		usleep(100000);
		exit(write(ends[1], &byte, 1) != 1);
	}
	result = read(ends[0], &byte, 1);
	wait(NULL);
	printf("restarted: %d, %d signals\n", result, seen);
}

static void *stack_of_handler;

static void caught(int signal, siginfo_t *info, void *context)
{
	static int count;
	char here;
	int on_it = &here > (char *)stack_of_handler && &here < (char *)stack_of_handler + 65536;

	(void)context;
	printf("caught: %d code %d at %p%s\n", signal, info->si_code, info->si_addr,
	       on_it ? ", on its stack" : "");
	if (++count > 20)
		_exit(1);
	siglongjmp(back, 1);
}

static void faults(void)
{
	struct sigaction action = { .sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t stack = { .ss_size = 65536 };
	char *area = mmap((void *)0x10000000, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int *code = mmap((void *)0x20000000, 4096, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	stack_of_handler = stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGILL, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
	if (!sigsetjmp(back, 1))
		*(volatile char *)0x5008 = 1;
	if (!sigsetjmp(back, 1))
		*(volatile char *)(area + 8) = 1;
	if (!sigsetjmp(back, 1))
		*(volatile long *)0xffff000000001000 = 1;
	if (!sigsetjmp(back, 1))
		((void (*)(void))0x6000)();
	code[0] = 0xd65f03c0;
	if (!sigsetjmp(back, 1))
		((void (*)(void))code)();
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
	__builtin___clear_cache((char *)code, (char *)code + 4);
	((void (*)(void))code)();
	if (!sigsetjmp(back, 1))
		__asm__ volatile("udf #7");
	if (!sigsetjmp(back, 1))
		__asm__ volatile("brk #9");
	if (!sigsetjmp(back, 1))
		__asm__ volatile("br %0" : : "r"(0x20000002));
	printf("faults: over\n");
	fflush(stdout);
	if (!fork()) {
		signal(SIGSEGV, SIG_DFL);
		*(volatile char *)0x5008 = 1;
	}
	int status;
	wait(&status);
	printf("faults: child ended by %d\n", WTERMSIG(status));
}

/* Spins without a system call until a debugger ends it. */
static void spin(void)
{
	static volatile long end;
	volatile double value = 1.25;

	printf("%p\n", (void *)&end);
	while (!end)
		value = value * 2 - 1.25;
	printf("spun: %s\n", value == 1.25 ? "right" : "WRONG");
}

/* Many short calls, so that a kill hits any state. */
static void calls(void)
{
	for (;;)
		if (syscall(SYS_getppid) < 0)
			exit(1);
}

/* Many page faults: each page is new. */
static void touch(void)
{
	for (;;) {
		char *area = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (long at = 0; at < 1 << 20; at += 4096)
			area[at] = 1;
		munmap(area, 1 << 20);
	}
}

static char *shared;
static volatile int stage, stopped;

static void reader_out(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

static void *changer(void *argument)
{
	(void)argument;
	while (stage != 1)
		;
	usleep(1000);
	mprotect(shared, 4096, PROT_NONE);
	while (stage != 2)
		usleep(100);
	mprotect(shared, 4096, PROT_READ | PROT_WRITE);
	shared[0] = 7;
	stage = 3;
	while (stage != 4)
		;
	usleep(1000);
	munmap(shared, 4096);
	while (stage != 5)
		usleep(100);
	mmap(shared, 4096, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	shared[0] = 9;
	stage = 6;
	return NULL;
}

/* Another thread unmaps a page while this one reads it without a system call. */
static void memory(void)
{
	pthread_t thread;
	int round;

	on(SIGSEGV, reader_out, SA_NODEFER);
	for (round = 0; round < 20; round++) {
		shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		shared[0] = 1;
		stage = 0;
		pthread_create(&thread, NULL, changer, NULL);
		if (!sigsetjmp(back, 1)) {
			stage = 1;
			for (;;)
				*(volatile char *)shared;
		}
		stage = 2;
		while (stage != 3)
			;
		if (shared[0] != 7)
			printf("memory: WRONG\n");
		if (!sigsetjmp(back, 1)) {
			stage = 4;
			for (;;)
				*(volatile char *)shared;
		}
		stage = 5;
		while (stage != 6)
			;
		if (shared[0] != 9)
			printf("memory: WRONG\n");
		pthread_join(thread, NULL);
		munmap(shared, 4096);
	}
	printf("memory: %d rounds\n", round);
}

static void family(char **arguments)
{
	int i, status, sum = 0;

	for (i = 0; i < 10; i++) {
		pid_t child = fork();

		if (!child)
			_exit(i);
		waitpid(child, &status, 0);
		sum += WEXITSTATUS(status);
	}
	printf("family: %d\n", sum);
	fflush(stdout);
	if (!vfork()) {
		execl("/bin/busybox", "busybox", "echo", "family: vforked", NULL);
		_exit(1);
	}
	wait(NULL);
	arguments[1] = "last";
	execv("/proc/self/exe", arguments);
}

static void restricted(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 77),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, filter };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	printf("restricted: %ld", syscall(SYS_getppid));
	printf(" %d\n", errno);
	printf("unknown: %ld", syscall(0x7e0));
	printf(" %d\n", errno);
}

static void *adds(void *sum)
{
	int i;

	for (i = 0; i < 100000; i++)
		__atomic_fetch_add((long *)sum, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void threads(void)
{
	pthread_t thread[4];
	long sum = 0;
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, adds, &sum);
	adds(&sum);
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	printf("threads: %ld\n", sum);
}

/* Absolute sleeps, by Linux's clock or without Linux, with moves between Linux and the core. */
static void waits(void)
{
	uint64_t next = tenon_now();
	int i, early = 0;

	for (i = 0; i < 20; i++) {
		next += 2000000;
		tenon_wait_until(next);
		early += tenon_now() < next;
	}
	printf("waits: %d early\n", early);
	tenon_attach();
	printf("waits: attached, %s\n", tenon_attach() ? strerror(errno) : "WRONG");
	do
		i = tenon_detach(3);
	while (i && errno == EBUSY);
	printf("waits: detached, %d\n", i);
	tenon_wait_until(tenon_now() + 1000000);
	printf("waits: %s\n", tenon_detach(3) ? strerror(errno) : "WRONG");
}

/* Another thread executes another program in this process; "heir": a detached one. */
static void *becomes(void *arguments)
{
	char **all = arguments;

	if (!strcmp(all[1], "heir") && tenon_detach(-1))
		exit(1);
	all[1] = all[2] ? all[2] : "last";
	execv("/proc/self/exe", all);
	return NULL;
}

static void takeover(char **arguments)
{
	int spins = strcmp(arguments[1], "heir");
	pthread_t thread;

	pthread_create(&thread, NULL, becomes, arguments);
	for (;;)
		if (!spins)
			pause();
}

int main(int number, char **arguments)
{
	const char *name = number > 1 ? arguments[1] : "";

	setvbuf(stdout, NULL, _IONBF, 0);
	if (!strcmp(name, "signals"))
		signals();
	else if (!strcmp(name, "interrupted"))
		interrupted();
	else if (!strcmp(name, "faults"))
		faults();
	else if (!strcmp(name, "spin"))
		spin();
	else if (!strcmp(name, "calls"))
		calls();
	else if (!strcmp(name, "touch"))
		touch();
	else if (!strcmp(name, "memory"))
		memory();
	else if (!strcmp(name, "family"))
		family(arguments);
	else if (!strcmp(name, "restricted"))
		restricted();
	else if (!strcmp(name, "threads"))
		threads();
	else if (!strcmp(name, "waits"))
		waits();
	else if (!strcmp(name, "takeover") || !strcmp(name, "heir"))
		takeover(arguments);
	else if (!strcmp(name, "last"))
		printf("last: %d arguments\n", number);
	else
		return 2;
	return 0;
}
