// SPDX-License-Identifier: GPL-2.0
/* The registers that a hyplet begins with: EL0, and of EL1 what its own table needs. */
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

/* CPACR_EL1.FPEN: floating point at EL0 and EL1. CNTKCTL_EL1.EL0VCTEN: the virtual counter. */
#define CPACR_FLOATS (3ull << 20)
#define CNTKCTL_COUNTER (1ull << 1)

/* SCTLR_EL1.nTWI: what the scan of code refuses, the core does too. */
#define SCTLR_NO_WFI_TRAP (1ull << 16)

#define ASID_SHIFT 48

/* The table is one that this kernel's configuration of the walks can read. */
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
	/* TCR_EL1.A1 says which of the two has the ASID. */
	cell->ttbr0_el1 = entry->root | entry->asid << ASID_SHIFT;
	cell->ttbr1_el1 = entry->asid << ASID_SHIFT;
	cell->tcr_el1 = read_sysreg(tcr_el1);
	cell->mair_el1 = TENON_TABLE_MAIR;
	cell->sctlr_el1 = read_sysreg(sctlr_el1) & ~SCTLR_NO_WFI_TRAP;
	cell->cpacr_el1 = CPACR_FLOATS;
	cell->cntkctl_el1 = CNTKCTL_COUNTER;
}

void hyplet_context_forget(u64 asid)
{
	/* What the table and the code became, for a walk and a fetch on another core. */
	dsb(ishst);
	__tlbi(aside1is, asid << ASID_SHIFT);
	dsb(ish);
	icache_inval_all_pou();
	isb();
}
