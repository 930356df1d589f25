// SPDX-License-Identifier: GPL-2.0
/*
 * TenonOS for Linux: life cycles of VMs and channels to them.
 *
 * Linux itself knows nothing of Mortise and needs not: this module finds out what the hypervisor
 * offers to its VM and makes devices of it.
 */
#include "module.h"

#include <linux/errno.h>
#include <linux/module.h>
#include <linux/printk.h>

static bool controls;

static int __init tenon_init(void)
{
	struct mortise_answer answer;
	int error;

	if (!mortise_reachable()) {
		pr_err("no hypervisor below\n");
		return -ENODEV;
	}
	if (mortise_call(MORTISE_VERSION, 0, 0, 0, 0, &answer)) {
		pr_info("Mortise has no life cycle for this VM\n");
	} else if (answer.value[0] != 1) {
		pr_err("Mortise's life cycle has version %llu, not 1\n", answer.value[0]);
		return -ENODEV;
	} else {
		error = tenon_control_init();
		if (error)
			return error;
		controls = true;
	}
	error = tenon_channel_init();
	if (error && controls)
		tenon_control_exit();
	return error;
}

static void __exit tenon_exit(void)
{
	tenon_channel_exit();
	if (controls)
		tenon_control_exit();
}

module_init(tenon_init);
module_exit(tenon_exit);
MODULE_DESCRIPTION("TenonOS: life cycles of VMs, and channels");
MODULE_LICENSE("GPL");
