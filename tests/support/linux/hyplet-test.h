/* SPDX-License-Identifier: GPL-2.0 */
/* A hyplet that runs until it is stopped, and a run of a hyplet to its end. `CPU` is the test's. */
#ifndef HYPLET_TEST_H
#define HYPLET_TEST_H

#include <tenon/hyplet.h>

#include "check.h"

// It yields every few microseconds: with instruction counting the emulator runs one CPU at a time,
// without a yield until the next timer, which may be seconds away.
HYP_CODE __attribute__((unused)) static long spins(long unused)
{
    unsigned int i;

    for (i = 0;; i++) {
        hyp_progress();
        if (i % 1024 == 0)
            __asm__ volatile("yield");
    }
    return unused;
}

__attribute__((unused)) static struct tenon_hyplet_end run_to_end(int cpu, hyplet_function *function)
{
    struct tenon_hyplet_end end;

    CHECK(!hyp_assign_offlet(cpu, function));
    CHECK(!hyp_wait(function, &end));
    CHECK(!hyp_unassign_offlet(function));
    return end;
}

#endif
