// SPDX-License-Identifier: GPL-2.0
/*
 * Steps of a hyplet on its core.
 *
 * A kernel thread per assignment waits for the end of each step and starts the next. It runs on
 * another CPU and sleeps while the step runs.
 */
#include "hyplet.h"

#include <linux/kthread.h>
#include <asm/esr.h>

static u32 end_state(const struct tenon_cell *cell)
{
	switch (cell->reason) {
	case TENON_LOAN_STOPPED:
		return TENON_HYPLET_STOPPED;
	case TENON_LOAN_RECLAIMED:
		return TENON_HYPLET_RECLAIMED;
	case TENON_LOAN_EXCEPTION:
		if (ESR_ELx_EC(cell->esr) == ESR_ELx_EC_IABT_LOW &&
		    cell->pc == TENON_HYPLET_RETURN)
			return TENON_HYPLET_RETURNED;
		return TENON_HYPLET_FAULTED;
	default:
		return TENON_HYPLET_FAULTED;
	}
}

/* Records the result from the cell; the caller holds step_lock. */
static void conclude(struct hyplet_core *core, u32 state)
{
	const struct tenon_cell *cell = core->loan->cell;
	struct tenon_hyplet_end *end = &core->end;

	end->value = cell->x[0];
	end->pc = cell->pc;
	end->syndrome = state == TENON_HYPLET_FAULTED ? cell->esr : 0;
	end->address = state == TENON_HYPLET_FAULTED ? cell->far : 0;
	smp_store_release(&end->state, state);
	wake_up_all(&core->ended);
}

bool hyplet_step_is_over(const struct hyplet_core *core)
{
	return smp_load_acquire(&core->end.state) != TENON_HYPLET_RUNNING;
}

/* Starts the next step from the prepared cell; the caller holds step_lock. */
static void run_step(struct hyplet_core *core, bool in_kernel)
{
	core->in_kernel = in_kernel;
	/* Refused: Linux has turned the CPU on. */
	if (tenon_loan_run(core->loan)) {
		core->in_kernel = false;
		conclude(core, TENON_HYPLET_RECLAIMED);
	}
	wake_up_all(&core->ended);
}

/* Handles the return of the core; the caller holds step_lock. */
static void handle_return(struct hyplet_core *core)
{
	struct tenon_cell *cell = core->loan->cell;
	struct hyp_wait *offlet = hyplet_offlet(core->cpu);
	u32 state = end_state(cell);

	if (core->in_kernel && hyplet_offlet_returned(cell)) {
		core->entry.argument = cell->x[0];
		hyplet_context_user(cell, &core->entry);
		run_step(core, false);
		return;
	}
	core->in_kernel = false;
	core->end.steps += state == TENON_HYPLET_RETURNED;
	if (state == TENON_HYPLET_RETURNED && offlet) {
		hyplet_offlet_context(cell, offlet, cell->x[0], core->stack + HYPLET_STACK, core->cpu);
		run_step(core, true);
	} else {
		conclude(core, state);
	}
}

int hyplet_step_thread(void *data)
{
	struct hyplet_core *core = data;

	while (!hyplet_step_is_over(core)) {
		tenon_loan_wait(core->loan, tenon_loan_returned(core->loan), TASK_IDLE);
		mutex_lock(&core->step_lock);
		if (!hyplet_step_is_over(core))
			handle_return(core);
		mutex_unlock(&core->step_lock);
	}
	return 0;
}

/* Stops the current step, if there is one, and records the result. */
void hyplet_step_stop(struct hyplet_core *core)
{
	mutex_lock(&core->step_lock);
	if (!hyplet_step_is_over(core)) {
		tenon_loan_stop(core->loan);
		core->in_kernel = false;
		conclude(core, end_state(core->loan->cell));
	}
	mutex_unlock(&core->step_lock);
}

/* Current progress of an assigned function; the last progress of one that has ended. */
u64 hyplet_step_progress(struct hyplet_core *core)
{
	u64 progress;

	mutex_lock(&core->step_lock);
	progress = core->progress ? READ_ONCE(*core->progress) : core->end.progress;
	mutex_unlock(&core->step_lock);
	return progress;
}
