/* Reservations of execution time: SCHED_DEADLINE. */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <time.h>

enum { MILLISECOND = 1000000, DEADLINE = 6, RESET = 1, RECLAIM = 2, OVERRUN = 4 };

struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static volatile int overruns;

static void depleted(int number)
{
	overruns += number == SIGXCPU;
}

static long reserve(pid_t pid, uint64_t runtime, uint64_t deadline, uint64_t period, uint64_t flags)
{
	struct attributes wanted = { .size = sizeof(wanted), .policy = DEADLINE, .flags = flags,
				     .runtime = runtime, .deadline = deadline, .period = period };

	return syscall(SYS_sched_setattr, pid, &wanted, 0);
}

static long release(pid_t pid)
{
	struct sched_param none = { 0 };

	return sched_setscheduler(pid, SCHED_OTHER, &none);
}

static void show_attributes(void)
{
	struct attributes now = { 0 };

	show("attributes", syscall(SYS_sched_getattr, 0, &now, sizeof(now), 0));
	printf("policy %u, flags %lu, nice %d, priority %u: %lu %lu %lu\n", now.policy,
	       (unsigned long)now.flags, now.nice, now.priority, (unsigned long)now.runtime,
	       (unsigned long)now.deadline, (unsigned long)now.period);
}

static long long now(int clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void rest(long milliseconds)
{
	struct timespec time = { 0, milliseconds * MILLISECOND };

	nanosleep(&time, NULL);
}

/* What was reserved is free once the share of its period has passed. */
static void settle(void)
{
	rest(250);
}

static pid_t child_of(void (*part)(void))
{
	pid_t child = fork();

	if (child == 0) {
		part();
		_exit(0);
	}
	return child;
}

static void loop(void)
{
	for (;;)
		;
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void values(void)
{
	show("no deadline", reserve(0, MILLISECOND, 0, 0, 0));
	show("nothing", reserve(0, 0, 0, 0, 0));
	show("budget beyond the deadline", reserve(0, 11 * MILLISECOND, 10 * MILLISECOND, 0, 0));
	show("deadline beyond the period", reserve(0, 1000000, 11000000, 10000000, 0));
	show("small budget", reserve(0, 1023, MILLISECOND, 0, 0));
	show("short period", reserve(0, 2000, 99999, 0, 0));
	show("long period", reserve(0, 2000000, 5000000000, 0, 0));
	show("unknown flag", reserve(0, 1000000, 10000000, 0, 0x100));
	show("of none", reserve(4000000, 1000000, 10000000, 0, 0));
	show_attributes();
	show("period of the deadline", reserve(0, 1000000, 10000000, 0, 0));
	show_attributes();
	show("all values", reserve(0, 1000000, 5000000, 20000000, RECLAIM | OVERRUN));
	show_attributes();
	show("policy", sched_getscheduler(0));
	show("highest", sched_get_priority_max(DEADLINE));
	show("fork", fork());
	show("with reset", reserve(0, 1000000, 5000000, 20000000, RESET));
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		show("of the child", sched_getscheduler(0));
		_exit(0);
	}
	waitpid(child, NULL, 0);
	show("other", release(0));
	show_attributes();
	show("user", setuid(1000));
	show("without a privilege", reserve(0, 1000000, 10000000, 0, 0));
}

static void admission(void)
{
	pid_t child[3];

	for (int i = 0; i < 3; i++)
		child[i] = child_of((void (*)(void))pause);
	show("60 %", reserve(child[0], 6000000, 10000000, 0, 0));
	show("30 %", reserve(child[1], 30000000, 50000000, 100000000, 0));
	show("10 %", reserve(child[2], 10000000, 100000000, 0, 0));
	show("5 %", reserve(child[2], 5000000, 100000000, 0, 0));
	show("61 %", reserve(child[0], 6100000, 10000000, 0, 0));
	show("50 %", reserve(child[0], 5000000, 10000000, 0, 0));
	show("15 %", reserve(child[2], 15000000, 100000000, 0, 0));
	show("16 %", reserve(child[2], 16000000, 100000000, 0, 0));
	end(child[1]);
	settle();
	show("45 %", reserve(child[2], 45000000, 100000000, 0, 0));
	end(child[0]);
	settle();
	show("95 %", reserve(child[2], 95000000, 100000000, 0, 0));
	show("96 %", reserve(child[2], 96000000, 100000000, 0, 0));
	end(child[2]);
}

/* Tenths of the time that a process which loops has, with a fifth of it reserved. */
static void share(void)
{
	pid_t child = child_of(loop);
	clockid_t clock;

	clock_getcpuclockid(child, &clock);
	show("a fifth", reserve(child, 20 * MILLISECOND, 100 * MILLISECOND, 0, 0));
	rest(90);
	long long begun = now(CLOCK_MONOTONIC), ran = now(clock);
	rest(300);
	long long taken = now(CLOCK_MONOTONIC) - begun;
	show("tenths", (10 * (now(clock) - ran) + taken / 2) / taken);
	show("it is still", sched_getscheduler(child));
	end(child);
}

static void spin(long milliseconds)
{
	long long until = now(CLOCK_MONOTONIC) + milliseconds * MILLISECOND;

	while (now(CLOCK_MONOTONIC) < until)
		;
}

static void overrun(void)
{
	signal(SIGXCPU, depleted);
	show("without a signal", reserve(0, 5 * MILLISECOND, 20 * MILLISECOND, 0, 0));
	spin(50);
	show("signals", overruns);
	show("with a signal", reserve(0, 5 * MILLISECOND, 20 * MILLISECOND, 0, OVERRUN));
	spin(90);
	show("there are some", overruns > 1 && overruns < 7);
}

/* A thread that yields runs again in the next period. */
static void yield(void)
{
	show("half", reserve(0, 10 * MILLISECOND, 20 * MILLISECOND, 0, 0));
	sched_yield();
	long long begun = now(CLOCK_MONOTONIC);
	for (int i = 0; i < 5; i++)
		sched_yield();
	show("periods", (now(CLOCK_MONOTONIC) - begun + 10 * MILLISECOND) / (20 * MILLISECOND));
}

/* Whether jobs of 10 ms are done in time beside a process that wants more than its budget. */
static void beside(void)
{
	pid_t child = child_of(loop);
	struct timespec next;
	int late = 0;

	show("the loop", reserve(child, 60 * MILLISECOND, 100 * MILLISECOND, 0, 0));
	show("the jobs", reserve(0, 3 * MILLISECOND, 10 * MILLISECOND, 0, 0));
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (int i = 0; i < 25; i++) {
		next.tv_nsec += 10 * MILLISECOND;
		if (next.tv_nsec >= 1000000000)
			next.tv_sec++, next.tv_nsec -= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		late += now(CLOCK_MONOTONIC) - next.tv_sec * 1000000000LL - next.tv_nsec > 500000;
		spin(1);
	}
	show("late", late);
	end(child);
}

int main(void)
{
	apart("values", values);
	apart("admission", admission);
	apart("share", share);
	apart("overrun", overrun);
	settle();
	apart("yield", yield);
	settle();
	apart("beside", beside);
	return 0;
}
