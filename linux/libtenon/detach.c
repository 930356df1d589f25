// SPDX-License-Identifier: GPL-2.0
/* Detached threads: the sysfs files of the module, and the call that Mortise handles. */
#include <tenon/detach.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <tenon.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "/sys/kernel/tenon/detach/"
#define SECOND 1000000000u

static int write_file(const char *path, const char *text, int length)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	int error = 0;

	if (file < 0)
		return -1;
	if (write(file, text, length) != length)
		error = errno;
	close(file);
	errno = error;
	return error ? -1 : 0;
}

int tenon_detach(int cpu)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%ld %d", syscall(SYS_gettid), cpu);

	return write_file(FOLDER "detach", text, length);
}

int tenon_attach(void)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%ld", syscall(SYS_gettid));

	return write_file(FOLDER "attach", text, length);
}

static uint64_t scaled(uint64_t value, uint64_t from, uint64_t to)
{
	return (unsigned __int128)value * to / from;
}

uint64_t tenon_now(void)
{
	uint64_t ticks, frequency;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tmrs %1, cntfrq_el0"
			 : "=r"(ticks), "=r"(frequency));
	return scaled(ticks, frequency, SECOND);
}

static int wait_in_linux(uint64_t ns)
{
	uint64_t now = tenon_now(), rest = ns > now ? ns - now : 0;
	struct timespec time = { rest / SECOND, rest % SECOND };
	int error = clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);

	errno = error;
	return error ? -1 : 0;
}

int tenon_wait_until(uint64_t ns)
{
	register uint64_t x0 __asm__("x0") = ns;
	register uint64_t x8 __asm__("x8") = TENON_WAIT_UNTIL;

	/* Not a system call of Linux: an attached thread gets ENOSYS. */
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8) : "memory");
	return x0 == (uint64_t)-ENOSYS ? wait_in_linux(ns) : 0;
}
