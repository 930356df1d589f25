/* SPDX-License-Identifier: GPL-2.0 */
/* Detached threads: Linux threads that run on lent cores. */
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
	struct kref references; /* one of the list, one of `work` while it is queued or runs */
	struct task_struct *task;
	pid_t number; /* the name of its sysfs folder */
	struct callback_head work;
	bool queued;
	bool left; /* removed from the list; not queued again */
	bool leaving; /* to be attached */
	bool in_signal; /* within get_signal() */
	bool was_traced; /* its system calls were traced before it was detached */
	bool running; /* on its lent core */
	struct tenon_loan *loan;
	struct tenon_loan *next; /* the core to which it is to migrate */
	struct mm_struct *mm; /* its ASID is pinned */
	u64 asid;
	u64 fault[2]; /* PC and address of the last fault */
	u64 calls, faults, others;
	struct hrtimer resume_timer;
	struct kobject kobject;
	struct work_struct release;
};

/* detach.c: the list of detached threads. */

struct tenon_thread *tenon_thread_of(struct task_struct *task);
/* Queues task work, by which the thread runs on its core instead of returning to user mode. */
void tenon_thread_queue(struct tenon_thread *thread);
/* The task work starts; it owns a reference until it ends. */
void tenon_thread_dequeued(struct tenon_thread *thread);
void tenon_thread_put(struct tenon_thread *thread);
/* Attaches the calling thread permanently, or removes it when it exits. */
void tenon_thread_leave(struct tenon_thread *thread);
/*
 * Updates its number: execve() by a thread other than the leader changes it to that of the leader.
 */
void tenon_thread_rename(struct tenon_thread *thread);
/* Migrates to the requested core, if there is one. */
void tenon_thread_move(struct tenon_thread *thread);

/* thread_work.c: task work of a detached thread. */

void tenon_thread_work(struct callback_head *head);
enum hrtimer_restart tenon_thread_resume(struct hrtimer *timer);
void tenon_thread_forget_mm(struct tenon_thread *thread);

/* context.c: register transfer between a thread and a cell. */

void tenon_context_fill(struct tenon_thread *thread, struct pt_regs *regs);
void tenon_context_take(struct tenon_thread *thread, struct pt_regs *regs);

/* hooks.c: hooks at the end of a system call or signal, at fork and at exit. */

int tenon_hooks_init(void);
void tenon_hooks_exit(void);

#endif
