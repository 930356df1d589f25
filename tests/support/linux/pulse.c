// SPDX-License-Identifier: GPL-2.0
/*
  * Module with a function between the steps of a hyplet, which returns the hyplet's result plus a hundred.
  * With `wrong` set it reads an unmapped address.
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <tenon/offlet.h>

static unsigned int cpu = 3;
module_param(cpu, uint, 0444);
static bool wrong;
module_param(wrong, bool, 0644);
static atomic_t calls;

static long answer(struct hyp_wait *wait, long value)
{
	atomic_inc(&calls);
	if (READ_ONCE(wrong))
		return READ_ONCE(*(long *)0x10);
	return value + 100;
}

static struct hyp_wait wait = { .user_callback = answer };

static int __init pulse_init(void)
{
	return offlet_register(&wait, cpu);
}

static void __exit pulse_exit(void)
{
	int error = offlet_unregister(&wait, cpu);

	pr_info("pulse: %d calls, %d\n", atomic_read(&calls), error);
}

module_init(pulse_init);
module_exit(pulse_exit);
MODULE_DESCRIPTION("A callback between the steps of a hyplet");
MODULE_LICENSE("GPL");
