// SPDX-License-Identifier: GPL-2.0
/*
 * A detached thread, seen from Linux: work of its own on its way to user mode, in which it lets its
 * core run instead of returning, until that core needs Linux.
 *
 * There is no list of what state a thread is in. Each turn takes the registers with which Linux
 * would return to user mode, whatever brought it there (a system call's end, a signal handler's
 * beginning, execve), and puts them onto the core. A system call is served by returning to user
 * mode with the program counter at it, so that the very thread makes it; it is back here when the
 * call ends (hooks.c).
 */
#include "detach.h"

#include <linux/mm.h>
#include <linux/sched/clock.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <asm/esr.h>
#include <asm/mmu_context.h>

/* Waking a thread costs about 5 us: for so long and a little more it is not put to sleep. */
#define POLL_NS 20000
/* What Linux mends itself takes an instruction of the program's; then the thread comes back. */
#define BACK_NS 50000

enum next { AGAIN, NATIVE };

void tenon_thread_forget_mm(struct tenon_thread *thread)
{
	if (!thread->mm)
		return;
	arm64_mm_context_put(thread->mm);
	mmdrop(thread->mm);
	thread->mm = NULL;
}

/* The address space is another one after execve. */
static bool pin_mm(struct tenon_thread *thread)
{
	if (thread->mm == current->mm)
		return true;
	tenon_thread_forget_mm(thread);
	tenon_thread_rename(thread);
	thread->asid = arm64_mm_context_get(current->mm);
	if (!thread->asid)
		return false;
	mmgrab(current->mm);
	thread->mm = current->mm;
	return true;
}

/*
 * Signals, and a debugger, are Linux's to serve, in a thread that is about to return to user mode
 * as any other. Scalable vectors have no room in the cell, nor 32-bit programs on an empty EL1.
 */
static bool may_run(struct tenon_thread *thread)
{
	return !thread->in_signal && !signal_pending(current) && !current->ptrace &&
	       !is_compat_task() && current->thread.fp_type != FP_STATE_SVE;
}

static bool over(struct tenon_thread *thread)
{
	return tenon_loan_event(thread->loan) || READ_ONCE(thread->leaving) ||
	       READ_ONCE(thread->next);
}

static void wait(struct tenon_thread *thread)
{
	struct tenon_loan *loan = thread->loan;
	u64 until = local_clock() + POLL_NS;

	while (!over(thread) && !signal_pending(current)) {
		if (need_resched() || !single_task_running() || local_clock() > until) {
			tenon_loan_wait(loan, over(thread), TASK_INTERRUPTIBLE);
			return;
		}
		cpu_relax();
	}
}

/* Linux's own path is right for all the rest, among it whatever raises a signal. */
static bool is_missing_page(u64 esr)
{
	u64 kind = esr & ESR_ELx_FSC_TYPE;

	return kind == ESR_ELx_FSC_FAULT || kind == ESR_ELx_FSC_ACCESS || kind == ESR_ELx_FSC_PERM;
}

static bool may_execute(u64 address)
{
	struct vm_area_struct *area = find_vma(current->mm, address);

	return area && area->vm_start <= address && area->vm_flags & VM_EXEC;
}

/* Whether the page is there now. A fault that comes again at once is left to Linux's own path. */
static bool mended(struct tenon_thread *thread, u64 esr, u64 pc)
{
	u64 far = thread->loan->cell->far, address = untagged_addr(far);
	unsigned int flags = FAULT_FLAG_USER;
	bool instruction = ESR_ELx_EC(esr) == ESR_ELx_EC_IABT_LOW, unlocked = false;
	bool repeated = thread->fault[0] == pc && thread->fault[1] == far;
	int error = -EFAULT;

	thread->fault[0] = pc;
	thread->fault[1] = far;
	if (repeated || !is_missing_page(esr))
		return false;
	if (instruction)
		flags |= FAULT_FLAG_INSTRUCTION;
	else if (esr & ESR_ELx_WNR && !(esr & ESR_ELx_CM))
		flags |= FAULT_FLAG_WRITE;
	mmap_read_lock(current->mm);
	if (!instruction || may_execute(address))
		error = fixup_user_fault(current->mm, address, flags, &unlocked);
	mmap_read_unlock(current->mm);
	return !error;
}

/* It returns to user mode in Linux for what its core cannot do, and is back soon after. */
static enum next in_linux(struct tenon_thread *thread)
{
	thread->others++;
	hrtimer_start(&thread->back, ns_to_ktime(BACK_NS), HRTIMER_MODE_REL);
	return NATIVE;
}

static enum next exception(struct tenon_thread *thread, struct pt_regs *regs)
{
	u64 esr = thread->loan->cell->esr;

	switch (ESR_ELx_EC(esr)) {
	case ESR_ELx_EC_SVC64:
		thread->calls++;
		thread->fault[0] = 0;
		regs->pc -= AARCH64_INSN_SIZE;
		/* Who ends tracing system calls takes it from all threads. */
		set_thread_flag(TIF_SYSCALL_TRACEPOINT);
		return NATIVE;
	case ESR_ELx_EC_DABT_LOW:
	case ESR_ELx_EC_IABT_LOW:
		thread->faults++;
		return mended(thread, esr, regs->pc) ? AGAIN : in_linux(thread);
	default:
		thread->fault[0] = 0;
		return in_linux(thread);
	}
}

static enum next run(struct tenon_thread *thread, struct pt_regs *regs)
{
	tenon_thread_move(thread);
	if (!pin_mm(thread))
		return in_linux(thread);
	tenon_context_fill(thread, regs);
	if (tenon_loan_run(thread->loan)) {
		tenon_thread_leave(thread);
		return NATIVE;
	}
	WRITE_ONCE(thread->running, true);
	wait(thread);
	if (!tenon_loan_event(thread->loan))
		tenon_loan_stop(thread->loan);
	WRITE_ONCE(thread->running, false);
	tenon_context_take(thread, regs);
	switch (thread->loan->cell->reason) {
	case TENON_LOAN_EXCEPTION:
		return exception(thread, regs);
	case TENON_LOAN_RECLAIMED:
	case TENON_LOAN_REFUSED:
		tenon_thread_leave(thread);
		return NATIVE;
	default:
		return AGAIN;
	}
}

void tenon_thread_turn(struct callback_head *head)
{
	struct tenon_thread *thread = container_of(head, struct tenon_thread, turn);
	struct pt_regs *regs = current_pt_regs();
	/* Work that was added earlier comes later, and must not wait for this thread's core. */
	bool last = !head->next;
	enum next next = AGAIN;

	hrtimer_try_to_cancel(&thread->back);
	tenon_thread_unqueued(thread);
	if (!last)
		tenon_thread_queue(thread);
	while (last && next == AGAIN && !thread->left && !(current->flags & PF_EXITING)) {
		if (READ_ONCE(thread->leaving))
			tenon_thread_leave(thread);
		else
			next = may_run(thread) ? run(thread, regs) : NATIVE;
	}
	tenon_thread_put(thread);
}

enum hrtimer_restart tenon_thread_back(struct hrtimer *timer)
{
	tenon_thread_queue(container_of(timer, struct tenon_thread, back));
	return HRTIMER_NORESTART;
}
