// SPDX-License-Identifier: GPL-2.0
/* /dev/tenon/control: life cycle of the VMs that this VM manages. */
#include "module.h"

#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <tenon.h>

static DEFINE_MUTEX(lock);
/* Buffer for results that exceed the registers. */
static void *page;

static int version(struct tenon_version *version)
{
	struct mortise_answer answer;
	int error = mortise_call(MORTISE_VERSION, 0, 0, 0, 0, &answer);

	version->version = answer.value[0];
	version->slots = answer.value[1];
	version->free = answer.value[2];
	return error;
}

static int statistics(struct tenon_statistics *statistics)
{
	int error;

	memset(page, 0, sizeof(*statistics));
	error = mortise_call(MORTISE_STATISTICS, statistics->handle, virt_to_phys(page),
			     sizeof(*statistics), 0, NULL);
	memcpy(statistics, page, sizeof(*statistics));
	return error;
}

static int list(struct tenon_vm *vm)
{
	struct tenon_statistics known = {};
	struct mortise_answer answer;
	u32 slot = vm->slot;
	int error = mortise_call(MORTISE_LIST, slot, 0, 0, 0, &answer);

	if (error)
		return error;
	memset(vm, 0, sizeof(*vm));
	vm->slot = slot;
	known.handle = answer.value[0];
	/* A VM that was destroyed meanwhile is not listed. */
	if (!known.handle || statistics(&known))
		return 0;
	vm->handle = answer.value[0];
	vm->state = answer.value[1] & 0xff;
	vm->kind = answer.value[1] >> 8 & 0xff;
	vm->vcpus = answer.value[1] >> 16 & 0xff;
	vm->memory = answer.value[2];
	memcpy(vm->name, known.name, sizeof(vm->name));
	return 0;
}

static int console_read(struct tenon_console *console)
{
	struct mortise_answer answer;
	u64 room = min_t(u64, console->bytes, PAGE_SIZE);
	int error = mortise_call(MORTISE_CONSOLE_READ, console->handle, virt_to_phys(page), room, 0,
				 &answer);

	if (error)
		return error;
	console->bytes = min(answer.value[0], room);
	return copy_to_user(u64_to_user_ptr(console->address), page, console->bytes) ? -EFAULT : 0;
}

static int instantiate(struct tenon_instantiate *wish)
{
	struct mortise_answer answer;
	u64 name[2];
	int error;

	if (wish->reserved)
		return -EINVAL;
	memcpy(name, wish->name, sizeof(name));
	error = mortise_call(MORTISE_INSTANTIATE, name[0], name[1], 0, 0, &answer);
	wish->handle = answer.value[0];
	return error;
}

static int destroy(u32 handle)
{
	int error = mortise_call(MORTISE_DESTROY, handle, 0, 0, 0, NULL);

	if (!error || error == -ENOENT)
		tenon_image_forget(handle);
	return error;
}

static bool gone(u32 handle)
{
	struct tenon_statistics known = { .handle = handle };

	return statistics(&known) == -ENOENT;
}

static int create(struct tenon_create *create)
{
	if (create->reserved)
		return -EINVAL;
	tenon_image_forget_gone(gone);
	return tenon_image_create(create->address, create->bytes, &create->handle);
}

/* Commands with a structure as argument: copied in, processed, and copied out on success. */
union structure {
	struct tenon_version version;
	struct tenon_create create;
	struct tenon_vm vm;
	struct tenon_statistics statistics;
	struct tenon_console console;
	struct tenon_instantiate instantiate;
};

static int with_structure(unsigned int command, union structure *it)
{
	switch (command) {
	case TENON_VERSION:
		return version(&it->version);
	case TENON_CREATE:
		return create(&it->create);
	case TENON_LIST:
		return list(&it->vm);
	case TENON_STATISTICS:
		return statistics(&it->statistics);
	case TENON_CONSOLE_READ:
		return console_read(&it->console);
	case TENON_INSTANTIATE:
		return instantiate(&it->instantiate);
	default:
		return -ENOTTY;
	}
}

/* Commands with a handle as argument: a number of more than 32 bits is invalid, as is 0. */
static int with_handle(unsigned int command, unsigned long number)
{
	u32 handle = number > U32_MAX ? 0 : number;

	switch (command) {
	case TENON_RESTART:
		return tenon_image_restart(handle);
	case TENON_DESTROY:
		return destroy(handle);
	case TENON_START:
		return mortise_call(MORTISE_START, handle, 0, 0, 0, NULL);
	case TENON_PAUSE:
		return mortise_call(MORTISE_PAUSE, handle, 0, 0, 0, NULL);
	case TENON_RESUME:
		return mortise_call(MORTISE_RESUME, handle, 0, 0, 0, NULL);
	default:
		return -ENOTTY;
	}
}

static long control_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	void __user *user = (void __user *)argument;
	unsigned int size = _IOC_SIZE(command);
	union structure it = {};
	int error;

	if (_IOC_TYPE(command) != TENON_IOCTL || size > sizeof(it))
		return -ENOTTY;
	if (_IOC_DIR(command) & _IOC_WRITE && copy_from_user(&it, user, size))
		return -EFAULT;
	if (mutex_lock_interruptible(&lock))
		return -ERESTARTSYS;
	error = size ? with_structure(command, &it) : with_handle(command, argument);
	mutex_unlock(&lock);
	if (!error && _IOC_DIR(command) & _IOC_READ && copy_to_user(user, &it, size))
		return -EFAULT;
	return error;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = control_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "tenon-control",
	.nodename = "tenon/control",
	.mode = 0600,
	.fops = &operations,
};

int tenon_control_init(void)
{
	int error;

	page = (void *)get_zeroed_page(GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	error = misc_register(&device);
	if (error)
		free_page((unsigned long)page);
	return error;
}

void tenon_control_exit(void)
{
	misc_deregister(&device);
	tenon_image_forget_all();
	free_page((unsigned long)page);
}
