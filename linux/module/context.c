// SPDX-License-Identifier: GPL-2.0
/* Transfer of a thread's registers between Linux and a cell. */
#include "detach.h"

#include <linux/string.h>
#include <linux/version.h>
#include <asm/fpsimd.h>
#include <asm/mmu_context.h>
#include <asm/neon.h>
#include <asm/pgtable.h>
#include <asm/pointer_auth.h>
#include <asm/sysreg.h>

/*
 * Registers that are equal on all CPUs are read here; the others come from the thread.
 * SCTLR_EL1.EnIA has the kernel's value while the kernel runs, and is replaced by the thread's.
 */
static void fill_system(struct tenon_thread *thread, struct tenon_cell *cell)
{
	cell->ttbr0_el1 = phys_to_ttbr(virt_to_phys(thread->mm->pgd));
	/* TCR_EL1.A1 is set: the ASID is that of TTBR1. */
	cell->ttbr1_el1 = thread->asid << 48;
	cell->tcr_el1 = read_sysreg(tcr_el1);
	cell->mair_el1 = read_sysreg(mair_el1);
	cell->sctlr_el1 = read_sysreg(sctlr_el1) & ~(u64)SCTLR_ELx_ENIA;
	cell->sctlr_el1 |= current->thread.sctlr_user & SCTLR_ELx_ENIA;
	cell->cpacr_el1 = CPACR_EL1_FPEN_EL0EN | CPACR_EL1_FPEN_EL1EN;
	cell->cntkctl_el1 = read_sysreg(cntkctl_el1);
}

static void fill_keys(struct tenon_cell *cell)
{
#ifdef CONFIG_ARM64_PTR_AUTH
	static_assert(sizeof(current->thread.keys_user) == sizeof(cell->keys));
	memcpy(cell->keys, &current->thread.keys_user, sizeof(cell->keys));
#endif
}

/* Saves the FP registers of the task, if this CPU holds them, to the task structure. */
static struct user_fpsimd_state *floating_point(void)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
	kernel_neon_begin();
	kernel_neon_end();
#else
	struct user_fpsimd_state own;

	kernel_neon_begin(&own);
	kernel_neon_end(&own);
#endif
	return &current->thread.uw.fpsimd_state;
}

void tenon_context_fill(struct tenon_thread *thread, struct pt_regs *regs)
{
	struct tenon_cell *cell = thread->loan->cell;
	struct user_fpsimd_state *fp = floating_point();

	memcpy(cell->x, regs->regs, sizeof(cell->x));
	cell->sp = regs->sp;
	cell->pc = regs->pc;
	cell->pstate = regs->pstate;
	cell->tpidr_el0 = read_sysreg(tpidr_el0);
	cell->tpidrro_el0 = 0;
	fill_system(thread, cell);
	fill_keys(cell);
	memcpy(cell->v, fp->vregs, sizeof(cell->v));
	cell->fpsr = fp->fpsr;
	cell->fpcr = fp->fpcr;
	cell->flags = TENON_CELL_FP;
	cell->sleeper = 0;
}

/*
 * Since tenon_context_fill() no CPU holds the FP registers of the task, so Linux loads them on the
 * return to user mode.
 */
void tenon_context_take(struct tenon_thread *thread, struct pt_regs *regs)
{
	struct tenon_cell *cell = thread->loan->cell;
	struct user_fpsimd_state *fp = &current->thread.uw.fpsimd_state;

	memcpy(regs->regs, cell->x, sizeof(cell->x));
	regs->sp = cell->sp;
	regs->pc = cell->pc;
	regs->pstate = cell->pstate;
	/* The thread is not in a system call, so that Linux must not restart one. */
	regs->syscallno = NO_SYSCALL;
	write_sysreg(cell->tpidr_el0, tpidr_el0);
	memcpy(fp->vregs, cell->v, sizeof(cell->v));
	fp->fpsr = cell->fpsr;
	fp->fpcr = cell->fpcr;
}
