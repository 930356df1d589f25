/* SPDX-License-Identifier: GPL-2.0 */
/* Substitutes for kernel interfaces, for host tests of the files that use no device. */
#ifndef TENON_HOST_H
#define TENON_HOST_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
typedef uint32_t u32;

#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELAXED)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, value) __atomic_store_n(p, value, __ATOMIC_RELEASE)
#define smp_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))
#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))

#define PAGE_SIZE 4096ul
#define GFP_KERNEL_ACCOUNT 0

/* Number of free pages, by which a test detects leaks and exhausts memory. */
extern long host_pages;

static inline unsigned long get_zeroed_page(int flags)
{
	void *page = host_pages > 0 ? aligned_alloc(PAGE_SIZE, PAGE_SIZE) : NULL;

	(void)flags;
	if (page)
		host_pages--, memset(page, 0, PAGE_SIZE);
	return (unsigned long)page;
}

static inline void free_page(unsigned long page)
{
	host_pages++;
	free((void *)page);
}

static inline u64 virt_to_phys(const void *address)
{
	return (u64)address;
}

static inline void *phys_to_virt(u64 address)
{
	return (void *)address;
}

#endif
