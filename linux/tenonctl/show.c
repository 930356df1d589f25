// SPDX-License-Identifier: GPL-2.0
/* Tables and console output of VMs, for users. */
#include "tenonctl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

static const char *state_name(uint32_t state)
{
	static const char *const names[] = {
		[TENON_EMPTY] = "empty",
		[TENON_STARTING] = "starting",
		[TENON_RUNNING] = "running",
		[TENON_STOPPED] = "stopped",
		[TENON_OFF] = "off",
		[TENON_RESTARTING] = "restarting",
		[TENON_CREATED] = "created",
		[TENON_PAUSED] = "paused",
		[TENON_DESTROYING] = "destroying",
		[TENON_DESTROYED] = "destroyed",
		[TENON_LOST] = "lost",
	};

	return state < ELEMENTS(names) ? names[state] : "unknown";
}

static const char *kind_name(uint32_t kind)
{
	static const char *const names[] = {
		[TENON_KIND_TENON] = "tenon",
		[TENON_KIND_LINUX] = "linux",
		[TENON_KIND_IMAGE] = "image",
	};

	return kind < ELEMENTS(names) ? names[kind] : "unknown";
}

void show_list(void)
{
	struct tenon_version version = { 0 };
	struct tenon_vm vm = { .slot = 0 };

	ask(TENON_VERSION, &version, "version");
	printf("%-20s %-6s %-10s %5s %8s\n", "NAME", "KIND", "STATE", "VCPUS", "MEMORY");
	for (; find(NULL, &vm); vm.slot++)
		printf("%-20.32s %-6s %-10s %5u %7" PRIu64 "M\n", vm.name, kind_name(vm.kind),
		       state_name(vm.state), vm.vcpus, (uint64_t)vm.memory >> 20);
	printf("%u slots, %" PRIu64 "M free\n", version.slots, (uint64_t)version.free >> 20);
}

void show_statistics(const struct tenon_vm *vm)
{
	static const char *const causes[] = { "interrupt", "hypercall", "mmio",
					      "sysreg",	   "wfi",	"other" };
	struct tenon_statistics known = { .handle = vm->handle };
	unsigned int i;

	ask(TENON_STATISTICS, &known, vm->name);
	printf("%.32s: %s\n", known.name, state_name(known.state));
	if (known.state == TENON_STOPPED)
		printf("  fault      %.96s\n", known.fault);
	printf("  vcpus      %u\n", known.vcpus);
	printf("  memory     %" PRIu64 "M\n", (uint64_t)known.memory >> 20);
	printf("  age        %" PRIu64 " ms\n", (uint64_t)known.age / 1000000);
	printf("  restarts   %u\n", known.restarts);
	printf("  denied     %" PRIu64 "\n", (uint64_t)known.denied);
	for (i = 0; i < ELEMENTS(causes); i++)
		printf("  exits      %-9s %" PRIu64 "\n", causes[i], (uint64_t)known.exits[i]);
}

static int is_live(uint32_t handle)
{
	struct tenon_statistics known = { .handle = handle };

	if (try_asking(TENON_STATISTICS, &known))
		return 0;
	return known.state != TENON_OFF && known.state != TENON_STOPPED;
}

/* Prints the console output of a VM; with `follow`, until the VM is gone. */
void show_console(const struct tenon_vm *vm, int follow)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };
	char text[4096];

	for (;;) {
		/* Checked before the read, so that all output of a VM that ends is read. */
		int live = follow && is_live(vm->handle);
		struct tenon_console console = {
			.address = (uintptr_t)text,
			.handle = vm->handle,
			.bytes = sizeof(text),
		};
		int error = try_asking(TENON_CONSOLE_READ, &console);

		if (error == ENOENT && follow)
			return;
		if (error)
			ask(TENON_CONSOLE_READ, &console, vm->name);
		else if (console.bytes && write(STDOUT_FILENO, text, console.bytes) < 0)
			give_up(FAILED, "cannot write what it said");
		if (!console.bytes && !live)
			return;
		if (!console.bytes)
			nanosleep(&pause, NULL);
	}
}
