/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of a kernel module on a CPU that Linux gave up, between the steps of its hyplet.
 *
 * A hyplet's function runs once; with an offlet it runs again and again: what it returned goes to
 * the callback, and what that returns to the function's next step. The callback runs at EL1 with
 * the kernel's memory. Its CPU is off for Linux: it must not sleep, allocate, wait for what needs
 * that CPU, nor look at `current`; variables of other CPUs, MMIO and what spins are there.
 */
#ifndef TENON_OFFLET_H
#define TENON_OFFLET_H

struct hyp_wait {
	long (*user_callback)(struct hyp_wait *wait, long value);
};

/* Before the CPU is dropped or after; one for each. 0, -EBUSY: there is another; -ENODEV; -ENOMEM. */
int offlet_register(struct hyp_wait *wait, unsigned int cpu);

/* Returns when it does not run any more, and will not. -ENOENT: it is not registered. */
int offlet_unregister(struct hyp_wait *wait, unsigned int cpu);

#endif
