// SPDX-License-Identifier: GPL-2.0
/*
  * Handover of a CPU from Linux to Mortise and back, a number of times. Each call is between two hint
  * instructions that the plugin (bench/plugin) recognises as marks.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <tenon-hyplet.h>

enum { LENT = 3, STAYS = 0, PAUSE = 20000 /* us */ };

#define MARK_BEGIN ".inst 0xd5032fdf"
#define MARK_END ".inst 0xd5032fff"

/* The pause completes the last handover before the next one begins. */
static void begin(void)
{
	usleep(PAUSE);
	__asm__ volatile(MARK_BEGIN ::: "memory");
}

static void end(void)
{
	__asm__ volatile(MARK_END ::: "memory");
}

static int give_up(int device)
{
	int result;

	begin();
	result = ioctl(device, TENON_HYPLET_DROP_CPU, LENT);
	end();
	return result;
}

static int take_back(int device)
{
	int result;

	begin();
	result = close(device);
	end();
	return result;
}

int main(int count, char **argument)
{
	int left = count > 1 ? atoi(argument[1]) : 1;
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(STAYS, &here);
	/* Both marks must be executed on the same CPU. */
	if (sched_setaffinity(0, sizeof(here), &here)) {
		perror("handover: staying");
		return 1;
	}
	for (; left; left--) {
		int device = open("/dev/tenon/hyplet", O_RDWR | O_CLOEXEC);

		if (device < 0 || give_up(device) || take_back(device)) {
			perror("handover");
			return 1;
		}
	}
	if (sysconf(_SC_NPROCESSORS_ONLN) != sysconf(_SC_NPROCESSORS_CONF)) {
		fputs("handover: Linux does not have all its CPUs\n", stderr);
		return 1;
	}
	puts("handover: over");
	return 0;
}
