/* Policies, priorities and nice values of threads. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t least, most;
	uint32_t more[4];
};

enum { RESET = 0x40000000, NONE = 4000000, FIRST = 48 };

static long set(int pid, int policy, int priority)
{
	struct sched_param parameter = { priority };

	return syscall(SYS_sched_setscheduler, pid, policy, &parameter);
}

static int priority_of(int pid)
{
	struct sched_param parameter = { -1 };

	sched_getparam(pid, &parameter);
	return parameter.sched_priority;
}

static long set_attributes(struct attributes *attributes)
{
	return syscall(SYS_sched_setattr, 0, attributes, 0);
}

static void show_attributes(void)
{
	struct attributes now = { 0 };

	show("attributes", syscall(SYS_sched_getattr, 0, &now, FIRST, 0));
	printf("size %u, policy %u, flags %lu, nice %d, priority %u\n", now.size, now.policy,
	       (unsigned long)now.flags, now.nice, now.priority);
	fflush(stdout);
}

static void policies(void)
{
	static const int all[] = { 0, 1, 2, 3, 4, 5, 6, 8, 77, -1 };

	for (unsigned index = 0; index < sizeof(all) / sizeof(*all); index++) {
		printf("policy %d\n", all[index]);
		show("highest", sched_get_priority_max(all[index]));
		show("lowest", sched_get_priority_min(all[index]));
		if (all[index] != 6) {
			show("without priority", set(0, all[index], 0));
			show("is", sched_getscheduler(0));
			show("with one", set(0, all[index], 30));
			show("is", sched_getscheduler(0));
			show("priority", priority_of(0));
		}
		set(0, 0, 0);
	}
	show("too high", set(0, SCHED_FIFO, 100));
	show("highest", set(0, SCHED_FIFO, 99));
	show("negative", set(0, SCHED_FIFO, -1));
	show("no parameter", syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, 0));
	show("far parameter", syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, 8));
	show("of none", set(NONE, SCHED_FIFO, 1));
	show("of less than none", set(-5, SCHED_FIFO, 1));
	show("policy of none", sched_getscheduler(NONE));
	show("policy of less than none", sched_getscheduler(-1));
	show("no place", syscall(SYS_sched_getparam, 0, 0));
	show("parameter of none", syscall(SYS_sched_getparam, NONE, 0));
}

static void parameters(void)
{
	struct sched_param parameter = { 0 };

	show("other", sched_setparam(0, &parameter));
	parameter.sched_priority = 5;
	show("other with a priority", sched_setparam(0, &parameter));
	show("fifo", set(0, SCHED_FIFO, 20));
	show("parameter", sched_setparam(0, &parameter));
	show("policy", sched_getscheduler(0));
	show("priority", priority_of(0));
	parameter.sched_priority = 0;
	show("none", sched_setparam(0, &parameter));
	show("no pointer", syscall(SYS_sched_setparam, 0, 0));
}

static void intervals(void)
{
	struct timespec slice = { 7, 7 };

	set(0, SCHED_RR, 1);
	show("interval", sched_rr_get_interval(0, &slice));
	printf("%ld s, %ld ns\n", (long)slice.tv_sec, slice.tv_nsec);
	set(0, SCHED_FIFO, 1);
	show("interval", sched_rr_get_interval(0, &slice));
	printf("%ld s, %ld ns\n", (long)slice.tv_sec, slice.tv_nsec);
	show("interval of none", sched_rr_get_interval(NONE, &slice));
	show("interval nowhere", syscall(SYS_sched_rr_get_interval, 0, 8));
}

static void inherited(void)
{
	printf("child: policy %d, priority %d, nice %d\n", sched_getscheduler(0), priority_of(0),
	       getpriority(PRIO_PROCESS, 0));
	fflush(stdout);
}

static void inheritance(void)
{
	setpriority(PRIO_PROCESS, 0, -5);
	run_part(inherited);
	show("fifo", set(0, SCHED_FIFO, 40));
	run_part(inherited);
	show("reset", set(0, SCHED_RR | RESET, 41));
	show("policy", sched_getscheduler(0));
	run_part(inherited);
	show("policy", sched_getscheduler(0));
	show("reset", set(0, SCHED_OTHER | RESET, 0));
	run_part(inherited);
	setpriority(PRIO_PROCESS, 0, 7);
	run_part(inherited);
	show("policy", sched_getscheduler(0));
	show("parameter keeps the flag", set(0, SCHED_IDLE, 0));
	show("policy", sched_getscheduler(0));
}

static void attributes(void)
{
	struct attributes wanted = { .size = FIRST, .policy = SCHED_BATCH, .nice = 3 };
	struct attributes now;

	show("batch", set_attributes(&wanted));
	show_attributes();
	wanted.nice = -100;
	wanted.flags = 1;
	show("far below", set_attributes(&wanted));
	show_attributes();
	wanted = (struct attributes){ .size = 0, .policy = SCHED_FIFO, .priority = 33 };
	show("no size", set_attributes(&wanted));
	show_attributes();
	wanted.flags = 8;
	wanted.policy = 55;
	wanted.priority = 34;
	show("keep the policy", set_attributes(&wanted));
	show_attributes();
	wanted.flags = 0x18;
	show("keep all", set_attributes(&wanted));
	show_attributes();
	wanted.flags = 0x80;
	wanted.policy = SCHED_FIFO;
	show("no flag", set_attributes(&wanted));
	wanted.flags = 0x20;
	show("utilisation in the first version", set_attributes(&wanted));
	wanted.flags = 0;
	wanted.size = 47;
	show("too small", set_attributes(&wanted));
	show("size", wanted.size);
	wanted.size = 5000;
	show("too large", set_attributes(&wanted));
	show("size", wanted.size);
	wanted.size = 60;
	show("larger", set_attributes(&wanted));
	wanted.more[0] = 1;
	show("with more", set_attributes(&wanted));
	show("size", wanted.size);
	wanted.more[0] = 0;
	wanted.size = FIRST;
	wanted.policy = -1;
	show("negative", set_attributes(&wanted));
	show("nothing", syscall(SYS_sched_setattr, 0, 0, 0));
	show("flags", syscall(SYS_sched_setattr, 0, &wanted, 1));
	show("far", syscall(SYS_sched_setattr, 0, 8, 0));
	show("read few", syscall(SYS_sched_getattr, 0, &now, 47, 0));
	show("read many", syscall(SYS_sched_getattr, 0, &now, 5000, 0));
	show("read with flags", syscall(SYS_sched_getattr, 0, &now, FIRST, 1));
	show("read nothing", syscall(SYS_sched_getattr, 0, 0, FIRST, 0));
	show("read far", syscall(SYS_sched_getattr, 0, 8, FIRST, 0));
	show("read of none", syscall(SYS_sched_getattr, NONE, &now, FIRST, 0));
}

static void nice_values(void)
{
	show("nice", setpriority(PRIO_PROCESS, 0, 100));
	show("is", getpriority(PRIO_PROCESS, 0));
	show("nice", setpriority(PRIO_PROCESS, 0, -100));
	show("is", getpriority(PRIO_PROCESS, 0));
	show("raw", syscall(SYS_getpriority, PRIO_PROCESS, 0));
	show("no kind", setpriority(3, 0, 0));
	show("no kind", getpriority(-1, 0));
	show("of none", setpriority(PRIO_PROCESS, NONE, 0));
	show("of no group", setpriority(PRIO_PGRP, NONE, 0));
	show("of no user", getpriority(PRIO_USER, 77));
	setpgid(0, 0);
	show("group", setpriority(PRIO_PGRP, 0, 4));
	show("is", getpriority(PRIO_PGRP, getpid()));
}

static void *thread(void *argument)
{
	(void)argument;
	show("thread", set(0, SCHED_FIFO, 60));
	show("nice of the thread", setpriority(PRIO_PROCESS, 0, 9));
	show("its policy", sched_getscheduler(0));
	show("its nice value", getpriority(PRIO_PROCESS, 0));
	show("policy of the first", sched_getscheduler(getpid()));
	show("nice value of the first", getpriority(PRIO_PROCESS, getpid()));
	return NULL;
}

static void threads(void)
{
	pthread_t other;

	pthread_create(&other, NULL, thread, NULL);
	pthread_join(other, NULL);
	set(0, SCHED_RR, 10);
	pthread_create(&other, NULL, thread, NULL);
	pthread_join(other, NULL);
	show("own", priority_of(0));
}

static void without_privilege(void)
{
	struct attributes wanted = { .size = FIRST, .policy = SCHED_OTHER };

	show("user", setuid(1000));
	show("fifo", set(0, SCHED_FIFO, 1));
	show("rr", set(0, SCHED_RR, 99));
	show("no priority", set(0, SCHED_FIFO, 0));
	show("batch", set(0, SCHED_BATCH, 0));
	show("other", set(0, SCHED_OTHER, 0));
	show("nice", setpriority(PRIO_PROCESS, 0, 5));
	show("less nice", setpriority(PRIO_PROCESS, 0, 4));
	show("of the parent", setpriority(PRIO_PROCESS, getppid(), 6));
	show("policy of the parent", set(getppid(), SCHED_BATCH, 0));
	show("read the parent's", sched_getscheduler(getppid()));
	wanted.nice = 3;
	show("attributes, less nice", set_attributes(&wanted));
	wanted.nice = 8;
	show("attributes, nicer", set_attributes(&wanted));
	show("reset", set(0, SCHED_OTHER | RESET, 0));
	show("no reset", set(0, SCHED_OTHER, 0));
	show("reset stays", set(0, SCHED_OTHER | RESET, 0));
	show("idle", set(0, SCHED_IDLE | RESET, 0));
	show("not idle", set(0, SCHED_OTHER | RESET, 0));
}

static void limits(void)
{
	struct rlimit priority = { 10, 10 }, nice = { 25, 25 };

	setrlimit(RLIMIT_RTPRIO, &priority);
	setrlimit(RLIMIT_NICE, &nice);
	show("user", setuid(1000));
	show("above the limit", set(0, SCHED_FIFO, 11));
	show("at the limit", set(0, SCHED_FIFO, 10));
	show("less", set(0, SCHED_FIFO, 3));
	show("more", set(0, SCHED_FIFO, 10));
	show("other", set(0, SCHED_OTHER, 0));
	show("nice at the limit", setpriority(PRIO_PROCESS, 0, -5));
	show("nice above the limit", setpriority(PRIO_PROCESS, 0, -6));
	show("idle", set(0, SCHED_IDLE, 0));
	show("not idle", set(0, SCHED_OTHER, 0));
}

static void lowered(void)
{
	set(0, SCHED_FIFO, 50);
	show("user", setuid(1000));
	show("lower", set(0, SCHED_FIFO, 40));
	show("higher", set(0, SCHED_FIFO, 50));
	show("the other policy", set(0, SCHED_RR, 40));
	show("other", set(0, SCHED_OTHER, 0));
	show("and back", set(0, SCHED_FIFO, 1));
}

static void cores(void)
{
	unsigned long one = 1, none = 2;

	show("one", syscall(SYS_sched_setaffinity, 0, sizeof(one), &one));
	show("no core", syscall(SYS_sched_setaffinity, 0, sizeof(none), &none));
	show("far", syscall(SYS_sched_setaffinity, 0, 8, 8));
	show("of none", syscall(SYS_sched_setaffinity, NONE, sizeof(one), &one));
	show("small", syscall(SYS_sched_getaffinity, 0, 4, &one));
	show("yield", sched_yield());
}

int main(void)
{
	run_part(policies);
	run_part(parameters);
	run_part(intervals);
	run_part(inheritance);
	run_part(attributes);
	run_part(nice_values);
	run_part(threads);
	run_part(without_privilege);
	run_part(limits);
	run_part(lowered);
	run_part(cores);
	return 0;
}
