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
	/* The shell that starts an emulator has neither. */
	void (*notify)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "qemu_notify_event");
	void *const volatile *machine = dlsym(RTLD_DEFAULT, "current_machine");

	(void)unused;
	while (notify != NULL && machine != NULL) {
		/* It is created after the main loop, which crashes if it is woken before it is complete. */
		if (*machine != NULL)
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
