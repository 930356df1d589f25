// SPDX-License-Identifier: GPL-2.0
/*
 * TenonOS for Linux: life cycles of VMs, channels to them, cores lent to programs, and Linux as a
 * library.
 *
 * Linux itself knows nothing of Mortise and needs not: this module finds out what the hypervisor
 * offers to its VM and makes devices of it.
 */
#include "module.h"

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/printk.h>

static bool controls;

static int control_init(void)
{
	struct mortise_answer answer;
	int error;

	if (mortise_call(MORTISE_VERSION, 0, 0, 0, 0, &answer)) {
		pr_info("Mortise has no life cycle for this VM\n");
		return 0;
	}
	if (answer.value[0] != 1) {
		pr_err("Mortise's life cycle has version %llu, not 1\n", answer.value[0]);
		return -ENODEV;
	}
	error = tenon_control_init();
	controls = !error;
	return error;
}

static void control_exit(void)
{
	if (controls)
		tenon_control_exit();
}

struct kobject *tenon_kobject;

static int folder_init(void)
{
	tenon_kobject = kobject_create_and_add("tenon", kernel_kobj);
	return tenon_kobject ? 0 : -ENOMEM;
}

static void folder_exit(void)
{
	kobject_put(tenon_kobject);
}

/* What the module is made of, each on what is before it. */
static const struct {
	int (*init)(void);
	void (*exit)(void);
} parts[] = {
	{ folder_init, folder_exit },
	{ control_init, control_exit },
	{ tenon_channel_init, tenon_channel_exit },
	{ tenon_loan_init, tenon_loan_exit },
	{ tenon_detach_init, tenon_detach_exit },
	{ tenon_hyplet_init, tenon_hyplet_exit },
	{ tenon_vlib_init, tenon_vlib_exit },
};

static void leave(size_t number)
{
	while (number--)
		parts[number].exit();
}

static int __init tenon_init(void)
{
	size_t number;

	if (!mortise_reachable()) {
		pr_err("no hypervisor below\n");
		return -ENODEV;
	}
	for (number = 0; number < ARRAY_SIZE(parts); number++) {
		int error = parts[number].init();

		if (error) {
			leave(number);
			return error;
		}
	}
	return 0;
}

static void __exit tenon_exit(void)
{
	leave(ARRAY_SIZE(parts));
}

module_init(tenon_init);
module_exit(tenon_exit);
MODULE_DESCRIPTION("TenonOS: life cycles of VMs, channels, and Linux as a library");
MODULE_LICENSE("GPL");
