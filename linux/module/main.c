// SPDX-License-Identifier: GPL-2.0
/*
 * TenonOS for Linux: life cycle of VMs, channels, lent cores, and Linux as a library.
 *
 * Linux itself does not depend on Mortise: this module detects the services that the hypervisor
 * offers to its VM and provides devices for them.
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

/* Parts of the module, in the order of their dependencies. */
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

static void exit_parts(size_t number)
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
			exit_parts(number);
			return error;
		}
	}
	return 0;
}

static void __exit tenon_exit(void)
{
	exit_parts(ARRAY_SIZE(parts));
}

module_init(tenon_init);
module_exit(tenon_exit);
MODULE_DESCRIPTION("TenonOS: life cycles of VMs, channels, and Linux as a library");
MODULE_LICENSE("GPL");
