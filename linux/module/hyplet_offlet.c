// SPDX-License-Identifier: GPL-2.0
/* Offlets: callbacks of kernel modules at EL1 between the steps of a hyplet. */
#include "hyplet.h"

#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>
#include <tenon/offlet.h>

static DEFINE_XARRAY(offlets); /* by CPU */

/*
 * Entry point of callbacks, and vectors for their exceptions: no handlers of Linux are available on
 * the core. Mortise ends the context at each HVC.
 */
asm("	.pushsection .text\n"
    "	.balign	2048\n"
    "tenon_offlet_vectors:\n"
    "	.rept	16\n"
    "	hvc	#1\n"
    "	.balign	128\n"
    "	.endr\n"
    "tenon_offlet_call:\n"
    "	blr	x2\n"
    "	hvc	#0\n"
    "	.popsection\n");

extern const char tenon_offlet_vectors[], tenon_offlet_call[];

/* TCR_EL1.EPD0: no user memory. */
#define TCR_NO_USER (1ull << 7)

struct hyp_wait *hyplet_offlet(u32 cpu)
{
	return xa_load(&offlets, cpu);
}

void hyplet_offlet_context(struct tenon_cell *cell, struct hyp_wait *wait, u64 value,
			   const void *stack, u32 cpu)
{
	memset_startat(cell, 0, x);
	cell->flags = TENON_CELL_KERNEL;
	cell->x[0] = (u64)wait;
	cell->x[1] = value;
	cell->x[2] = (u64)READ_ONCE(wait->user_callback);
	cell->sp = (u64)stack;
	cell->pc = (u64)tenon_offlet_call;
	cell->pstate = PSR_MODE_EL1h;
	cell->ttbr1_el1 = read_sysreg(ttbr1_el1);
	cell->tcr_el1 = read_sysreg(tcr_el1) | TCR_NO_USER;
	cell->mair_el1 = read_sysreg(mair_el1);
	cell->sctlr_el1 = read_sysreg(sctlr_el1);
	cell->vbar_el1 = (u64)tenon_offlet_vectors;
	cell->kernel_sp_el0 = (u64)current;
	cell->kernel_tpidr_el1 = per_cpu_offset(cpu);
}

bool hyplet_offlet_returned(const struct tenon_cell *cell)
{
	return cell->reason == TENON_LOAN_EXCEPTION &&
	       ESR_ELx_EC(cell->esr) == ESR_ELx_EC_HVC64 && !(cell->esr & 0xffff);
}

int offlet_register(struct hyp_wait *wait, unsigned int cpu)
{
	if (cpu >= nr_cpu_ids)
		return -ENODEV;
	return xa_insert(&offlets, cpu, wait, GFP_KERNEL);
}
EXPORT_SYMBOL_GPL(offlet_register);

int offlet_unregister(struct hyp_wait *wait, unsigned int cpu)
{
	if (xa_cmpxchg(&offlets, cpu, wait, NULL, 0) != wait)
		return -ENOENT;
	hyplet_core_synchronize(cpu);
	return 0;
}
EXPORT_SYMBOL_GPL(offlet_unregister);
