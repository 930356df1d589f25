/* SPDX-License-Identifier: GPL-2.0 */
/* Lent cores: claim, run a context, release. */
#ifndef TENON_LOAN_H
#define TENON_LOAN_H

#include "cell.h"

#include <linux/rcuwait.h>
#include <linux/sched/signal.h>
#include <asm/barrier.h>

struct tenon_loan {
	unsigned int cpu;
	struct tenon_cell *cell;
	struct rcuwait waiter; /* woken by the event interrupt */
};

/*
 * Claims a free lendable core for the caller and turns its CPU off; -1: any core. -ENODEV if there
 * is none, -EPERM if that core is not lendable, -EBUSY if it is claimed. May sleep, for long.
 */
struct tenon_loan *tenon_loan_claim(int cpu);

/* Stops the context and returns the core to Linux, which turns its CPU on. May sleep. */
void tenon_loan_release(struct tenon_loan *loan);

/* Makes the core run the context of the cell, until tenon_loan_returned() is true. */
int tenon_loan_run(struct tenon_loan *loan);

/* Stops the context and waits until it has stopped: some microseconds. */
void tenon_loan_stop(struct tenon_loan *loan);

/*
 * Routes the event interrupt to this CPU, so that a task that sleeps here is woken without an IPI.
 */
void tenon_loan_route_event(void);

/*
 * Sleeps in this task state until the condition is true, as wait_event() does. The condition is
 * checked when the core returns and after tenon_loan_wake(). There is a barrier before the
 * condition: either the core sees the sleeper flag, or this task sees that the core has returned.
 */
#define tenon_loan_wait(loan, condition, state)                                                    \
	({                                                                                         \
		int interrupted;                                                                   \
												   \
		tenon_loan_route_event();                                                          \
		WRITE_ONCE((loan)->cell->sleeper, 1);                                              \
		interrupted = rcuwait_wait_event(&(loan)->waiter, condition, state);               \
		WRITE_ONCE((loan)->cell->sleeper, 0);                                              \
		interrupted;                                                                       \
	})

static inline void tenon_loan_wake(struct tenon_loan *loan)
{
	rcuwait_wake_up(&loan->waiter);
}

/* Whether there is a lendable core. */
bool tenon_loan_any(void);

static inline bool tenon_loan_returned(const struct tenon_loan *loan)
{
	return smp_load_acquire(&loan->cell->owner) != TENON_CELL_CORE;
}

#endif
