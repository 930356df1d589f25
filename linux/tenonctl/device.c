// SPDX-License-Identifier: GPL-2.0
/* Calls of /dev/tenon/control, with error messages. */
#include "tenonctl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

#define DEVICE "/dev/tenon/control"

static int device(void)
{
	static int file = -1;

	if (file >= 0)
		return file;
	file = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (file < 0 && errno == EACCES)
		give_up(FAILED, DEVICE ": root only");
	if (file < 0)
		give_up(FAILED, "no " DEVICE ": load the module tenon, and give this VM authority "
				"with [vm.manages] in system.toml");
	return file;
}

static const char *reason(int error)
{
	switch (error) {
	case EPERM:
		return "denied; [vm.manages] in system.toml says which VMs, memory and CPUs this "
		       "VM may use";
	case ENOMEM:
		return "not enough memory left in the reserve; [reserve] in system.toml has it";
	case EBUSY:
		return "not in its present state; tenonctl list shows it";
	case ENOENT:
		return "not there";
	case EINVAL:
		return "refused as invalid";
	case ENODATA:
		return "nothing here to do it with: create it anew from its file";
	default:
		return strerror(error);
	}
}

int try_asking(unsigned long command, void *structure)
{
	return ioctl(device(), command, structure) ? errno : 0;
}

void ask(unsigned long command, void *structure, const char *vm)
{
	int error = try_asking(command, structure);

	if (error)
		give_up(FAILED, "%s: %s", vm, reason(error));
}

void tell(unsigned long command, uint64_t number, const char *vm)
{
	if (ioctl(device(), command, (unsigned long)number))
		give_up(FAILED, "%s: %s", vm, reason(errno));
}

int find(const char *name, struct tenon_vm *vm)
{
	for (;; vm->slot++) {
		int error = try_asking(TENON_LIST, vm);

		if (error == ENOENT)
			return 0;
		if (error)
			give_up(FAILED, "list: %s", reason(error));
		if (vm->handle && (!name || !strncmp(name, vm->name, sizeof(vm->name))))
			return 1;
	}
}

struct tenon_vm vm_called(const char *name)
{
	struct tenon_vm vm = { .slot = 0 };

	if (!find(name, &vm))
		give_up(WRONG, "no VM \"%s\" that this one manages; tenonctl list shows them", name);
	return vm;
}
