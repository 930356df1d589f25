/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Offlets: callbacks of a kernel module on a lent CPU, between the steps of its hyplet.
 *
 * Without an offlet, a hyplet's function runs once. With one, it runs repeatedly: its result is
 * passed to the callback, and the result of the callback to the next step. The callback runs at EL1
 * with the kernel's memory. For Linux the CPU is off: the callback must not sleep, allocate, depend
 * on this CPU, or use `current`. Per-CPU variables of other CPUs, MMIO and spin locks can be used.
 */
#ifndef TENON_OFFLET_H
#define TENON_OFFLET_H

struct hyp_wait {
	long (*user_callback)(struct hyp_wait *wait, long value);
};

/*
 * Registers the callback of a CPU, before or after the CPU is lent. 0; -EBUSY: it has one; -ENODEV;
 * -ENOMEM.
 */
int offlet_register(struct hyp_wait *wait, unsigned int cpu);

/* Unregisters the callback and waits until it does not run. -ENOENT: it is not registered. */
int offlet_unregister(struct hyp_wait *wait, unsigned int cpu);

#endif
