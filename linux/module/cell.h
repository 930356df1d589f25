/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cell: the page by which Linux and Mortise exchange the registers of a lent core
 * (docs/formats.md).
 */
#ifndef TENON_CELL_H
#define TENON_CELL_H

#include <linux/build_bug.h>
#include <linux/types.h>
#include <tenon.h>

enum tenon_cell_owner {
	TENON_CELL_FREE = 0,
	TENON_CELL_CORE = 1, /* the core runs the context */
	TENON_CELL_LINUX = 2, /* the core has returned */
};

#define TENON_CELL_FP 1u /* FP registers are loaded and saved too */
#define TENON_CELL_KERNEL 2u /* the context is at EL1 */

struct tenon_cell {
	u32 owner; /* enum tenon_cell_owner */
	u32 reason; /* enum tenon_loan_reason */
	u32 sleeper; /* Linux requests the interrupt when it becomes the owner */
	u32 flags;
	u64 esr;
	u64 far;
	u64 events;
	u64 waits;
	u64 reserved[2];
	u64 x[31];
	u64 sp;
	u64 pc;
	u64 pstate;
	u64 tpidr_el0;
	u64 tpidrro_el0;
	u64 ttbr0_el1;
	u64 ttbr1_el1; /* the ASID only, unless at EL1 */
	u64 tcr_el1;
	u64 mair_el1;
	u64 sctlr_el1;
	u64 cpacr_el1;
	u64 cntkctl_el1;
	u64 vbar_el1; /* at EL1 only */
	u64 keys[10]; /* IA, IB, DA, DB, GA: low, high */
	u64 fpcr;
	u64 fpsr;
	__uint128_t v[32];
	u64 kernel_sp_el0; /* at EL1 only */
	u64 kernel_tpidr_el1;
};

static_assert(offsetof(struct tenon_cell, x) == 0x40);
static_assert(offsetof(struct tenon_cell, ttbr0_el1) == 0x160);
static_assert(offsetof(struct tenon_cell, fpcr) == 0x1f0);
static_assert(offsetof(struct tenon_cell, kernel_sp_el0) == 0x400);

#endif
