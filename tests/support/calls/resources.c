/* Limits, use of resources, clocks and the system. */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>

static void limits(void)
{
	struct rlimit limit;
	int ends[2], end;

	show("core", getrlimit(RLIMIT_CORE, &limit));
	printf("%ld\n", (long)limit.rlim_cur);
	show("stack", getrlimit(RLIMIT_STACK, &limit));
	printf("%ld %d\n", (long)limit.rlim_cur, limit.rlim_max == RLIM_INFINITY);
	show("none", getrlimit(99, &limit));
	limit.rlim_cur = 8;
	limit.rlim_max = 16;
	show("files", setrlimit(RLIMIT_NOFILE, &limit));
	for (int i = 0; i < 10; i++)
		show("open", open("/dev/null", O_RDONLY));
	show("dup2 beyond", dup2(0, 8));
	show("dup2 beyond", dup2(0, 16));
	show("fcntl", fcntl(0, F_DUPFD, 8));
	show("pipe", pipe((int[2]){}));
	for (int i = 3; i < 16; i++)
		close(i);
	limit.rlim_cur = 17;
	show("soft above hard", setrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = limit.rlim_max = 20;
	show("raise", prlimit(getpid(), RLIMIT_NOFILE, &limit, NULL));
	show("another", prlimit(4000000, RLIMIT_NOFILE, NULL, &limit));
	show("setuid", setuid(1000));
	limit.rlim_cur = limit.rlim_max = 21;
	show("raise as user", setrlimit(RLIMIT_NOFILE, &limit));
	show("of init", prlimit(1, RLIMIT_NOFILE, NULL, &limit));
	limit.rlim_cur = limit.rlim_max = 2;
	show("pipe", pipe(ends));
	show("processes", setrlimit(RLIMIT_NPROC, &limit));
	for (int i = 0; i < 3; i++) {
		int child = fork();

		/* Each lives until the other end is closed. */
		if (child == 0) {
			close(ends[1]);
			_exit(read(ends[0], &end, 1));
		}
		show("fork", child > 0 ? 1 : child);
	}
	close(ends[1]);
	show("wait", wait(NULL) > 0);
}

static void spin(clockid_t clock, long nanoseconds)
{
	struct timespec start, now;

	clock_gettime(clock, &start);
	do
		clock_gettime(clock, &now);
	while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < nanoseconds);
}

static long spent(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000L + usage.ru_utime.tv_usec +
	       usage.ru_stime.tv_usec;
}

static long now(clockid_t clock)
{
	struct timespec time;

	if (clock_gettime(clock, &time) < 0)
		return -1;
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

static void usage(void)
{
	clockid_t clock;
	struct tms before, after;
	long own = spent(RUSAGE_SELF), children = spent(RUSAGE_CHILDREN);

	show("times", times(&before) < 0 ? -1 : 0);
	spin(CLOCK_PROCESS_CPUTIME_ID, 30000000);
	show("30 ms by the process", spent(RUSAGE_SELF) - own >= 29000);
	show("of the thread", spent(RUSAGE_THREAD) >= 29000);
	times(&after);
	show("3 ticks", after.tms_utime + after.tms_stime - before.tms_utime - before.tms_stime >= 2);
	if (fork() == 0) {
		show("own before", spent(RUSAGE_SELF) < 10000);
		spin(CLOCK_THREAD_CPUTIME_ID, 30000000);
		_exit(0);
	}
	show("not collected", spent(RUSAGE_CHILDREN) - children < 29000);
	wait(NULL);
	show("30 ms by the child", spent(RUSAGE_CHILDREN) - children >= 29000);
	own = spent(RUSAGE_SELF);
	usleep(50000);
	show("sleep takes no time", spent(RUSAGE_SELF) - own < 20000);
	show("clock of a process", clock_getcpuclockid(0, &clock));
	show("read", now(clock) > 0);
	show("clock of the parent", clock_getcpuclockid(getppid(), &clock));
	show("read", now(clock) > 0);
	show("clock of none", now((~4000000U) << 3 | 2));
	show("clock 99", now(99));
	show("who", getrusage(7, &(struct rusage){}));
}

static void date(void)
{
	struct timespec time = { 1000000000, 500 };
	struct timeval day = { 1500000000, 0 };
	struct timex adjustment = {};
	struct stat status;

	show("set", clock_settime(CLOCK_REALTIME, &time));
	show("is set", now(CLOCK_REALTIME) / 1000000000 - 1000000000 < 10);
	show("monotonic", clock_settime(CLOCK_MONOTONIC, &time));
	time.tv_nsec = 1000000000;
	show("no time", clock_settime(CLOCK_REALTIME, &time));
	show("day", settimeofday(&day, NULL));
	show("is set", now(CLOCK_REALTIME) / 1000000000 - 1500000000 < 10);
	show("coarse", now(CLOCK_REALTIME_COARSE) / 1000000000 - 1500000000 < 10);
	close(open("/tmp/dated", O_WRONLY | O_CREAT, 0600));
	stat("/tmp/dated", &status);
	show("file", status.st_mtime - 1500000000 < 10);
	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_nsec = 0;
	time.tv_sec++;
	show("sleep until", clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, NULL));
	show("is later", now(CLOCK_REALTIME) >= time.tv_sec * 1000000000);
	show("adjtimex", adjtimex(&adjustment));
	printf("%ld %d\n", adjustment.tick, adjustment.status);
	unlink("/tmp/dated");
	setuid(1000);
	show("set as user", settimeofday(&day, NULL));
}

static void names(void)
{
	struct utsname name;
	char text[17] = "";

	uname(&name);
	printf("%s %s\n", name.sysname, name.machine);
	show("set", sethostname("motor", 5));
	show("domain", setdomainname("", 0));
	uname(&name);
	printf("%s %s.\n", name.nodename, name.domainname);
	show("long", sethostname("0123456789012345678901234567890123456789012345678901234567890123456789", 70));
	show("negative", syscall(SYS_sethostname, "x", -1));
	show("name", prctl(PR_SET_NAME, "a name that is long"));
	show("name", prctl(PR_GET_NAME, text));
	printf("%s\n", text);
}

/* Each process of a group, and no other one. */
static void nice_values_of_a_group(void)
{
	pid_t members[2];

	for (int index = 0; index < 2; index++) {
		members[index] = fork();
		if (members[index] == 0)
			for (;;)
				pause();
		setpgid(members[index], members[0]);
	}
	show("set nice of a group", setpriority(PRIO_PGRP, members[0], 9));
	show("nice of the first", getpriority(PRIO_PROCESS, members[0]));
	show("nice of the other", getpriority(PRIO_PROCESS, members[1]));
	show("nice of none", getpriority(PRIO_PROCESS, 0));
	show("nice of the group", getpriority(PRIO_PGRP, members[0]));
	show("nice of no group", getpriority(PRIO_PGRP, members[1]));
	for (int index = 0; index < 2; index++) {
		kill(members[index], SIGKILL);
		waitpid(members[index], NULL, 0);
	}
}

static void schedule(void)
{
	cpu_set_t set;
	unsigned cpu = 9, node = 9;
	struct sched_param parameter = { 0 };

	show("getcpu", getcpu(&cpu, &node));
	printf("%u %u\n", cpu, node);
	CPU_ZERO(&set);
	show("affinity", sched_getaffinity(0, sizeof(set), &set));
	printf("%d\n", CPU_COUNT(&set));
	show("small", syscall(SYS_sched_getaffinity, 0, 3, &set));
	show("set", sched_setaffinity(0, sizeof(set), &set));
	CPU_ZERO(&set);
	show("none", sched_setaffinity(0, sizeof(set), &set));
	show("policy", sched_getscheduler(0));
	show("policy of none", sched_getscheduler(4000000));
	show("parameter", sched_getparam(0, &parameter));
	show("other", sched_setscheduler(0, SCHED_OTHER, &parameter));
	parameter.sched_priority = 100;
	show("no priority", sched_setscheduler(0, SCHED_FIFO, &parameter));
	show("max", sched_get_priority_max(SCHED_FIFO));
	show("min", sched_get_priority_min(SCHED_OTHER));
	show("none", sched_get_priority_max(77));
	show("nice", getpriority(PRIO_PROCESS, 0));
	show("set nice", setpriority(PRIO_PROCESS, 0, 5));
	show("nice", getpriority(PRIO_PROCESS, 0));
	show("raw", syscall(SYS_getpriority, PRIO_PROCESS, 0));
	show("of none", getpriority(PRIO_PROCESS, 4000000));
	show("of group", getpriority(PRIO_PGRP, 0) <= 5);
	nice_values_of_a_group();
	setuid(1000);
	show("less nice", setpriority(PRIO_PROCESS, 0, 1));
	show("nicer", setpriority(PRIO_PROCESS, 0, 7));
	show("personality", syscall(SYS_personality, 0xffffffff));
	show("membarrier", syscall(SYS_membarrier, 0, 0, 0) > 0);
	show("no command", syscall(SYS_membarrier, 1 << 30, 0, 0));
}

int main(void)
{
	mkdir("/tmp", 01777);
	apart("limits", limits);
	apart("usage", usage);
	apart("date", date);
	apart("names", names);
	apart("schedule", schedule);
	return 0;
}
