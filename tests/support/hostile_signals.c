/*
 * A program without a library that attacks the system by signals, one process for each attack. The
 * first process collects all of them, and prints how each ended.
 */
#include "attack.h"
#include "objects.h"

enum { EXECVE = 221, GETPID = 172, GETTID = 178, KILL = 129 };
enum { TGKILL = 131, SIGACTION = 134, SIGPROCMASK = 135, SIGQUEUE = 138, SIGRETURN = 139 };
enum { SIGSUSPEND = 133, SIGALTSTACK = 132, SETPGID = 154, YIELD = 124 };
enum { NANOSLEEP = 101, MMAP = 222, SIGTIMEDWAIT = 137, SETITIMER = 103, TIMER_CREATE = 107 };
enum { TIMER_SETTIME = 110, TIMER_DELETE = 111, PIPE = 59, READ = 63, WRITE = 64, CLOSE = 57 };
enum { SIGUSR1 = 10, SIGKILL = 9, SIGSEGV = 11, SIGSTOP = 19, SIGCONT = 18 };
enum { SA_SIGINFO = 4, SA_RESTART = 0x10000000, SA_NODEFER = 0x40000000 };

struct action {
	void (*handler)(int);
	word flags;
	word restorer;
	word mask;
};

static word state = 88172645463325252UL;

static word next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static long wait(long number, unsigned *status)
{
	return call(WAIT, number, (word)status, 0, 0, 0, 0);
}

static long kill(long number, int signal)
{
	return call(KILL, number, signal, 0, 0, 0, 0);
}

static void nap(word microseconds)
{
	word time[2] = { 0, microseconds * 1000 };

	call(NANOSLEEP, (word)time, 0, 0, 0, 0, 0);
}

static void handle(int signal, void (*handler)(int), word flags)
{
	struct action action = { handler, flags, 0, 0 };

	call(SIGACTION, signal, (word)&action, 0, 8, 0, 0);
}

/* The program itself, which ends at once with a second argument. */
static const char *const arguments[] = { "/signals", "again", 0 };

static volatile int count;

static void counts(int signal)
{
	(void)signal;
	count++;
}

/* Signals at each other, without a pause. */
static void storm(void)
{
	long parent = call(GETPID, 0, 0, 0, 0, 0, 0), child;

	handle(SIGUSR1, counts, SA_RESTART);
	child = fork();
	if (child == 0) {
		for (int index = 0; index < 400; index++)
			kill(parent, SIGUSR1);
		exit(0);
	}
	for (int index = 0; index < 400; index++)
		kill(child, SIGUSR1);
	wait(child, 0);
	exit(count == 0);
}

/* A handler that its own signal interrupts, until the stack ends. */
static void again(int signal)
{
	count++;
	kill(call(GETPID, 0, 0, 0, 0, 0, 0), signal);
}

static void nests(void)
{
	handle(SIGUSR1, again, SA_NODEFER);
	again(SIGUSR1);
	exit(1);
}

/* More queued signals than there is room for. */
static void queues(void)
{
	long own = call(GETPID, 0, 0, 0, 0, 0, 0);
	word mask = -1UL, number = 0;
	int info[32] = { 40, 0, -1 };

	call(SIGPROCMASK, 2, (word)&mask, 0, 8, 0, 0);
	while (call(SIGQUEUE, own, 40, (word)info, 0, 0, 0) == 0)
		number++;
	exit(number < 32 || number > 100000);
}

/* Frames of random bytes, and changed ones. */
static void returns(void)
{
	static word frame[600] __attribute__((aligned(16)));

	for (int index = 0; index < 600; index++)
		frame[index] = next();
	__asm__ volatile("mov sp, %0\nmov x8, #139\nsvc #0" : : "r"(frame) : "x8", "memory");
	exit(1);
}

static void changes_frame(int signal, word *info, word *context)
{
	word place = next() % 600;

	(void)signal;
	/* The words of the registers and behind them, but the stack pointer and the next instruction. */
	if (place == 54 || place == 55)
		place = 56;
	context[place] = next();
	info[next() % 16] = next();
}

static void changes(void)
{
	unsigned status;

	handle(SIGUSR1, (void (*)(int))(word)changes_frame, SA_SIGINFO);
	for (int index = 0; index < 60; index++) {
		next();
		long child = fork();

		if (child == 0) {
			kill(call(GETPID, 0, 0, 0, 0, 0, 0), SIGUSR1);
			exit(0);
		}
		wait(child, &status);
	}
	exit(0);
}

/* PSTATE of the kernel in a frame. */
static void raises_level(int signal, word *info, word *context)
{
	(void)signal;
	(void)info;
	/* EL1 with SP_EL1. */
	context[56] = 5;
}

static void to_el1(void)
{
	handle(SIGUSR1, (void (*)(int))(word)raises_level, SA_SIGINFO);
	kill(call(GETPID, 0, 0, 0, 0, 0, 0), SIGUSR1);
	exit(1);
}

/* Children that are made while their group is killed. */
static void escapes(void)
{
	long leader;
	unsigned status;

	for (int index = 0; index < 20; index++) {
		leader = fork();
		if (leader == 0) {
			call(SETPGID, 0, 0, 0, 0, 0, 0);
			for (;;)
				if (fork() == 0)
					for (;;)
						nap(100);
		}
		call(SETPGID, leader, leader, 0, 0, 0, 0);
		nap(300 + next() % 900);
		kill(-leader, SIGKILL);
		wait(leader, &status);
		/* None of the group is left, but those that end. */
		for (int look = 0; kill(-leader, 0) == 0; look++) {
			nap(500);
			if (look == 200)
				exit(1);
		}
	}
	exit(0);
}

/* A program that is replaced while it is killed. */
static void replaced(void)
{
	unsigned status;

	for (int index = 0; index < 30; index++) {
		long child = fork();

		if (child == 0) {
			call(EXECVE, (word)arguments[0], (word)arguments, 0, 0, 0, 0);
			exit(9);
		}
		nap(next() % 600);
		kill(child, SIGSTOP);
		if (next() & 1)
			kill(child, SIGCONT);
		kill(child, SIGKILL);
		wait(child, &status);
		if ((status & 0x7f) != SIGKILL && status >> 8 != 0)
			exit(1);
	}
	exit(0);
}

static char stacks[4][16384] __attribute__((aligned(16)));
static volatile int ended;

static long thread(void (*body)(void), char *stack)
{
	register word x8 __asm__("x8") = CLONE;
	register word x0 __asm__("x0") = 0x10f00;
	register word x1 __asm__("x1") = (word)stack;

	__asm__ volatile("svc 0\n"
			 "cbnz x0, 1f\n"
			 "blr %3\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(body)
			 : "x2", "x3", "x4", "x30", "memory");
	return x0;
}

static void sends(void)
{
	long own = call(GETPID, 0, 0, 0, 0, 0, 0);

	while (!ended)
		kill(own, SIGUSR1);
	call(EXIT, 0, 0, 0, 0, 0, 0);
}

/* A program that is replaced while its threads get signals. */
static void threads(void)
{
	handle(SIGUSR1, counts, SA_RESTART);
	for (int index = 0; index < 3; index++)
		thread(sends, stacks[index + 1]);
	while (count < 3)
		call(YIELD, 0, 0, 0, 0, 0, 0);
	handle(SIGUSR1, (void (*)(int))1, 0);
	call(EXECVE, (word)arguments[0], (word)arguments, 0, 0, 0, 0);
	exit(9);
}

/* A process that stops and continues others in turn. */
static void stops(void)
{
	long child = fork();
	unsigned status;

	if (child == 0)
		for (;;)
			nap(50);
	for (int index = 0; index < 200; index++)
		kill(child, index & 1 ? SIGCONT : SIGSTOP);
	kill(child, SIGSTOP);
	kill(child, SIGKILL);
	wait(child, &status);
	exit((status & 0x7f) != SIGKILL);
}

/* Calls of signals with random arguments. */
static void call_at_random(void)
{
	static const short numbers[] = { 103, 107, 108, 109, 110, 111, 132, 134, 135, 136, 137, 154, 155 };
	word places[] = { 0, 1, 8, 4096, 0x40080000, 0x400000, -1UL, 1UL << 63, (word)&places };

	for (int index = 0; index < 4000; index++) {
		word arguments[4];

		for (int place = 0; place < 4; place++) {
			word random = next();

			arguments[place] = random & 1 ? places[random / 2 % 9] : random >> (random / 2 % 64);
		}
		long number = numbers[next() % 13];

		/* A wait that has no end. */
		if (number == SIGTIMEDWAIT && arguments[2] == 0)
			continue;
		if (number == SIGTIMEDWAIT)
			arguments[2] = 0x40080000;
		call(number, arguments[0], arguments[1], arguments[2], arguments[3], 0, 0);
	}
	exit(0);
}

/* Signals that end the first process. */
static void first(void)
{
	for (int signal = 1; signal < 65; signal++)
		kill(1, signal);
	exit(0);
}

static const struct attack attacks[] = {
	{ "send without end", storm },
	{ "nest without end", nests },
	{ "queue without end", queues },
	{ "return to random bytes", returns },
	{ "change frames", changes },
	{ "return to the kernel", to_el1 },
	{ "escape from a group", escapes },
	{ "end at execve", replaced },
	{ "execve among signals", threads },
	{ "stop and continue", stops },
	{ "call at random", call_at_random },
	{ "end the first process", first },
};

static void run(word number)
{
	word before = 0;

	if (number > 1)
		exit(0);
	for (word place = 0; place < sizeof(attacks) / sizeof(attacks[0]); place++) {
		run_attack(&attacks[place]);
		print("\n");
		if (place == 0)
			before = free_memory();
	}
	wait_all();
	remove_all_objects();
	print("lost: ");
	print_number(before - free_memory());
	print("\n");
	exit(0);
}

void begin(word *stack)
{
	run(stack[0]);
}

__asm__(".global _start\n_start: mov x0, sp\nb begin\n");
