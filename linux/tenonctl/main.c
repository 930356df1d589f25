// SPDX-License-Identifier: GPL-2.0
/* tenonctl: life cycle of VMs, controlled from Linux. */
#include "tenonctl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"tenonctl: VMs that Mortise runs beside this Linux\n"
	"\n"
	"  create [--start] FILE  make a VM of an image file (./tenon build --vm-image)\n"
	"  instantiate TEMPLATE   make and start one of a template in system.toml\n"
	"  start NAME...          let a created VM run\n"
	"  pause NAME...          take it off its CPUs\n"
	"  resume NAME...         let it go on\n"
	"  restart NAME...        from the beginning\n"
	"  destroy NAME...        its memory and its place are free then\n"
	"  list                   the VMs this one manages\n"
	"  stats [NAME...]        what they did\n"
	"  console [--now] NAME   what it prints, until it ends; --now: what it printed lately\n"
	"  ping TO FROM           round trips over two channels to a VM that echoes\n"
	"\n"
	"Exit status: 0 done, 1 the work failed, 2 the input is wrong.\n";

_Noreturn void give_up(int status, const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	fputs("tenonctl: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(status);
}

static const char *taken(char ***arguments, const char *what)
{
	if (!**arguments)
		give_up(WRONG, "%s is missing; tenonctl help shows the commands", what);
	return *(*arguments)++;
}

static int option(char ***arguments, const char *name)
{
	if (!**arguments || strcmp(**arguments, name))
		return 0;
	(*arguments)++;
	return 1;
}

static void nothing_more(char **arguments)
{
	if (*arguments)
		give_up(WRONG, "\"%s\" is too much; tenonctl help shows the commands", *arguments);
}

static void create(char **arguments)
{
	int start = option(&arguments, "--start");
	const char *path = taken(&arguments, "an image file");
	struct tenon_vm other = { .slot = 0 };
	struct tenon_create create = { 0 };
	struct file file;

	nothing_more(arguments);
	image_read(path, &file);
	if (find(file.image.vm.name, &other))
		give_up(WRONG, "%s: there is a VM \"%s\" already", path, other.name);
	create.address = (uintptr_t)file.content;
	create.bytes = file.bytes;
	ask(TENON_CREATE, &create, path);
	if (start)
		tell(TENON_START, create.handle, path);
	printf("%s: %s\n", file.image.vm.name, start ? "running" : "created");
	free(file.content);
}

static void instantiate(char **arguments)
{
	const char *name = taken(&arguments, "a template's name");
	struct tenon_instantiate wish = { .handle = 0 };
	size_t length = strlen(name);

	nothing_more(arguments);
	if (length > sizeof(wish.name))
		give_up(WRONG, "\"%s\" is too long for a template's name", name);
	memcpy(wish.name, name, length);
	ask(TENON_INSTANTIATE, &wish, name);
	printf("%s: running\n", name);
}

/* Commands for one or more VMs by name. */
static const struct {
	const char *name;
	unsigned long command;
	const char *done;
} moves[] = {
	{ "start", TENON_START, "running" },   { "pause", TENON_PAUSE, "paused" },
	{ "resume", TENON_RESUME, "running" }, { "restart", TENON_RESTART, "restarted" },
	{ "destroy", TENON_DESTROY, "destroyed" },
};

static int move(const char *command, char **arguments)
{
	size_t i;

	for (i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		if (strcmp(command, moves[i].name))
			continue;
		do {
			const char *name = taken(&arguments, "a VM's name");

			tell(moves[i].command, vm_called(name).handle, name);
			printf("%s: %s\n", name, moves[i].done);
		} while (*arguments);
		return 1;
	}
	return 0;
}

static void statistics(char **arguments)
{
	struct tenon_vm vm = { .slot = 0 };

	if (!*arguments)
		for (; find(NULL, &vm); vm.slot++)
			show_statistics(&vm);
	for (; *arguments; arguments++) {
		vm = vm_called(*arguments);
		show_statistics(&vm);
	}
}

static void console(char **arguments)
{
	int now = option(&arguments, "--now");
	struct tenon_vm vm = vm_called(taken(&arguments, "a VM's name"));

	nothing_more(arguments);
	show_console(&vm, !now);
}

static void round_trips(char **arguments)
{
	const char *to = taken(&arguments, "the channel that leads there");
	const char *from = taken(&arguments, "the channel that leads back");

	nothing_more(arguments);
	ping(to, from);
}

int main(int count, char **arguments)
{
	const char *command = count > 1 ? arguments[1] : "";

	arguments += count > 1 ? 2 : 1;
	if (!strcmp(command, "create"))
		create(arguments);
	else if (!strcmp(command, "instantiate"))
		instantiate(arguments);
	else if (!strcmp(command, "list"))
		nothing_more(arguments), show_list();
	else if (!strcmp(command, "stats"))
		statistics(arguments);
	else if (!strcmp(command, "console"))
		console(arguments);
	else if (!strcmp(command, "ping"))
		round_trips(arguments);
	else if (!strcmp(command, "help") || !strcmp(command, "--help"))
		fputs(usage, stdout);
	else if (!*command)
		give_up(WRONG, "no command; tenonctl help shows them");
	else if (!move(command, arguments))
		give_up(WRONG, "unknown command \"%s\"; tenonctl help shows them", command);
	return 0;
}
