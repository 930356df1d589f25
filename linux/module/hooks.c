// SPDX-License-Identifier: GPL-2.0
/*
 * Hooks for detached threads: end of a system call, end of a signal, fork and exit.
 *
 * Other threads have no overhead: syscall_trace_exit() is called only for threads with traced
 * system calls, and only detached ones among them queue task work.
 */
#include "detach.h"

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

static void call_ends(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
		      struct ftrace_regs *registers)
{
	struct tenon_thread *thread = tenon_thread_of(current);

	if (thread)
		tenon_thread_queue(thread);
}

static struct ftrace_ops call_end = { .func = call_ends };

static int signal_begins(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct tenon_thread *thread = tenon_thread_of(current);

	if (!thread)
		return 1;
	thread->in_signal = true;
	return 0;
}

/* After a stop, a trace event or the set-up of a handler, the user registers are final. */
static int signal_ends(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct tenon_thread *thread = tenon_thread_of(current);

	if (thread) {
		thread->in_signal = false;
		tenon_thread_queue(thread);
	}
	return 0;
}

static struct kretprobe signal = {
	.kp.symbol_name = "get_signal",
	.entry_handler = signal_begins,
	.handler = signal_ends,
	.maxactive = NR_CPUS,
};

/* A child is attached; clears the trace flag that it inherits. */
static void forks(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct tenon_thread *thread = tenon_thread_of(parent);

	if (thread && !thread->was_traced)
		clear_tsk_thread_flag(child, TIF_SYSCALL_TRACEPOINT);
}

static void exits(void *data, struct task_struct *task)
{
	struct tenon_thread *thread = tenon_thread_of(task);

	if (thread)
		tenon_thread_leave(thread);
}

static struct {
	const char *name;
	void *function;
	struct tracepoint *point;
	bool registered;
} points[] = {
	{ "sched_process_fork", forks },
	{ "sched_process_exit", exits },
};

/* The tracepoint symbols are not exported; they are found by name. */
static void find(struct tracepoint *point, void *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(points); i++)
		if (!strcmp(point->name, points[i].name))
			points[i].point = point;
}

static int points_init(void)
{
	int i, error;

	for_each_kernel_tracepoint(find, NULL);
	for (i = 0; i < ARRAY_SIZE(points); i++) {
		if (!points[i].point)
			return -ENOENT;
		error = tracepoint_probe_register(points[i].point, points[i].function, NULL);
		if (error)
			return error;
		points[i].registered = true;
	}
	return 0;
}

static void points_exit(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(points); i++) {
		if (points[i].registered)
			tracepoint_probe_unregister(points[i].point, points[i].function, NULL);
		points[i].registered = false;
	}
	tracepoint_synchronize_unregister();
}

int tenon_hooks_init(void)
{
	int error = points_init();

	if (error)
		goto points;
	error = register_kretprobe(&signal);
	if (error)
		goto points;
	error = ftrace_set_filter(&call_end, "syscall_trace_exit", strlen("syscall_trace_exit"), 0);
	if (!error)
		error = register_ftrace_function(&call_end);
	if (!error)
		return 0;
	unregister_kretprobe(&signal);
points:
	points_exit();
	return error;
}

void tenon_hooks_exit(void)
{
	unregister_ftrace_function(&call_end);
	unregister_kretprobe(&signal);
	points_exit();
}
