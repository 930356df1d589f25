/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Detached threads: threads of a Linux program that run on lent cores (docs/linux.md).
 *
 * Each function returns 0, or -1 with errno.
 */
#ifndef TENON_DETACH_H
#define TENON_DETACH_H

#include <stdint.h>

/* Detaches the calling thread to a lendable CPU; -1: any free one. */
int tenon_detach(int cpu);

/* Attaches the calling thread to Linux, and returns the CPU. */
int tenon_attach(void);

/* Current time in ns of the virtual counter. */
uint64_t tenon_now(void);

/*
 * Waits until an absolute time in ns of the virtual counter. A detached thread waits without Linux:
 * its core sleeps. A signal ends the wait early, with EINTR if the thread is attached.
 */
int tenon_wait_until(uint64_t ns);

#endif
