/* Clocks by the vDSO of the process, beside the system calls. */
#define _GNU_SOURCE
#include "check.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

static sigjmp_buf back;

static void caught(int number)
{
	siglongjmp(back, number);
}

static long long by_call(int clock)
{
	struct timespec now = { -1, -1 };

	syscall(SYS_clock_gettime, clock, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long long by_library(int clock)
{
	struct timespec now = { -1, -1 };

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Whether the library's time lies between two of the system call. */
static int between(int clock)
{
	long long before = by_call(clock), now = by_library(clock);

	return before <= now && now <= by_call(clock);
}

static int same_date(void)
{
	struct timeval now;
	long long before = by_call(CLOCK_REALTIME) / 1000;

	gettimeofday(&now, NULL);
	long long date = now.tv_sec * 1000000LL + now.tv_usec;
	return before <= date && date <= by_call(CLOCK_REALTIME) / 1000 && time(NULL) >= now.tv_sec;
}

/* The number of the signal by which a store ends, or 0. */
static int store(volatile char *place)
{
	int number = sigsetjmp(back, 1);

	if (number == 0)
		*place = 0;
	return number;
}

int main(void)
{
	static const int clocks[] = { 0, 1, 4, 7, 2, 3 };
	static const int wrong[] = { 16, 100, -100, 0x7fffffff };
	struct timespec date, resolution = { 7, 0 };
	char *vdso = (char *)getauxval(AT_SYSINFO_EHDR);

	show("there is a vDSO", vdso && memcmp(vdso, "\177ELF", 4) == 0);
	for (unsigned i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		show("clock", clocks[i]);
		show("between", between(clocks[i]));
		show("resolution", clock_getres(clocks[i], &resolution));
		show("is short", resolution.tv_sec == 0 && resolution.tv_nsec > 0 && resolution.tv_nsec < 100);
	}
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		show("wrong clock", clock_gettime(wrong[i], &date));
		show("its resolution", clock_getres(wrong[i], &date));
	}
	show("no place for a resolution", clock_getres(CLOCK_MONOTONIC, NULL));
	show("gettimeofday", same_date());
	/* A date that is set is seen at once, in processes that exist and such as are created. */
	int pipes[2];
	if (pipe(pipes) < 0)
		return 1;
	pid_t child = fork();
	if (child == 0) {
		char byte;
		close(pipes[1]);
		_exit(read(pipes[0], &byte, 1) == 0 && by_library(CLOCK_REALTIME) / 1000000000 / 100 == 12345678);
	}
	date.tv_sec = 1234567800, date.tv_nsec = 0;
	show("clock_settime", clock_settime(CLOCK_REALTIME, &date));
	show("the date", by_library(CLOCK_REALTIME) / 1000000000 / 100);
	show("between", between(CLOCK_REALTIME));
	show("gettimeofday", same_date());
	close(pipes[1]);
	int status;
	waitpid(child, &status, 0);
	show("seen by a child", WEXITSTATUS(status));
	signal(SIGSEGV, caught);
	show("store to the vDSO", store(vdso));
	show("store to its clock", store(vdso - 4096));
	long long last = 0;
	int backwards = 0;
	for (int i = 0; i < 10000; i++) {
		long long now = i % 3 ? by_library(CLOCK_MONOTONIC) : by_call(CLOCK_MONOTONIC);
		backwards += now < last;
		last = now;
	}
	show("backwards", backwards);
	return 0;
}
