/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads that leave Linux for a core of their own, and stay part of it (docs/linux.md).
 *
 * Each function returns 0, or -1 with errno.
 */
#ifndef TENON_DETACH_H
#define TENON_DETACH_H

#include <stdint.h>

/* Puts the calling thread onto a lendable CPU: this one, or any that is free for -1. */
int tenon_detach(int cpu);

/* Has Linux run the calling thread again, and gives the CPU back. */
int tenon_attach(void);

/* Now, in ns of the virtual counter. */
uint64_t tenon_now(void);

/*
 * Waits until so many ns of the virtual counter. Detached it does so without Linux: its core
 * sleeps. A signal ends the wait early, with EINTR if the thread is attached.
 */
int tenon_wait_until(uint64_t ns);

#endif
