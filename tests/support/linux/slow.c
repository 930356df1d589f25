// SPDX-License-Identifier: GPL-2.0
/*
  * Delays CPU hot-unplug beyond Linux's time-out, as if that CPU was not executed for a while: Linux
  * considers it off while it is not.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/timex.h>
#include <asm/sysreg.h>

static unsigned int ms = 150; /* Linux waits 100 */

/* The last function of a CPU in Linux. */
static int stands_still(struct kprobe *probe, struct pt_regs *regs)
{
	u64 end = get_cycles() + ms * read_sysreg(cntfrq_el0) / 1000;

	unsigned int i;

	/* With instruction counting the emulator switches CPUs at each cpu_relax(), of which mdelay() has many. */
	for (i = 0; get_cycles() < end; i++)
		if (i % 1024 == 0)
			cpu_relax();
	return 0;
}

static struct kprobe probe = { .symbol_name = "cpu_psci_cpu_die", .pre_handler = stands_still };

static int __init slow_init(void)
{
	return register_kprobe(&probe);
}

static void __exit slow_exit(void)
{
	unregister_kprobe(&probe);
}

module_init(slow_init);
module_exit(slow_exit);
MODULE_DESCRIPTION("CPUs that are slow to go off");
MODULE_LICENSE("GPL");
