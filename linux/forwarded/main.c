// SPDX-License-Identifier: GPL-2.0
/*
 * forwarded: makes the shortest system call repeatedly.
 *
 * Each getppid is between two hint instructions without effect, by which a bench counts from
 * outside. With a pause in ms before each call, Linux goes idle in between.
 */
#include <tenon/detach.h>

#include <fcntl.h>
#include <linux/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FAILED = 1, WRONG = 2, MOST = 1000000, MILLISECOND = 1000000 };

/*
 * Each system call offsets its stack by a random number. Until the entropy pool of Linux is
 * initialised, generating that number takes longer than many system calls.
 */
static int settle(void)
{
	struct {
		struct rand_pool_info info;
		char bytes[64];
	} seed = { .info = { .entropy_count = 8 * 64, .buf_size = 64 } };
	int file = open("/dev/random", O_WRONLY);
	int error = file < 0 || ioctl(file, RNDADDENTROPY, &seed);

	if (file >= 0)
		close(file);
	return error;
}

static long ask(void)
{
	register long number __asm__("x8") = SYS_getppid;
	register long parent __asm__("x0");

	__asm__ volatile("hint #126\n\tsvc #0\n\thint #127" : "=r"(parent) : "r"(number) : "memory");
	return parent;
}

int main(int count, char **argument)
{
	long calls = count > 1 ? atol(argument[1]) : 1000;
	long pause = count > 2 ? atol(argument[2]) : 0;
	pid_t parent = getppid();
	uint64_t next;

	if (count > 3 || calls < 1 || calls > MOST || pause < 0 || pause > MOST) {
		fprintf(stderr, "forwarded [CALLS [PAUSE]]: 1 to %d calls, ms before each\n", MOST);
		return WRONG;
	}
	if (settle()) {
		perror("forwarded: /dev/random");
		return FAILED;
	}
	next = tenon_now();
	for (long call = 0; call < calls; call++) {
		next += pause * MILLISECOND;
		if (pause)
			tenon_wait_until(next);
		if (ask() != parent)
			return FAILED;
	}
	printf("%ld calls\n", calls);
	return 0;
}
