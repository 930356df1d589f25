/* SPDX-License-Identifier: GPL-2.0 */
/* Cores that Linux lends to its programs: claimed, made to run a context, given back. */
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
 * A core that is free, off and the caller's from here on; -1: any. -ENODEV without any, -EPERM if the
 * system does not lend that one, -EBUSY if it is somebody's. May sleep, for long.
 */
struct tenon_loan *tenon_loan_claim(int cpu);

/* Gives it back to Linux, which turns it on. What still runs there is stopped. May sleep. */
void tenon_loan_release(struct tenon_loan *loan);

/* Has the core run what the cell holds, which is Linux's again when tenon_loan_event() says so. */
int tenon_loan_run(struct tenon_loan *loan);

/* Has it stopped, and waits for that: some microseconds. */
void tenon_loan_stop(struct tenon_loan *loan);

/* Has the event interrupt come to this CPU: whoever sleeps here is woken without a second one. */
void tenon_loan_listen(void);

/*
 * Sleeps, as wait_event() and its likes do in this state, until the condition holds. It is looked at
 * whenever the core comes back, and when somebody calls tenon_loan_wake(). Either the core sees the
 * sleeper, or the sleeper what the core did: a barrier is before the condition.
 */
#define tenon_loan_wait(loan, condition, state)                                                    \
	({                                                                                         \
		int interrupted;                                                                   \
												   \
		tenon_loan_listen();                                                               \
		WRITE_ONCE((loan)->cell->sleeper, 1);                                              \
		interrupted = rcuwait_wait_event(&(loan)->waiter, condition, state);               \
		WRITE_ONCE((loan)->cell->sleeper, 0);                                              \
		interrupted;                                                                       \
	})

static inline void tenon_loan_wake(struct tenon_loan *loan)
{
	rcuwait_wake_up(&loan->waiter);
}

/* Whether there is a core that may be lent. */
bool tenon_loan_any(void);

static inline bool tenon_loan_event(const struct tenon_loan *loan)
{
	return smp_load_acquire(&loan->cell->turn) != TENON_TURN_RUN;
}

#endif
