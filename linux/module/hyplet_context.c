// SPDX-License-Identifier: GPL-2.0
/* Initial registers of a hyplet: EL0, and the EL1 registers for its translation table. */
#include "hyplet.h"

#include <linux/string.h>
#include <asm/cacheflush.h>
#include <asm/cpufeature.h>
#include <asm/sysreg.h>
#include <asm/tlbflush.h>

/* Arm ARM, D17.2: fields of TCR_EL1 for TTBR0. */
#define TCR_SIZE_48 16ull
#define TCR_SIZE 0x3full
#define TCR_GRANULE (3ull << 14) /* 0: 4 KiB */

/* CPACR_EL1.FPEN: no FP trap at EL0 and EL1. CNTKCTL_EL1.EL0VCTEN: virtual counter at EL0. */
#define CPACR_FPEN (3ull << 20)
#define CNTKCTL_COUNTER (1ull << 1)

/* SCTLR_EL1.nTWI: cleared, so that WFI traps even if the scan of the code missed it. */
#define SCTLR_NO_WFI_TRAP (1ull << 16)

#define ASID_SHIFT 48

/* The format of the table requires 4 KiB granule and 48 bits in TCR_EL1. */
bool hyplet_context_possible(void)
{
	return (read_sysreg(tcr_el1) & (TCR_SIZE | TCR_GRANULE)) == TCR_SIZE_48;
}

void hyplet_context_user(struct tenon_cell *cell, const struct hyplet_entry *entry)
{
	memset_startat(cell, 0, x);
	cell->flags = TENON_CELL_FP;
	cell->x[0] = entry->argument;
	cell->x[30] = TENON_HYPLET_RETURN;
	cell->sp = entry->stack;
	cell->pc = entry->pc;
	cell->tpidr_el0 = entry->tls;
	cell->tpidrro_el0 = entry->cpu;
	/* TCR_EL1.A1 selects the register with the ASID. */
	cell->ttbr0_el1 = entry->root | entry->asid << ASID_SHIFT;
	cell->ttbr1_el1 = entry->asid << ASID_SHIFT;
	cell->tcr_el1 = read_sysreg(tcr_el1);
	cell->mair_el1 = TENON_TABLE_MAIR;
	cell->sctlr_el1 = read_sysreg(sctlr_el1) & ~SCTLR_NO_WFI_TRAP;
	cell->cpacr_el1 = CPACR_FPEN;
	cell->cntkctl_el1 = CNTKCTL_COUNTER;
}

void hyplet_context_invalidate(u64 asid)
{
	/* Makes the table and the code visible to walks and fetches of other cores. */
	dsb(ishst);
	__tlbi(aside1is, asid << ASID_SHIFT);
	dsb(ish);
	icache_inval_all_pou();
	isb();
}
