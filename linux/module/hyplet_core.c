// SPDX-License-Identifier: GPL-2.0
/* CPUs that run hyplets: owner and assigned function of each. */
#include "hyplet.h"

#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <asm/mmu_context.h>

static DEFINE_MUTEX(cores_lock);
/* All CPUs that ever ran a hyplet; sysfs shows the result of the last one. */
static LIST_HEAD(cores);

static struct hyplet_core *core_of(struct hyplet *hyplet, u32 cpu)
{
	struct hyplet_core *core, *found = NULL;

	mutex_lock(&cores_lock);
	list_for_each_entry(core, &cores, list)
		if (core->cpu == cpu && core->owner == hyplet)
			found = core;
	mutex_unlock(&cores_lock);
	return found;
}

static struct hyplet_core *core_with(struct hyplet *hyplet, u64 function)
{
	struct hyplet_core *core, *found = NULL;

	mutex_lock(&cores_lock);
	list_for_each_entry(core, &cores, list)
		if (core->owner == hyplet && core->runner && core->entry.pc == function)
			found = core;
	mutex_unlock(&cores_lock);
	return found;
}

static void core_end(struct hyplet *hyplet, struct hyplet_core *core)
{
	hyplet_step_stop(core);
	kthread_stop(core->runner);
	put_task_struct(core->runner);
	core->runner = NULL;
	core->end.progress = hyplet_step_progress(core);
	mutex_lock(&core->step_lock);
	core->progress = NULL;
	mutex_unlock(&core->step_lock);
	/* Before Linux runs the process with the same ASID on that core again. */
	hyplet_context_invalidate(core->entry.asid);
	tenon_table_free(&core->table);
	arm64_mm_context_put(hyplet->memory.mm);
	hyplet->assigned--;
}

static void core_release(struct hyplet *hyplet, struct hyplet_core *core)
{
	struct tenon_loan *loan = core->loan;

	if (core->runner)
		core_end(hyplet, core);
	mutex_lock(&cores_lock);
	core->owner = NULL;
	core->loan = NULL;
	mutex_unlock(&cores_lock);
	tenon_loan_release(loan);
}

static struct hyplet_core *core_owned(struct hyplet *hyplet)
{
	struct hyplet_core *core, *found = NULL;

	mutex_lock(&cores_lock);
	list_for_each_entry(core, &cores, list)
		if (core->owner == hyplet)
			found = core;
	mutex_unlock(&cores_lock);
	return found;
}

void hyplet_cores_release(struct hyplet *hyplet)
{
	struct hyplet_core *core;

	while ((core = core_owned(hyplet)))
		core_release(hyplet, core);
}

static struct hyplet_core *core_new(u32 cpu)
{
	struct hyplet_core *core = kzalloc(sizeof(*core), GFP_KERNEL);
	int error;

	if (!core)
		return ERR_PTR(-ENOMEM);
	core->cpu = cpu;
	mutex_init(&core->step_lock);
	init_waitqueue_head(&core->ended);
	core->stack = kmalloc(HYPLET_STACK, GFP_KERNEL);
	error = hyplet_show_core(core);
	if (!error && !core->stack) {
		kobject_put(&core->object);
		error = -ENOMEM;
	}
	if (error)
		return ERR_PTR(error);
	list_add(&core->list, &cores);
	return core;
}

/* Assigns the core of a loan to this hyplet. */
static struct hyplet_core *core_take(struct hyplet *hyplet, struct tenon_loan *loan)
{
	struct hyplet_core *core;

	mutex_lock(&cores_lock);
	list_for_each_entry(core, &cores, list)
		if (core->cpu == loan->cpu)
			break;
	if (list_entry_is_head(core, &cores, list))
		core = core_new(loan->cpu);
	if (!IS_ERR(core)) {
		core->loan = loan;
		core->owner = hyplet;
	}
	mutex_unlock(&cores_lock);
	return core;
}

int hyplet_core_claim(struct hyplet *hyplet, u32 cpu)
{
	/* A loan has one owner until it is released. */
	struct tenon_loan *loan = tenon_loan_claim(cpu);
	struct hyplet_core *core;

	if (IS_ERR(loan))
		return PTR_ERR(loan);
	core = core_take(hyplet, loan);
	if (IS_ERR(core))
		tenon_loan_release(loan);
	return PTR_ERR_OR_ZERO(core);
}

/* Builds the translation table and the initial registers from the current mappings. */
static int core_prepare(struct hyplet *hyplet, struct hyplet_core *core,
			const struct tenon_hyplet_assign *wish)
{
	struct hyplet_entry *entry = &core->entry;
	int error = hyplet_memory_build(&hyplet->memory, &core->table);

	if (error)
		return error;
	if (!tenon_entry_executes(tenon_table_entry(&core->table, wish->function)) ||
	    wish->function % 4)
		return -EFAULT;
	core->progress = hyplet_memory_word(&hyplet->memory, wish->progress);
	if (wish->progress && !core->progress)
		return -EFAULT;
	*entry = (struct hyplet_entry){
		.pc = wish->function,
		.cpu = core->cpu,
		.stack = ALIGN_DOWN(hyplet->stack, 16),
		.root = virt_to_phys(core->table.root),
		.asid = arm64_mm_context_get(hyplet->memory.mm),
		.tls = read_sysreg(tpidr_el0),
	};
	return entry->asid ? 0 : -ENOSPC;
}

static int core_start(struct hyplet_core *core)
{
	int error;

	core->runner = kthread_create(hyplet_step_thread, core, "hyplet/%u", core->cpu);
	if (IS_ERR(core->runner)) {
		error = PTR_ERR(core->runner);
		core->runner = NULL;
		return error;
	}
	get_task_struct(core->runner);
	core->pid = current->tgid;
	core->end = (struct tenon_hyplet_end){ .function = core->entry.pc };
	WRITE_ONCE(core->assignments, core->assignments + 1);
	hyplet_context_invalidate(core->entry.asid);
	hyplet_context_user(core->loan->cell, &core->entry);
	core->end.state = TENON_HYPLET_RUNNING;
	error = tenon_loan_run(core->loan);
	if (error) {
		core->end.state = TENON_HYPLET_IDLE;
		kthread_stop(core->runner);
		put_task_struct(core->runner);
		core->runner = NULL;
		return error;
	}
	wake_up_process(core->runner);
	return 0;
}

int hyplet_core_assign(struct hyplet *hyplet, const struct tenon_hyplet_assign *wish)
{
	struct hyplet_core *core = core_of(hyplet, wish->cpu);
	int error;

	if (!core)
		return -ENODEV;
	if (core->runner)
		return -EBUSY;
	if (core_with(hyplet, wish->function))
		return -EEXIST;
	if (!hyplet->stack)
		return -EINVAL;
	core->entry.asid = 0;
	error = core_prepare(hyplet, core, wish);
	if (!error)
		error = core_start(core);
	if (error) {
		if (core->entry.asid)
			arm64_mm_context_put(hyplet->memory.mm);
		tenon_table_free(&core->table);
		core->progress = NULL;
		return error;
	}
	hyplet->assigned++;
	return 0;
}

int hyplet_core_unassign(struct hyplet *hyplet, u64 function)
{
	struct hyplet_core *core = core_with(hyplet, function);

	if (!core)
		return -ENOENT;
	core_end(hyplet, core);
	return 0;
}

int hyplet_core_wait(struct hyplet *hyplet, struct tenon_hyplet_end *end)
{
	struct hyplet_core *core;
	u64 assignment = 0;
	int error;

	mutex_lock(&hyplet->lock);
	core = core_with(hyplet, end->function);
	if (core)
		assignment = core->assignments;
	mutex_unlock(&hyplet->lock);
	if (!core)
		return -ENOENT;
	/* The core structure persists; the assignment may end meanwhile. */
	error = wait_event_interruptible(core->ended, hyplet_step_is_over(core) ||
						      READ_ONCE(core->assignments) != assignment);
	if (error)
		return error;
	mutex_lock(&core->step_lock);
	*end = core->end;
	mutex_unlock(&core->step_lock);
	end->progress = hyplet_step_progress(core);
	return core->assignments == assignment ? 0 : -ECANCELED;
}

/* Waits until the core runs no callback that was registered before the call. */
void hyplet_core_synchronize(u32 cpu)
{
	struct hyplet_core *core;

	mutex_lock(&cores_lock);
	list_for_each_entry(core, &cores, list)
		if (core->cpu == cpu)
			break;
	mutex_unlock(&cores_lock);
	if (list_entry_is_head(core, &cores, list))
		return;
	/* A callback is selected under the lock. */
	mutex_lock(&core->step_lock);
	mutex_unlock(&core->step_lock);
	wait_event(core->ended, !READ_ONCE(core->in_kernel));
}

void hyplet_cores_exit(void)
{
	struct hyplet_core *core, *next;

	list_for_each_entry_safe(core, next, &cores, list) {
		list_del(&core->list);
		kobject_put(&core->object);
	}
}
