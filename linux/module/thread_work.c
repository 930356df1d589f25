// SPDX-License-Identifier: GPL-2.0
/*
 * Task work of a detached thread: before the return to user mode, the thread runs on its lent core
 * until the core needs Linux.
 *
 * There is no state machine. Each run of the work takes the registers with which Linux would return
 * to user mode (after a system call, at the entry of a signal handler, after execve) and loads them
 * on the core. A system call is served by returning to user mode with the program counter at the
 * SVC, so that the thread itself makes it; the work is queued again at the end of the call
 * (hooks.c).
 */
#include "detach.h"

#include <linux/mm.h>
#include <linux/sched/clock.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <asm/esr.h>
#include <asm/mmu_context.h>

/* Waking a thread takes about 5 us: poll somewhat longer before sleeping. */
#define POLL_NS 20000
/* Delay after which the thread resumes on its core: Linux handles one instruction in user mode. */
#define RESUME_NS 50000

enum next { AGAIN, ATTACHED };

void tenon_thread_forget_mm(struct tenon_thread *thread)
{
	if (!thread->mm)
		return;
	arm64_mm_context_put(thread->mm);
	mmdrop(thread->mm);
	thread->mm = NULL;
}

/* Pins the ASID; execve replaces the address space. */
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
 * Linux handles signals and debuggers on the return to user mode. A cell has no room for SVE state,
 * and 32-bit programs are not supported on a lent core.
 */
static bool may_run(struct tenon_thread *thread)
{
	return !thread->in_signal && !signal_pending(current) && !current->ptrace &&
	       !is_compat_task() && current->thread.fp_type != FP_STATE_SVE;
}

static bool must_return(struct tenon_thread *thread)
{
	return tenon_loan_returned(thread->loan) || READ_ONCE(thread->leaving) ||
	       READ_ONCE(thread->next);
}

static void wait(struct tenon_thread *thread)
{
	struct tenon_loan *loan = thread->loan;
	u64 until = local_clock() + POLL_NS;

	while (!must_return(thread) && !signal_pending(current)) {
		if (need_resched() || !single_task_running() || local_clock() > until) {
			tenon_loan_wait(loan, must_return(thread), TASK_INTERRUPTIBLE);
			return;
		}
		cpu_relax();
	}
}

/* All other faults take Linux's own path, including those that raise a signal. */
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

/* Handles a page fault; returns whether it succeeded. A repeated fault takes Linux's own path. */
static bool handle_page_fault(struct tenon_thread *thread, u64 esr, u64 pc)
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

/*
 * Returns to user mode in Linux for what the core cannot do; a timer resumes the thread on its
 * core.
 */
static enum next in_linux(struct tenon_thread *thread)
{
	thread->others++;
	hrtimer_start(&thread->resume_timer, ns_to_ktime(RESUME_NS), HRTIMER_MODE_REL);
	return ATTACHED;
}

static enum next exception(struct tenon_thread *thread, struct pt_regs *regs)
{
	u64 esr = thread->loan->cell->esr;

	switch (ESR_ELx_EC(esr)) {
	case ESR_ELx_EC_SVC64:
		thread->calls++;
		thread->fault[0] = 0;
		regs->pc -= AARCH64_INSN_SIZE;
		/* The end of tracing clears the flag of all threads. */
		set_thread_flag(TIF_SYSCALL_TRACEPOINT);
		return ATTACHED;
	case ESR_ELx_EC_DABT_LOW:
	case ESR_ELx_EC_IABT_LOW:
		thread->faults++;
		return handle_page_fault(thread, esr, regs->pc) ? AGAIN : in_linux(thread);
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
		return ATTACHED;
	}
	WRITE_ONCE(thread->running, true);
	wait(thread);
	if (!tenon_loan_returned(thread->loan))
		tenon_loan_stop(thread->loan);
	WRITE_ONCE(thread->running, false);
	tenon_context_take(thread, regs);
	switch (thread->loan->cell->reason) {
	case TENON_LOAN_EXCEPTION:
		return exception(thread, regs);
	case TENON_LOAN_RECLAIMED:
	case TENON_LOAN_REFUSED:
		tenon_thread_leave(thread);
		return ATTACHED;
	default:
		return AGAIN;
	}
}

void tenon_thread_work(struct callback_head *head)
{
	struct tenon_thread *thread = container_of(head, struct tenon_thread, work);
	struct pt_regs *regs = current_pt_regs();
	/* Work that was queued earlier runs later, and must not wait for the core. */
	bool last = !head->next;
	enum next next = AGAIN;

	hrtimer_try_to_cancel(&thread->resume_timer);
	tenon_thread_dequeued(thread);
	if (!last)
		tenon_thread_queue(thread);
	while (last && next == AGAIN && !thread->left && !(current->flags & PF_EXITING)) {
		if (READ_ONCE(thread->leaving))
			tenon_thread_leave(thread);
		else
			next = may_run(thread) ? run(thread, regs) : ATTACHED;
	}
	tenon_thread_put(thread);
}

enum hrtimer_restart tenon_thread_resume(struct hrtimer *timer)
{
	tenon_thread_queue(container_of(timer, struct tenon_thread, resume_timer));
	return HRTIMER_NORESTART;
}
