/* Management of virtual machines from Tenon (docs/lifecycle.md).
 *
 * The table [vm.manages] of the program's VM lists the VMs, memory and cores that it may manage. A
 * function that returns -1 sets errno:
 *
 *   EINVAL  an argument is invalid
 *   EPERM   this VM has no authority for the operation
 *   ENOMEM  the reserve, or this VM's part of it, is exhausted
 *   EBUSY   the VM is in another state, or another operation on it is in progress
 *   ENOENT  there is no such VM, template or slot
 *   ENOSYS  no Mortise, or one without life cycles
 *
 * A call returns when its work is complete; interrupts are served meanwhile. Any thread may call; no
 * function is a cancellation point. */

#ifndef TENON_VM_H
#define TENON_VM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Handle of one VM until its destruction; never 0. */
typedef uint64_t tenon_vm_t;

/* Guest address of a VM's memory. */
#define TENON_VM_RAM 0x40000000ul
/* Granule of loading: size and both addresses are multiples of it. */
#define TENON_VM_GRAIN 64
/* Maximum number of cores of a VM. */
#define TENON_VM_CPUS 8
/* Maximum number of console bytes per read. */
#define TENON_VM_TEXT 256

enum tenon_vm_state {
	TENON_VM_CHANGING = 0, /* being created, restarted or destroyed */
	TENON_VM_STARTING = 1,
	TENON_VM_RUNNING = 2,
	TENON_VM_STOPPED = 3, /* stopped by a fault */
	TENON_VM_OFF = 4,     /* powered off by itself */
	TENON_VM_CREATED = 6, /* created, not started */
	TENON_VM_PAUSED = 7,
	TENON_VM_LOST = 10 /* stopping, with a lost core */
};

/* Description of a VM. Zeros select the defaults: the guest has its memory, a status page and a log,
 * is entered at TENON_VM_RAM, and has no reservation. */
struct tenon_vm_blueprint {
	const char *name;
	uint64_t memory; /* a multiple of 2 MiB */
	uint64_t window; /* bytes mapped from its status page on */
	uint64_t entry;
	uint64_t argument; /* x0 at guest entry */
	uint64_t budget;   /* ns per period, guaranteed and enforced */
	uint64_t period;
	uint32_t vcpus;
	uint32_t priority; /* 0, the background, to 63 */
	uint8_t cpus[TENON_VM_CPUS]; /* the core of each vCPU */
};

/* Resources for VMs created at run time. */
struct tenon_vm_totals {
	uint64_t version; /* of this interface */
	uint64_t slots;   /* VM slots, those of the system included */
	uint64_t free;    /* bytes of the reserve left to this VM */
};

/* The VM in a slot. */
struct tenon_vm_listed {
	tenon_vm_t vm; /* 0: none, or none that this VM manages */
	uint64_t memory;
	uint32_t state; /* enum tenon_vm_state */
	uint32_t vcpus;
};

/* State and statistics of a VM. */
struct tenon_vm_statistics {
	uint32_t state; /* enum tenon_vm_state */
	uint32_t vcpus;
	uint64_t restarts;
	uint64_t memory;
	uint64_t age;      /* ns since its creation */
	uint64_t exits[6]; /* interrupt, hypercall, MMIO, system register, WFI, other */
	uint64_t denied;   /* operations denied for lack of authority */
};

int tenon_vm_totals(struct tenon_vm_totals *__totals);

/* Creates a VM as described, with its memory cleared; it is not started. */
int tenon_vm_create(tenon_vm_t *__vm, const struct tenon_vm_blueprint *__blueprint);
/* Creates a VM from a template of the system and starts it. */
int tenon_vm_instantiate(tenon_vm_t *__vm, const char *__template);
/* Copies an image to an address of a VM that is created and not started. */
int tenon_vm_load(tenon_vm_t __vm, uint64_t __target, const void *__image, size_t __size);
int tenon_vm_start(tenon_vm_t __vm);
/* When it returns, none of the VM's vCPUs is running. */
int tenon_vm_pause(tenon_vm_t __vm);
int tenon_vm_resume(tenon_vm_t __vm);
/* Restarts a VM. 0: it runs; 1: it is in the state created, to be loaded and started, as Mortise does
 * not hold its image. */
int tenon_vm_restart(tenon_vm_t __vm);
/* Destroys a VM and returns its memory to the reserve, cleared; the memory of a VM of the system stays
 * unused. */
int tenon_vm_destroy(tenon_vm_t __vm);

/* Reads which VM is in a slot; ENOENT beyond the last slot. */
int tenon_vm_list(uint32_t __slot, struct tenon_vm_listed *__listed);
int tenon_vm_statistics(tenon_vm_t __vm, struct tenon_vm_statistics *__statistics);
/* Moves pending console output of a VM to `__text` and returns the number of bytes: at most the room,
 * rounded down to eights, and at most TENON_VM_TEXT. */
ssize_t tenon_vm_read_console(tenon_vm_t __vm, char *__text, size_t __room);

#ifdef __cplusplus
}
#endif

#endif
