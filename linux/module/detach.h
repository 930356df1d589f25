/* SPDX-License-Identifier: GPL-2.0 */
/* Threads of Linux's that run on cores which Linux lends. */
#ifndef TENON_DETACH_H
#define TENON_DETACH_H

#include "loan.h"

#include <linux/hrtimer.h>
#include <linux/kobject.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

struct tenon_thread {
	struct list_head list;
	struct kref references; /* one for the list, one for `turn`, queued or running */
	struct task_struct *task;
	pid_t number; /* its folder's name */
	struct callback_head turn;
	bool queued;
	bool left; /* off the list: it is not queued any more */
	bool leaving; /* somebody wants it attached */
	bool in_signal; /* between the beginning and the end of get_signal() */
	bool was_traced; /* system calls were traced before it was detached */
	bool running; /* on its core */
	struct tenon_loan *loan;
	struct tenon_loan *next; /* the core somebody wants it on */
	struct mm_struct *mm; /* whose ASID it pins */
	u64 asid;
	u64 fault[2]; /* the last one: its PC and address */
	u64 calls, faults, others;
	struct hrtimer back;
	struct kobject kobject;
	struct work_struct release;
};

/* detach.c: which threads there are. */

struct tenon_thread *tenon_thread_of(struct task_struct *task);
/* Has it look, on its way to user mode, whether it can run on its core. */
void tenon_thread_queue(struct tenon_thread *thread);
/* Its turn begins, and owns a reference from then on. */
void tenon_thread_unqueued(struct tenon_thread *thread);
void tenon_thread_put(struct tenon_thread *thread);
/* It is attached for good, or exits. Called by the thread itself. */
void tenon_thread_leave(struct tenon_thread *thread);
/* Its number is another one if it led no process and called execve(): then it leads one. */
void tenon_thread_rename(struct tenon_thread *thread);
/* Changes over to the core somebody wants it on. */
void tenon_thread_move(struct tenon_thread *thread);

/* turn.c: the thread's side. */

void tenon_thread_turn(struct callback_head *head);
enum hrtimer_restart tenon_thread_back(struct hrtimer *timer);
void tenon_thread_forget_mm(struct tenon_thread *thread);

/* context.c: between a thread and a cell. */

void tenon_context_fill(struct tenon_thread *thread, struct pt_regs *regs);
void tenon_context_take(struct tenon_thread *thread, struct pt_regs *regs);

/* hooks.c: where Linux says that a thread comes back, is forked or exits. */

int tenon_hooks_init(void);
void tenon_hooks_exit(void);

#endif
