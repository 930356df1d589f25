/*
  * Delays the emulator's core thread between a WFI, which marks the core as waiting, and the accounting
  * of its executed instructions. QEMU leaves an instruction by siglongjmp, under another name if it was
  * built with glibc's checks.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

typedef void leave(void *, int) __attribute__((noreturn));

static long nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static leave *next_siglongjmp, *next_longjmp_chk;

/* Before the first jump, which may be made where no symbol can be looked up. */
__attribute__((constructor)) static void find(void)
{
	next_siglongjmp = (leave *)dlsym(RTLD_NEXT, "siglongjmp");
	next_longjmp_chk = (leave *)dlsym(RTLD_NEXT, "__longjmp_chk");
}

static void wait(void)
{
	long begun = nanoseconds();

	while (nanoseconds() - begun < 10000)
		;
}

__attribute__((noreturn)) void siglongjmp(void *place, int value)
{
	wait();
	next_siglongjmp(place, value);
}

__attribute__((noreturn)) void __longjmp_chk(void *place, int value)
{
	wait();
	next_longjmp_chk(place, value);
}
