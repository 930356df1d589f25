// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/tenon/hyplet: functions of a process on lent CPUs.
 *
 * The resources of an open file belong to the opening process only. They are released when it
 * closes the file or exits.
 */
#include "module.h"
#include "hyplet.h"

#include <linux/file.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

static int hyplet_open(struct inode *inode, struct file *file)
{
	struct hyplet *hyplet;

	if (!current->mm)
		return -EINVAL;
	hyplet = kzalloc(sizeof(*hyplet), GFP_KERNEL_ACCOUNT);
	if (!hyplet)
		return -ENOMEM;
	mutex_init(&hyplet->lock);
	hyplet->owner = current->files;
	mmgrab(current->mm);
	hyplet_memory_init(&hyplet->memory, current->mm);
	file->private_data = hyplet;
	return 0;
}

static void release_all(struct hyplet *hyplet)
{
	mutex_lock(&hyplet->lock);
	hyplet_cores_release(hyplet);
	hyplet_memory_drop(&hyplet->memory);
	hyplet->stack = 0;
	mutex_unlock(&hyplet->lock);
}

/* Other processes that inherited the file do not affect it. */
static int hyplet_flush(struct file *file, fl_owner_t closer)
{
	struct hyplet *hyplet = file->private_data;

	if (closer == hyplet->owner)
		release_all(hyplet);
	return 0;
}

static int hyplet_release(struct inode *inode, struct file *file)
{
	struct hyplet *hyplet = file->private_data;

	release_all(hyplet);
	mmdrop(hyplet->memory.mm);
	kfree(hyplet);
	return 0;
}

/* A stack may lie in memory that is mapped already. */
static int map(struct hyplet *hyplet, struct tenon_hyplet_map *map)
{
	bool stack = map->flags & TENON_HYPLET_STACK;
	int error;

	if (hyplet->assigned)
		return -EBUSY;
	if (map->flags == TENON_HYPLET_ALL)
		return hyplet_memory_map_all(&hyplet->memory);
	if (map->flags & ~(TENON_HYPLET_VMA | TENON_HYPLET_STACK))
		return -EINVAL;
	if (stack && hyplet_memory_writable(&hyplet->memory, map->address, map->bytes))
		error = 0;
	else
		error = hyplet_memory_map(&hyplet->memory, map);
	if (stack && !error)
		hyplet->stack = map->address + map->bytes;
	return error;
}

static int unmap(struct hyplet *hyplet, u64 address)
{
	return hyplet->assigned ? -EBUSY : hyplet_memory_unmap(&hyplet->memory, address);
}

static int ioctl_map(struct hyplet *hyplet, void __user *argument)
{
	struct tenon_hyplet_map wish;
	int error;

	if (copy_from_user(&wish, argument, sizeof(wish)))
		return -EFAULT;
	wish.refused = 0;
	wish.instruction = 0;
	error = map(hyplet, &wish);
	return copy_to_user(argument, &wish, sizeof(wish)) ? -EFAULT : error;
}

static int ioctl_assign(struct hyplet *hyplet, void __user *argument)
{
	struct tenon_hyplet_assign wish;

	if (copy_from_user(&wish, argument, sizeof(wish)))
		return -EFAULT;
	return wish.reserved ? -EINVAL : hyplet_core_assign(hyplet, &wish);
}

static int ioctl_wait(struct hyplet *hyplet, void __user *argument)
{
	struct tenon_hyplet_end end;
	int error;

	if (copy_from_user(&end, argument, sizeof(end)))
		return -EFAULT;
	error = hyplet_core_wait(hyplet, &end);
	if (error)
		return error;
	return copy_to_user(argument, &end, sizeof(end)) ? -EFAULT : 0;
}

static int change(struct hyplet *hyplet, unsigned int command, unsigned long argument)
{
	switch (command) {
	case TENON_HYPLET_MAP:
		return ioctl_map(hyplet, (void __user *)argument);
	case TENON_HYPLET_UNMAP:
		return unmap(hyplet, argument);
	case TENON_HYPLET_DROP_CPU:
		return argument < nr_cpu_ids ? hyplet_core_claim(hyplet, argument) : -ENODEV;
	case TENON_HYPLET_ASSIGN:
		return ioctl_assign(hyplet, (void __user *)argument);
	case TENON_HYPLET_UNASSIGN:
		return hyplet_core_unassign(hyplet, argument);
	default:
		return -ENOTTY;
	}
}

static long hyplet_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct hyplet *hyplet = file->private_data;
	long result;

	/* The memory is that of the opening process. */
	if (current->mm != hyplet->memory.mm)
		return -EPERM;
	if (command == TENON_HYPLET_WAIT)
		return ioctl_wait(hyplet, (void __user *)argument);
	if (mutex_lock_killable(&hyplet->lock))
		return -EINTR;
	result = change(hyplet, command, argument);
	mutex_unlock(&hyplet->lock);
	return result;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = hyplet_open,
	.flush = hyplet_flush,
	.release = hyplet_release,
	.unlocked_ioctl = hyplet_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "tenon-hyplet",
	.nodename = "tenon/hyplet",
	.mode = 0600,
	.fops = &operations,
};

static bool offered;

/* Called after tenon_loan_init(). */
int tenon_hyplet_init(void)
{
	int error;

	if (!tenon_loan_any())
		return 0;
	if (!hyplet_context_possible()) {
		pr_notice("no hyplets: the kernel has not pages of 4 KiB and addresses of 48 bits\n");
		return 0;
	}
	error = hyplet_show_init(tenon_kobject);
	if (error)
		return error;
	error = misc_register(&device);
	if (error)
		hyplet_show_exit();
	offered = !error;
	return error;
}

void tenon_hyplet_exit(void)
{
	if (!offered)
		return;
	misc_deregister(&device);
	hyplet_cores_exit();
	hyplet_show_exit();
}
