/* Virtual machines, made and managed from Tenon (docs/lifecycle.md).
 *
 * Whom the program may manage, with how much memory and on which cores, is in [vm.manages] of its
 * VM. A function that returns -1 says why in errno:
 *
 *   EINVAL  what was asked for means nothing
 *   EPERM   the system gives this VM no authority for it
 *   ENOMEM  the reserve, or this VM's part of it, has not as much
 *   EBUSY   not in this state, or somebody else is at it
 *   ENOENT  there is no such VM, template or slot
 *   ENOSYS  no Mortise, or one without life cycles
 *
 * A call takes as long as its work, in which interrupts are served. Any thread may call; none is a
 * cancellation point. */

#ifndef TENON_VM_H
#define TENON_VM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names one life of a VM, and afterwards nothing; no VM's is 0. */
typedef uint64_t tenon_vm_t;

/* Where a VM sees its memory. */
#define TENON_VM_RAM 0x40000000ul
/* What is loaded, and its addresses here and there, are multiples of this. */
#define TENON_VM_GRAIN 64
/* The cores of one VM at most. */
#define TENON_VM_CPUS 8
/* Bytes of a console that are read at a time, at most. */
#define TENON_VM_TEXT 256

enum tenon_vm_state {
	TENON_VM_CHANGING = 0, /* being made, restarted or destroyed */
	TENON_VM_STARTING = 1,
	TENON_VM_RUNNING = 2,
	TENON_VM_STOPPED = 3, /* it faulted */
	TENON_VM_OFF = 4,     /* it turned itself off */
	TENON_VM_CREATED = 6, /* it did not run yet */
	TENON_VM_PAUSED = 7,
	TENON_VM_LOST = 10 /* its run ends, and a core of it does not wake */
};

/* What a VM is to be like. What is zero is as usual: it sees its memory, a status page and a log,
 * begins at TENON_VM_RAM, and has no reservation. */
struct tenon_vm_blueprint {
	const char *name;
	uint64_t memory; /* a multiple of 2 MiB */
	uint64_t window; /* bytes it sees from its status page on */
	uint64_t entry;
	uint64_t argument; /* in x0 at its entry */
	uint64_t budget;   /* ns in each period, promised and kept to */
	uint64_t period;
	uint32_t vcpus;
	uint32_t priority; /* 0, the background, to 63 */
	uint8_t cpus[TENON_VM_CPUS]; /* the core of each vCPU */
};

/* What there is for VMs made at run time. */
struct tenon_vm_totals {
	uint64_t version; /* of these calls */
	uint64_t slots;   /* places for VMs, those of the system included */
	uint64_t free;    /* bytes of the reserve that this VM may still take */
};

/* Who is in a slot. */
struct tenon_vm_listed {
	tenon_vm_t vm; /* 0: nobody, or nobody that this VM manages */
	uint64_t memory;
	uint32_t state; /* enum tenon_vm_state */
	uint32_t vcpus;
};

/* What a VM is and did. */
struct tenon_vm_statistics {
	uint32_t state; /* enum tenon_vm_state */
	uint32_t vcpus;
	uint64_t restarts;
	uint64_t memory;
	uint64_t age;      /* ns since it was made */
	uint64_t exits[6]; /* interrupt, hypercall, MMIO, system register, WFI, other */
	uint64_t denied;   /* what it had no authority for */
};

int tenon_vm_totals(struct tenon_vm_totals *__totals);

/* Makes a VM as described: it has its memory, filled with zeros, and does not run. */
int tenon_vm_create(tenon_vm_t *__vm, const struct tenon_vm_blueprint *__blueprint);
/* Makes a VM of a template of the system, and has it run. */
int tenon_vm_instantiate(tenon_vm_t *__vm, const char *__template);
/* Copies an image to an address of a VM that was made and does not run yet. */
int tenon_vm_load(tenon_vm_t __vm, uint64_t __target, const void *__image, size_t __size);
int tenon_vm_start(tenon_vm_t __vm);
/* When it returns, none of the VM's vCPUs has a core. */
int tenon_vm_pause(tenon_vm_t __vm);
int tenon_vm_resume(tenon_vm_t __vm);
/* Has a VM begin again. 1: it is as it was made, to be loaded and started, as its image is not with
 * Mortise; 0: it runs. */
int tenon_vm_restart(tenon_vm_t __vm);
/* Its memory goes back to the reserve, filled with zeros; nobody has that of one that the system began
 * with. */
int tenon_vm_destroy(tenon_vm_t __vm);

/* Who is in a slot; ENOENT behind the last one. */
int tenon_vm_list(uint32_t __slot, struct tenon_vm_listed *__listed);
int tenon_vm_statistics(tenon_vm_t __vm, struct tenon_vm_statistics *__statistics);
/* Moves what a VM printed lately to `__text`, and says how many bytes: as many as there is room for,
 * in eights, and TENON_VM_TEXT at most. */
ssize_t tenon_vm_read_console(tenon_vm_t __vm, char *__text, size_t __room);

#ifdef __cplusplus
}
#endif

#endif
