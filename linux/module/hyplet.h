/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hyplets: functions of a process that run on lent CPUs (docs/hyplets.md).
 *
 * memory: the memory they may access; device: device registers in it; core: a CPU that runs a
 * hyplet; context: initial registers; step: sequence of steps; offlet: callbacks of the kernel
 * between steps; show: sysfs; hyplet: the character device.
 */
#ifndef TENON_HYPLET_H
#define TENON_HYPLET_H

#include "loan.h"
#include "table.h"

#include <linux/fs.h>
#include <linux/kobject.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <tenon-hyplet.h>

/*
 * hyplet_memory.c: the caller holds the lock of the hyplet; calls that map run in its own process.
 */

struct hyplet_memory {
	struct mm_struct *mm;
	struct xarray pages; /* struct hyplet_page by page number */
	struct list_head regions;
};

void hyplet_memory_init(struct hyplet_memory *memory, struct mm_struct *mm);
int hyplet_memory_map(struct hyplet_memory *memory, struct tenon_hyplet_map *map);
int hyplet_memory_map_all(struct hyplet_memory *memory);
int hyplet_memory_unmap(struct hyplet_memory *memory, u64 address);
void hyplet_memory_drop(struct hyplet_memory *memory);
bool hyplet_memory_writable(struct hyplet_memory *memory, u64 address, u64 bytes);
/* Kernel address of a word; NULL if it is not mapped writable. */
u64 *hyplet_memory_word(struct hyplet_memory *memory, u64 address);
int hyplet_memory_build(struct hyplet_memory *memory, struct tenon_table *table);

/* hyplet_device.c: whether a page contains registers of a device that is assigned to this VM. */

bool hyplet_device_is_known(u64 page);

#define HYPLET_STACK (4 * PAGE_SIZE) /* stack of callbacks */

/* State of one open file of the device, owned by the opening process. */
struct hyplet {
	struct mutex lock;
	fl_owner_t owner;
	struct hyplet_memory memory;
	u64 stack; /* end of the stack; 0: none */
	unsigned int assigned; /* number of assigned cores; memory can change only if it is 0 */
};

struct hyplet_entry {
	u64 pc;
	u64 argument;
	u64 stack;
	u64 root; /* physical */
	u64 asid;
	u64 tls;
	u64 cpu;
};

struct hyplet_core {
	struct kobject object;
	struct list_head list;
	u32 cpu;
	struct hyplet *owner; /* NULL: free; protected by cores_lock */
	struct tenon_loan *loan;
	struct hyplet_entry entry;
	struct tenon_table table;
	u64 *progress;
	struct task_struct *runner; /* NULL: no function is assigned */
	struct mutex step_lock; /* protects the fields below and the owner of the cell */
	bool in_kernel; /* a callback runs on the core */
	void *stack; /* stack of callbacks */
	u64 assignments; /* count of assignments */
	struct tenon_hyplet_end end;
	pid_t pid;
	wait_queue_head_t ended;
};

/* hyplet_core.c: the caller holds the lock of the hyplet, except for hyplet_core_wait(). */

int hyplet_core_claim(struct hyplet *hyplet, u32 cpu);
int hyplet_core_assign(struct hyplet *hyplet, const struct tenon_hyplet_assign *wish);
int hyplet_core_unassign(struct hyplet *hyplet, u64 function);
int hyplet_core_wait(struct hyplet *hyplet, struct tenon_hyplet_end *end);
void hyplet_cores_release(struct hyplet *hyplet);
void hyplet_core_synchronize(u32 cpu);
void hyplet_cores_exit(void);

/* hyplet_step.c */

int hyplet_step_thread(void *core);
bool hyplet_step_is_over(const struct hyplet_core *core);
void hyplet_step_stop(struct hyplet_core *core);
u64 hyplet_step_progress(struct hyplet_core *core);

/*
 * hyplet_show.c: /sys/kernel/tenon/hyplet/cpuN. The last reference to the kobject frees the core.
 */

int hyplet_show_init(struct kobject *parent);
int hyplet_show_core(struct hyplet_core *core);
void hyplet_show_exit(void);

/* hyplet_context.c: initial registers, for a cell that Linux owns. */

bool hyplet_context_possible(void);
void hyplet_context_user(struct tenon_cell *cell, const struct hyplet_entry *entry);
/* Invalidates all translations of the ASID on all cores. */
void hyplet_context_invalidate(u64 asid);

/* hyplet_offlet.c: kernel callbacks between two steps. */

struct hyp_wait;

struct hyp_wait *hyplet_offlet(u32 cpu);
void hyplet_offlet_context(struct tenon_cell *cell, struct hyp_wait *wait, u64 value,
			   const void *stack, u32 cpu);
bool hyplet_offlet_returned(const struct tenon_cell *cell);

#endif
