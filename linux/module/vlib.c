// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/tenon/NAME: this VM as a vLib of another one.
 *
 * A program maps the shared memory with arguments and results, and behind it the door, a page that
 * is not mapped at stage 2. A load from the door traps to Mortise, ends the current call, if there
 * is one, and completes with the next call. In between, no CPU of this VM runs. If the program
 * ends, the caller is told that the vLib has no server.
 */
#include "module.h"
#include "mapping.h"

#include <linux/fs.h>
#include <linux/io.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/of_address.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <tenon.h>

struct vlib {
	struct miscdevice device;
	struct tenon_vlib shape;
	struct resource memory;
	struct resource door;
	struct mutex lock; /* protects `served`: one program serves at a time */
	bool served;
	char nodename[TENON_NAME + 8];
	char label[TENON_NAME + 8];
};

static struct vlib *vlib_of(const struct file *file)
{
	/* Set by misc_open(). */
	return container_of(file->private_data, struct vlib, device);
}

static int vlib_open(struct inode *inode, struct file *file)
{
	struct vlib *vlib = vlib_of(file);
	int error = 0;

	mutex_lock(&vlib->lock);
	if (vlib->served)
		error = -EBUSY;
	else
		vlib->served = true;
	mutex_unlock(&vlib->lock);
	return error ?: nonseekable_open(inode, file);
}

static int vlib_release(struct inode *inode, struct file *file)
{
	struct vlib *vlib = vlib_of(file);

	mutex_lock(&vlib->lock);
	mortise_call(MORTISE_LEAVE, vlib->shape.number, 0, 0, 0, NULL);
	vlib->served = false;
	mutex_unlock(&vlib->lock);
	return 0;
}

/*
 * The door permits only loads by the program that mapped it: Mortise answers any other access with
 * an abort.
 */
static int vlib_map_door(const struct vlib *vlib, struct vm_area_struct *area)
{
	if (area->vm_end - area->vm_start > PAGE_SIZE)
		return -EINVAL;
	tenon_set_flags(area, VM_DONTCOPY);
	return tenon_map(area, vlib->door.start, VM_WRITE, pgprot_noncached(area->vm_page_prot));
}

static int vlib_mmap(struct file *file, struct vm_area_struct *area)
{
	const struct vlib *vlib = vlib_of(file);
	unsigned long size = area->vm_end - area->vm_start;

	if (area->vm_pgoff == PHYS_PFN(resource_size(&vlib->memory)))
		return vlib_map_door(vlib, area);
	if (area->vm_pgoff || size > resource_size(&vlib->memory))
		return -EINVAL;
	return tenon_map(area, vlib->memory.start, 0, area->vm_page_prot);
}

static long vlib_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct vlib *vlib = vlib_of(file);

	switch (command) {
	case TENON_VLIB:
		if (copy_to_user((void __user *)argument, &vlib->shape, sizeof(vlib->shape)))
			return -EFAULT;
		return 0;
	default:
		return -ENOTTY;
	}
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = vlib_open,
	.release = vlib_release,
	.mmap = vlib_mmap,
	.unlocked_ioctl = vlib_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static int vlib_describe(struct device *device, struct vlib *vlib)
{
	struct device_node *node = device->of_node;
	const char *name;

	if (of_property_read_string(node, "tenonos,name", &name) ||
	    of_property_read_u32(node, "tenonos,number", &vlib->shape.number) ||
	    of_address_to_resource(node, 0, &vlib->memory) ||
	    of_address_to_resource(node, 1, &vlib->door) || !PAGE_ALIGNED(vlib->door.start) ||
	    !PAGE_ALIGNED(vlib->memory.start) || !PAGE_ALIGNED(resource_size(&vlib->memory)) ||
	    strscpy(vlib->shape.name, name, sizeof(vlib->shape.name)) < 0)
		return -EINVAL;
	vlib->shape.size = resource_size(&vlib->memory);
	snprintf(vlib->nodename, sizeof(vlib->nodename), "tenon/%s", name);
	snprintf(vlib->label, sizeof(vlib->label), "tenon-%s", name);
	return 0;
}

static void vlib_withdraw(void *data)
{
	struct vlib *vlib = data;

	misc_deregister(&vlib->device);
}

static int vlib_probe(struct platform_device *platform)
{
	struct device *device = &platform->dev;
	struct vlib *vlib = devm_kzalloc(device, sizeof(*vlib), GFP_KERNEL);
	int error;

	if (!vlib)
		return -ENOMEM;
	mutex_init(&vlib->lock);
	error = vlib_describe(device, vlib);
	if (error)
		return dev_err_probe(device, error, "not as docs/formats.md says\n");
	vlib->device = (struct miscdevice){
		.minor = MISC_DYNAMIC_MINOR,
		.name = vlib->label,
		.nodename = vlib->nodename,
		.mode = 0600,
		.fops = &operations,
	};
	error = misc_register(&vlib->device);
	return error ?: devm_add_action_or_reset(device, vlib_withdraw, vlib);
}

static const struct of_device_id vlib_compatible[] = { { .compatible = "tenonos,vlib" }, {} };
MODULE_DEVICE_TABLE(of, vlib_compatible);

static struct platform_driver driver = {
	.probe = vlib_probe,
	.driver = {
		.name = "tenon-vlib",
		.of_match_table = vlib_compatible,
		/* An open file holds the module, but not the memory of the device. */
		.suppress_bind_attrs = true,
	},
};

int tenon_vlib_init(void)
{
	return platform_driver_register(&driver);
}

void tenon_vlib_exit(void)
{
	platform_driver_unregister(&driver);
}
