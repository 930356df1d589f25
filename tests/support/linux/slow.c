// SPDX-License-Identifier: GPL-2.0
/*
 * A machine on which a CPU takes longer to go off than Linux waits for it, as where nothing executes
 * that CPU for a while: Linux takes it as off while it is not.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/timex.h>
#include <asm/sysreg.h>

static unsigned int ms = 150; /* Linux waits 100 */

/* The last that a CPU executes in Linux. */
static int stands_still(struct kprobe *probe, struct pt_regs *regs)
{
	u64 end = get_cycles() + ms * read_sysreg(cntfrq_el0) / 1000;

	unsigned int i;

	/* An emulator that counts executes another CPU at each cpu_relax(), as mdelay() has many. */
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
