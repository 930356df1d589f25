// SPDX-License-Identifier: GPL-2.0
/* tenon-detach: runs a program on a lent core from its first instruction. */
#define _GNU_SOURCE
#include <tenon/detach.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Exit statuses; the last two as of a shell: cannot be executed, not found. */
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

/* Opens the program that execvp() would find. */
static int opened(const char *program)
{
	const char *place = getenv("PATH");
	int file = -1;

	if (strchr(program, '/') || !place)
		return open(program, O_RDONLY | O_CLOEXEC);
	while (file < 0 && place) {
		const char *end = strchrnul(place, ':');
		char path[4096];

		snprintf(path, sizeof(path), "%.*s/%s", (int)(end - place), place, program);
		file = open(path, O_RDONLY | O_CLOEXEC);
		place = *end ? end + 1 : NULL;
	}
	return file;
}

/* 32-bit programs cannot be detached. */
static int is_32_bit(const char *program)
{
	unsigned char identity[EI_NIDENT] = { 0 };
	int file = opened(program);
	ssize_t length = file < 0 ? -1 : read(file, identity, sizeof(identity));

	if (file >= 0)
		close(file);
	return length > EI_CLASS && !memcmp(identity, ELFMAG, SELFMAG) &&
	       identity[EI_CLASS] == ELFCLASS32;
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
	if (is_32_bit(*arguments))
		give_up(NOT_RUN, "%s is a 32-bit program, which Linux keeps", *arguments);
	if (tenon_detach(cpu))
		refused(cpu);
	execvp(*arguments, arguments);
	give_up(errno == ENOENT ? NOT_FOUND : NOT_RUN, "%s: %s", *arguments, strerror(errno));
}
