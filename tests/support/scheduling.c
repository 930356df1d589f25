/*
 * Scheduling as it takes place: shares by nice values, the order of priorities, inheritance by locks,
 * and processes of the highest priority that loop. Without a library; it is the first process.
 */
#include "system_call.h"

enum { EXIT = 93, NANOSLEEP = 101, CLOCK = 113, SET = 119, YIELD = 124, KILL = 129 };
enum { CLOCK_SLEEP = 115, SET_ATTRIBUTES = 274 };
enum { READ = 63, TIMERFD_CREATE = 85, TIMERFD_SET = 86 };
enum { SETITIMER = 103, TIMER_CREATE = 107, TIMER_SET = 110, SIGACTION = 134, SIGPROCMASK = 135 };
enum { SIGTIMEDWAIT = 137, SIGALRM = 14 };
enum { NICE = 140, CLONE = 220, MMAP = 222, WAIT = 260, SIGCHLD = 17, SIGKILL = 9 };
enum { OTHER = 0, FIFO = 1, ROUND_ROBIN = 2, IDLE = 5, DEADLINE = 6 };
enum { CHILDREN = 3 };

static volatile word *shared;

static void number(const char *text, long value)
{
	print(text);
	print_number(value);
	print("\n");
}

static word time_of(long clock)
{
	word time[2];

	call(CLOCK, clock, (word)time, 0, 0, 0, 0);
	return time[0] * 1000000000 + time[1];
}

static word now(void)
{
	return time_of(1);
}

static void sleep(word milliseconds)
{
	word time[2] = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

	call(NANOSLEEP, (word)time, 0, 0, 0, 0, 0);
}

static long set(int policy, int priority)
{
	return call(SET, 0, policy, (word)&priority, 0, 0, 0);
}

/* Reserves microseconds of each period, which is the deadline. */
static long reserve(word runtime, word period)
{
	struct {
		unsigned size, policy;
		word flags, other, runtime, deadline, period;
	} wanted = { 48, DEADLINE, 0, 0, runtime * 1000, period * 1000, period * 1000 };

	return call(SET_ATTRIBUTES, 0, (word)&wanted, 0, 0, 0, 0);
}

static long fork(void)
{
	return call(CLONE, SIGCHLD, 0, 0, 0, 0, 0);
}

static void end(long child)
{
	call(KILL, child, SIGKILL, 0, 0, 0, 0);
	call(WAIT, child, 0, 0, 0, 0, 0);
}

/* Counts in a word that processes share. */
static void count(int index)
{
	for (;;)
		shared[index]++;
}

/* Shares of children that loop for a time, with policies and nice values. */
static void share(const char *name, const int (*kinds)[2], int children, word milliseconds)
{
	long child[CHILDREN];
	word sum = 0;

	set(FIFO, 50);
	for (int index = 0; index < children; index++) {
		shared[index] = 0;
		child[index] = fork();
		if (child[index] == 0) {
			call(NICE, 0, 0, kinds[index][1], 0, 0, 0);
			set(kinds[index][0], 0);
			count(index);
		}
	}
	sleep(milliseconds);
	for (int index = 0; index < children; index++)
		end(child[index]);
	set(OTHER, 0);
	for (int index = 0; index < children; index++)
		sum += shared[index];
	print(name);
	for (int index = 0; index < children; index++)
		number(" share of 1000: ", shared[index] * 1000 / sum);
}

/* A more urgent process runs at once when it is ready, a less urgent one only in its absence. */
static void order(void)
{
	long low, high;

	set(FIFO, 50);
	shared[0] = shared[1] = 0;
	low = fork();
	if (low == 0) {
		set(FIFO, 20);
		count(0);
	}
	sleep(2);
	number("the lower one runs: ", shared[0] > 0);
	high = fork();
	if (high == 0) {
		set(FIFO, 21);
		count(1);
	}
	sleep(2);
	shared[2] = shared[0];
	sleep(3);
	number("beside the next priority it runs: ", shared[0] != shared[2]);
	number("the higher one runs: ", shared[1] > 0);
	end(high);
	sleep(2);
	number("it goes on: ", shared[0] != shared[2]);
	end(low);
	set(OTHER, 0);
}

/* Processes of one priority, which they inherit: without slices the first one runs until it blocks. */
static void equal(int policy, const char *name, word milliseconds)
{
	long child[2];

	shared[0] = shared[1] = 0;
	set(policy, 10);
	for (int index = 0; index < 2; index++) {
		child[index] = fork();
		if (child[index] == 0)
			count(index);
	}
	set(FIFO, 50);
	sleep(milliseconds);
	print(name);
	number(": both run: ", shared[0] > 0 && shared[1] > 0);
	end(child[0]);
	end(child[1]);
	set(OTHER, 0);
}

/* The highest priority loops, and hands the core back by its end alone. */
static void hostile(void)
{
	word begun = now();
	long child = fork();

	if (child == 0) {
		set(FIFO, 99);
		while (now() - begun < 20000000)
			;
		call(EXIT, 0, 0, 0, 0, 0, 0);
	}
	call(WAIT, child, 0, 0, 0, 0, 0);
	number("a loop of the highest priority lasted: ", now() - begun >= 20000000);
}

/* A process that wants more than its budget has that, and delays none with an earlier deadline. */
static void deadlines(void)
{
	word next, begun, ran, late = 0;
	long child = fork(), clock = ~child << 3 | 2;

	if (child == 0) {
		reserve(3000, 10000);
		count(0);
	}
	sleep(3);
	number("a budget: ", reserve(1000, 5000));
	begun = next = now();
	ran = time_of(clock);
	for (int job = 0; job < 20; job++) {
		word instant[2] = { (next += 5000000) / 1000000000, next % 1000000000 };

		call(CLOCK_SLEEP, 1, 1, (word)instant, 0, 0, 0);
		if (now() - next > late)
			late = now() - next;
	}
	ran = (time_of(clock) - ran) * 1000 / (now() - begun);
	number("a loop has its budget: ", ran >= 270 && ran <= 310);
	number("jobs beside it are in time: ", late < 20000);
	set(OTHER, 0);
	end(child);
}

/* The time of a descriptor comes to a process above one that loops. */
static void timer(void)
{
	word setting[4] = { 0, 0, 0, 3000000 }, expired = 0, begun, waited;
	long file, low;

	set(FIFO, 50);
	low = fork();
	if (low == 0) {
		set(FIFO, 20);
		count(0);
	}
	file = call(TIMERFD_CREATE, 1, 0, 0, 0, 0, 0);
	begun = now();
	call(TIMERFD_SET, file, 0, (word)setting, 0, 0, 0);
	call(READ, file, (word)&expired, 8, 0, 0, 0);
	waited = now() - begun;
	number("a descriptor's timer beside a loop: ",
	       expired == 1 && waited >= 3000000 && waited < 3100000);
	end(low);
	set(OTHER, 0);
}

/* Alarms come beside a loop of a lower priority, and to a loop of the highest priority itself. */
static void alarms(void)
{
	word setting[4] = { 0, 0, 0, 3000 }, mask = 1UL << (SIGALRM - 1), begun = now(), waited;
	unsigned status = 0;
	long child;

	set(FIFO, 50);
	child = fork();
	if (child == 0) {
		set(FIFO, 20);
		count(0);
	}
	call(SIGPROCMASK, 0, (word)&mask, 0, 8, 0, 0);
	begun = now();
	call(SETITIMER, 0, (word)setting, 0, 0, 0, 0);
	call(SIGTIMEDWAIT, (word)&mask, 0, 0, 8, 0, 0);
	waited = now() - begun;
	number("an alarm beside a loop: ", waited >= 3000000 && waited < 3100000);
	call(SIGPROCMASK, 1, (word)&mask, 0, 8, 0, 0);
	end(child);
	set(OTHER, 0);
	child = fork();
	if (child == 0) {
		set(FIFO, 99);
		begun = now();
		call(SETITIMER, 0, (word)setting, 0, 0, 0, 0);
		while (now() - begun < 30000000)
			;
		call(EXIT, 0, 0, 0, 0, 0, 0);
	}
	call(WAIT, child, (word)&status, 0, 0, 0, 0);
	number("an alarm ends a loop of the highest priority: ", status == SIGALRM);
}

/* The time of some work. */
static word work(void)
{
	word begun = now();

	for (shared[0] = 0; shared[0] < 4000000; shared[0]++)
		;
	return now() - begun;
}

/* Processes with as many short timers as they can have, whose signals they ignore. */
static void flood(void)
{
	word setting[4] = { 0, 1, 0, 1 }, action[4] = { 1 };
	struct {
		word value;
		int signal, kind;
		word rest[6];
	} event = { 0, 40, 0, { 0 } };
	word alone, beside, begun;
	long child[4];
	int timer;

	set(FIFO, 50);
	alone = work();
	for (int index = 0; index < 4; index++) {
		child[index] = fork();
		if (child[index] == 0) {
			call(SIGACTION, 40, (word)action, 0, 8, 0, 0);
			while (call(TIMER_CREATE, 1, (word)&event, (word)&timer, 0, 0, 0) == 0)
				call(TIMER_SET, timer, 0, (word)setting, 0, 0, 0);
			for (;;)
				sleep(1000);
		}
	}
	sleep(100);
	beside = work();
	number("timers of others take less than a tenth: ", (beside - alone) * 10 < beside);
	begun = now();
	setting[1] = 0;
	setting[3] = 3000;
	alone = 1UL << (SIGALRM - 1);
	call(SIGPROCMASK, 0, (word)&alone, 0, 8, 0, 0);
	call(SETITIMER, 0, (word)setting, 0, 0, 0, 0);
	call(SIGTIMEDWAIT, (word)&alone, 0, 0, 8, 0, 0);
	number("an alarm beside them: ", now() - begun < 4000000);
	call(SIGPROCMASK, 1, (word)&alone, 0, 8, 0, 0);
	for (int index = 0; index < 4; index++)
		end(child[index]);
	set(OTHER, 0);
}

/* Processes change their priorities all the time. */
static void restless(void)
{
	long child[CHILDREN];

	for (int index = 0; index < CHILDREN; index++) {
		child[index] = fork();
		for (int step = index; child[index] == 0; step++) {
			set(step & 1 ? FIFO : ROUND_ROBIN, step % 99 + 1);
			call(NICE, 0, 0, step % 40 - 20, 0, 0, 0);
			reserve(10 + step % 90, 100 + step % 400);
			set(step & 2 ? OTHER : IDLE, 0);
			call(YIELD, 0, 0, 0, 0, 0, 0);
		}
	}
	set(FIFO, 99);
	sleep(20);
	for (int index = 0; index < CHILDREN; index++)
		end(child[index]);
	set(OTHER, 0);
	print("changes of priorities: done\n");
}

__asm__(".global _start\n_start: mov x29, xzr\n mov x30, xzr\n b begin\n");

__attribute__((used)) static void begin(void)
{
	static const int alike[][2] = { { OTHER, 0 }, { OTHER, 0 }, { OTHER, 0 } };
	static const int steps[][2] = { { OTHER, 0 }, { OTHER, 5 }, { OTHER, -5 } };
	static const int idle[][2] = { { OTHER, 0 }, { IDLE, 0 } };

	shared = (word *)call(MMAP, 0, 4096, 3, 0x21, -1, 0);
	share("alike\n", alike, 3, 60);
	share("nice values 0, 5, -5\n", steps, 3, 150);
	share("idle\n", idle, 2, 150);
	order();
	equal(FIFO, "fifo", 10);
	equal(ROUND_ROBIN, "round robin", 110);
	hostile();
	timer();
	alarms();
	flood();
	deadlines();
	restless();
	call(EXIT, 0, 0, 0, 0, 0, 0);
}
