/*
 * Wakes the emulator's main loop again and again, as requests of disks do when they are done.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

static void *wake(void *unused)
{
	const struct timespec pause = { .tv_nsec = 20000 };
	void (*notify)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "qemu_notify_event");

	(void)unused;
	/* Without effect until there is a main loop. */
	while (notify != NULL) {
		notify();
		nanosleep(&pause, NULL);
	}
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, wake, NULL);
}
