// SPDX-License-Identifier: GPL-2.0
/*
 * How a hyplet's steps follow each other on its core.
 *
 * A kernel thread per assignment hears of the end of each and begins the next. It is on another CPU
 * and sleeps while the core runs.
 */
#include "hyplet.h"

#include <linux/kthread.h>
#include <asm/esr.h>

static u32 fate(const struct tenon_cell *cell)
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

/* What the cell says; under the turn. */
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

/* Another step, of which the cell has all but the turn; under the turn. */
static void run_on(struct hyplet_core *core, bool in_kernel)
{
	core->in_kernel = in_kernel;
	/* It says no: Linux has turned the CPU on. */
	if (tenon_loan_run(core->loan)) {
		core->in_kernel = false;
		conclude(core, TENON_HYPLET_RECLAIMED);
	}
	wake_up_all(&core->ended);
}

/* Hears of the event that the cell shows; under the turn. */
static void proceed(struct hyplet_core *core)
{
	struct tenon_cell *cell = core->loan->cell;
	struct hyp_wait *offlet = hyplet_offlet(core->cpu);
	u32 state = fate(cell);

	if (core->in_kernel && hyplet_offlet_returned(cell)) {
		core->entry.argument = cell->x[0];
		hyplet_context_user(cell, &core->entry);
		run_on(core, false);
		return;
	}
	core->in_kernel = false;
	core->end.steps += state == TENON_HYPLET_RETURNED;
	if (state == TENON_HYPLET_RETURNED && offlet) {
		hyplet_offlet_context(cell, offlet, cell->x[0], core->stack + HYPLET_STACK, core->cpu);
		run_on(core, true);
	} else {
		conclude(core, state);
	}
}

int hyplet_step_thread(void *data)
{
	struct hyplet_core *core = data;

	while (!hyplet_step_is_over(core)) {
		tenon_loan_wait(core->loan, tenon_loan_event(core->loan), TASK_IDLE);
		mutex_lock(&core->turn);
		if (!hyplet_step_is_over(core))
			proceed(core);
		mutex_unlock(&core->turn);
	}
	return 0;
}

/* Whatever it does, it does no more; what it did is concluded. */
void hyplet_step_stop(struct hyplet_core *core)
{
	mutex_lock(&core->turn);
	if (!hyplet_step_is_over(core)) {
		tenon_loan_stop(core->loan);
		core->in_kernel = false;
		conclude(core, fate(core->loan->cell));
	}
	mutex_unlock(&core->turn);
}

/* Of one that is assigned, what it says now; then what it said last. */
u64 hyplet_step_progress(struct hyplet_core *core)
{
	u64 progress;

	mutex_lock(&core->turn);
	progress = core->progress ? READ_ONCE(*core->progress) : core->end.progress;
	mutex_unlock(&core->turn);
	return progress;
}
