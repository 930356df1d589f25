// SPDX-License-Identifier: GPL-2.0
/* tenon-detach: a program on a core of its own, from its first instruction. */
#include <tenon/detach.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As of a shell: the program cannot be run, or is not there. */
enum { FAILED = 1, WRONG = 2, NOT_RUN = 126, NOT_FOUND = 127 };

static const char usage[] =
	"tenon-detach [--cpu N] PROGRAM [ARG...]\n"
	"\n"
	"Runs a program on a CPU that Linux lends it, with nothing in between. Its system calls are\n"
	"Linux's, as its memory and its signals are. Without --cpu: on one that is free.\n";

static _Noreturn void give_up(int status, const char *format, ...)
{
	va_list arguments;

	fputs("tenon-detach: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(status);
}

static int number(const char *text)
{
	char *end;
	long value;

	if (!text)
		give_up(WRONG, "--cpu needs a number");
	value = strtol(text, &end, 10);
	if (end == text || *end || value < 0 || value > 4095)
		give_up(WRONG, "\"%s\" is no CPU", text);
	return value;
}

static _Noreturn void refused(int cpu)
{
	char which[16] = "";

	if (cpu >= 0)
		snprintf(which, sizeof(which), " %d", cpu);
	switch (errno) {
	case ENOENT:
		give_up(FAILED, "no CPUs to lend; [vm.detach] gives this VM some");
	case EBUSY:
		give_up(FAILED, "%s", *which ? "that CPU is lent already" : "each CPU is lent already");
	case EPERM:
		give_up(FAILED, "CPU%s is not in [vm.detach]", which);
	default:
		give_up(FAILED, "%s", strerror(errno));
	}
}

int main(int count, char **arguments)
{
	int cpu = -1;

	(void)count;
	arguments++;
	if (*arguments && !strcmp(*arguments, "--cpu")) {
		cpu = number(*++arguments);
		arguments++;
	}
	if (!*arguments || !strcmp(*arguments, "--help")) {
		fputs(usage, *arguments ? stdout : stderr);
		return *arguments ? 0 : WRONG;
	}
	if (tenon_detach(cpu))
		refused(cpu);
	execvp(*arguments, arguments);
	give_up(errno == ENOENT ? NOT_FOUND : NOT_RUN, "%s: %s", *arguments, strerror(errno));
}
