/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Interface of /dev/tenon/hyplet: functions of a program on lent CPUs. <tenon/hyplet.h> wraps it;
 * docs/hyplets.md describes each call.
 */
#ifndef _UAPI_TENON_HYPLET_H
#define _UAPI_TENON_HYPLET_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Return address of a function, which is never mapped: the fault ends the step. */
#define TENON_HYPLET_RETURN 0xfffffffff000ull

/*
 * bytes 0: the whole VMA. After ENOEXEC, `refused` and `instruction` describe the rejected
 * instruction.
 */
struct tenon_hyplet_map {
	__u64 address;
	__u64 bytes;
	__u32 flags;
	__u32 instruction;
	__u64 refused;
};

#define TENON_HYPLET_VMA 1u /* the range must be within one VMA */
#define TENON_HYPLET_ALL 2u /* all memory; rejected instructions are replaced by undefined ones */
#define TENON_HYPLET_STACK 4u /* the range is the stack */

struct tenon_hyplet_assign {
	__u64 function;
	__u64 progress; /* address of a mapped counter; 0: none */
	__u32 cpu;
	__u32 reserved;
};

enum tenon_hyplet_state {
	TENON_HYPLET_IDLE = 0,
	TENON_HYPLET_RUNNING = 1,
	TENON_HYPLET_RETURNED = 2,
	TENON_HYPLET_STOPPED = 3,
	TENON_HYPLET_FAULTED = 4,
	TENON_HYPLET_RECLAIMED = 5, /* Linux turned the CPU on */
};

/* Result of a function; `function` is the input. */
struct tenon_hyplet_end {
	__u64 function;
	__u32 state;
	__u32 syndrome; /* ESR_EL1 of a fault */
	__u64 value; /* the return value */
	__u64 pc;
	__u64 address; /* of a fault: FAR_EL1 */
	__u64 steps;
	__u64 progress;
};

#define TENON_HYPLET_IOCTL 0xe2

#define TENON_HYPLET_MAP _IOWR(TENON_HYPLET_IOCTL, 0x40, struct tenon_hyplet_map)
#define TENON_HYPLET_UNMAP _IO(TENON_HYPLET_IOCTL, 0x41) /* argument: the address */
#define TENON_HYPLET_DROP_CPU _IO(TENON_HYPLET_IOCTL, 0x42) /* argument: the number */
#define TENON_HYPLET_ASSIGN _IOW(TENON_HYPLET_IOCTL, 0x43, struct tenon_hyplet_assign)
#define TENON_HYPLET_UNASSIGN _IO(TENON_HYPLET_IOCTL, 0x44) /* argument: the function */
#define TENON_HYPLET_WAIT _IOWR(TENON_HYPLET_IOCTL, 0x45, struct tenon_hyplet_end)

#endif
