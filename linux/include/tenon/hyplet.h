/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hyplets: functions of a program that run on lent CPUs (docs/hyplets.md).
 *
 * Functions called in Linux return 0, or -1 with errno. Functions called by a hyplet are inlined
 * from this header: functions of libraries are not mapped unless they are declared.
 */
#ifndef TENON_HYPLET_USER_H
#define TENON_HYPLET_USER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tenon-hyplet.h>

/* Sections of a hyplet's code and data, for hyp_map_section(). */
#define HYP_CODE __attribute__((section("hyp_code"), noinline, no_stack_protector))
#define HYP_DATA __attribute__((section("hyp_data")))

/* The argument is the last result of the kernel's callback, at first 0. */
typedef long hyplet_function(long);

/* ---- in Linux: memory of a hyplet -------------------------------------------------------- */

int hyp_map(void *address, size_t size);
int hyp_map_all(void);
int hyp_unmap(void *address);
/* The range must be within one VMA; size 0: the whole VMA that contains the address. */
int hyp_map_vma(void *address, size_t size);
int hyp_set_stack(void *address, size_t size);

/* Sections of the running program, by name. */
int Elf_parser_load_memory_map(const char *program);
int get_section_addr(const char *name, void **address, size_t *size);
int hyp_map_section(const char *name);

/* Address of the instruction for which the last call failed with ENOEXEC. */
uint64_t hyp_refused(uint32_t *instruction);

/* ---- in Linux: CPUs and functions -------------------------------------------------------- */

int hyplet_drop_cpu(int cpu);
int hyp_assign_offlet(int cpu, hyplet_function *function);
int hyp_unassign_offlet(hyplet_function *function);
/* Waits until the function has returned or ended; any number of threads may wait. */
int hyp_wait(hyplet_function *function, struct tenon_hyplet_end *end);
/* Prints the lines that hyplets recorded; returns their number. */
int print_hyp(void);

/* ---- on the lent CPU; those marked * in Linux too ---------------------------------------- */

#define HYP_INLINE static inline __attribute__((always_inline, unused))

enum { HYP_CPUS = 64, HYP_LINES = 63, HYP_VALUES = 6 };

typedef uint32_t hyp_spinlock;

/* Data shared by hyplets and Linux, in pages of their own, which hyp_assign_offlet() maps. */
struct hyp_shared {
	uint64_t progress[HYP_CPUS];
	hyp_spinlock lock;
	uint32_t written, printed, lost;
	struct {
		const char *format;
		uint64_t values[HYP_VALUES];
	} lines[HYP_LINES];
} __attribute__((aligned(4096)));

extern struct hyp_shared hyp_shared __attribute__((visibility("hidden")));

/* In assembly, as the atomics of the compiler can be library calls. */

/* * */
HYP_INLINE void hyp_lock(hyp_spinlock *lock)
{
	uint32_t value, failed;

	__asm__ volatile("	sevl\n"
			 "1:	wfe\n"
			 "2:	ldaxr	%w0, %2\n"
			 "	cbnz	%w0, 1b\n"
			 "	stxr	%w1, %w3, %2\n"
			 "	cbnz	%w1, 2b\n"
			 : "=&r"(value), "=&r"(failed), "+Q"(*lock)
			 : "r"(1)
			 : "memory");
}

/* * */
HYP_INLINE void hyp_unlock(hyp_spinlock *lock)
{
	__asm__ volatile("stlr %w1, %0" : "=Q"(*lock) : "r"(0) : "memory");
}

/* * Current time in ns of the virtual counter. */
HYP_INLINE uint64_t hyp_gettime(void)
{
	const uint64_t second = 1000000000;
	uint64_t ticks, frequency;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tmrs %1, cntfrq_el0"
			 : "=r"(ticks), "=r"(frequency)
			 :
			 : "memory");
	return ticks / frequency * second + ticks % frequency * second / frequency;
}

/* Waits until an absolute time in ns of the virtual counter, without Linux: the core sleeps. */
HYP_INLINE void hyp_wait_until(uint64_t ns)
{
	register uint64_t x0 __asm__("x0") = ns;
	register uint64_t x8 __asm__("x8") = 0x7e00001;

	__asm__ volatile("svc #0x7e0" : "+r"(x0) : "r"(x8) : "memory");
}

/* Number of the CPU. */
HYP_INLINE unsigned int hyp_cpu(void)
{
	uint64_t cpu;

	__asm__("mrs %0, tpidrro_el0" : "=r"(cpu));
	return cpu % HYP_CPUS;
}

/* Counts up the progress: /sys/kernel/tenon/hyplet/cpuN/progress. */
HYP_INLINE void hyp_progress(void)
{
	volatile uint64_t *progress = &hyp_shared.progress[hyp_cpu()];

	*progress = *progress + 1;
}

HYP_INLINE void hyp_record(const char *format, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
			   uint64_t e, uint64_t f)
{
	const uint64_t values[HYP_VALUES] = { a, b, c, d, e, f };
	uint32_t line;
	int i;

	hyp_lock(&hyp_shared.lock);
	line = hyp_shared.written % HYP_LINES;
	if (hyp_shared.written - hyp_shared.printed == HYP_LINES) {
		hyp_shared.lost++;
	} else {
		hyp_shared.lines[line].format = format;
		for (i = 0; i < HYP_VALUES; i++)
			((volatile uint64_t *)hyp_shared.lines[line].values)[i] = values[i];
		hyp_shared.written++;
	}
	hyp_unlock(&hyp_shared.lock);
}

#define HYP_RECORD(format, a, b, c, d, e, f, ...) \
	hyp_record(format, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), \
		   (uint64_t)(e), (uint64_t)(f))

/* Records a line for print_hyp(): a static format and at most six integers or static strings. */
#define hyp_print(...) \
	((void)sizeof(printf(__VA_ARGS__)), HYP_RECORD(__VA_ARGS__, 0, 0, 0, 0, 0, 0))

#endif
