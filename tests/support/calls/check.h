/* What programs that are compared between kernels print: the result of each call, or its error. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Prints a result, and the name of the error if it is -1. */
static inline void show(const char *what, long result)
{
	int error = errno;

	if (result == -1)
		printf("%s: %s\n", what, strerrorname_np(error));
	else
		printf("%s: %ld\n", what, result);
	fflush(stdout);
	errno = 0;
}

/* The status of a child that has returned from its part. */
enum { RETURNED = 7 << 8 };

/* Runs a part in a child; returns the status with which it ended. */
static inline int in_child(void (*part)(void))
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		part();
		fflush(stdout);
		_exit(7);
	}
	waitpid(child, &status, 0);
	return status;
}

/* Runs a part in a child below a heading, and prints how it ended. */
static inline void apart(const char *heading, void (*part)(void))
{
	printf("[%s]\n", heading);
	printf("status %x\n", in_child(part));
}

/* Runs a part in a child, which is to return from it. */
static inline void run_part(void (*part)(void))
{
	int status = in_child(part);

	if (status != RETURNED)
		show("status", status);
}
