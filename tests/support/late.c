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

static leave *late(const char *name)
{
	long begun = nanoseconds();

	while (nanoseconds() - begun < 10000)
		;
	return (leave *)dlsym(RTLD_NEXT, name);
}

__attribute__((noreturn)) void siglongjmp(void *place, int value)
{
	late("siglongjmp")(place, value);
}

__attribute__((noreturn)) void __longjmp_chk(void *place, int value)
{
	late("__longjmp_chk")(place, value);
}
