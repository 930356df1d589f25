/* SPDX-License-Identifier: GPL-2.0 */
/* What the queue needs of the kernel, for a test outside of it. */
#ifndef TENON_HOST_H
#define TENON_HOST_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

typedef uint64_t u64;
typedef uint32_t u32;

#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELAXED)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, value) __atomic_store_n(p, value, __ATOMIC_RELEASE)
#define smp_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))

#endif
