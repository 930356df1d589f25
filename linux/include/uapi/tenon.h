/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Interface of the module tenon: life cycle of VMs through /dev/tenon/control, messages through
 * /dev/tenon/NAME.
 *
 * A handle names one instance of a VM: a later VM in the same slot has another handle. Reserved
 * fields are zero.
 */
#ifndef _UAPI_TENON_H
#define _UAPI_TENON_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define TENON_NAME 32

/* States of a VM, as on its status page. */
enum tenon_state {
	TENON_EMPTY = 0,
	TENON_STARTING = 1,
	TENON_RUNNING = 2,
	TENON_STOPPED = 3, /* by a fault */
	TENON_OFF = 4, /* by its own request */
	TENON_RESTARTING = 5,
	TENON_CREATED = 6,
	TENON_PAUSED = 7,
	TENON_DESTROYING = 8,
	TENON_DESTROYED = 9,
	TENON_LOST = 10, /* ended, but one of its cores cannot be brought back to EL2 */
};

enum tenon_kind {
	TENON_KIND_TENON = 0,
	TENON_KIND_LINUX = 1,
	TENON_KIND_IMAGE = 2,
};

struct tenon_version {
	__u32 version;
	__u32 slots; /* maximum number of VMs, including those made at boot */
	__u64 free; /* bytes that the caller can still assign to VMs */
};

/* Makes a VM from an image file in the caller's memory; returns its handle. */
struct tenon_create {
	__u64 address;
	__u64 bytes;
	__u32 handle;
	__u32 reserved;
};

/* Makes and starts a VM from a template of the system; returns its handle. */
struct tenon_instantiate {
	char name[16];
	__u32 handle;
	__u32 reserved;
};

/* Describes the VM in a slot; handle 0: none that the caller manages. ENOENT: no such slot. */
struct tenon_vm {
	__u32 slot;
	__u32 handle;
	__u32 state;
	__u32 kind;
	__u32 vcpus;
	__u32 reserved;
	__u64 memory;
	char name[TENON_NAME];
};

/* Statistics of a VM (docs/formats.md). */
struct tenon_statistics {
	__u32 handle;
	__u32 state;
	char name[TENON_NAME];
	__u32 vcpus;
	__u32 restarts;
	__u64 memory;
	__u64 age; /* ns since it was made */
	__u64 exits[6]; /* interrupt, hypercall, mmio, sysreg, wfi, other */
	__u64 denied;
	__u32 reason;
	__u32 reserved;
	char fault[96];
	__u64 zero[4];
};

/* Reads new console output of a VM; bytes: the size of the buffer, then the number read. */
struct tenon_console {
	__u64 address;
	__u32 handle;
	__u32 bytes;
};

/* Not a letter, as these are in use: 'T' by terminals and generic file calls. */
#define TENON_IOCTL 0xe2

#define TENON_VERSION _IOR(TENON_IOCTL, 0x00, struct tenon_version)
#define TENON_CREATE _IOWR(TENON_IOCTL, 0x01, struct tenon_create)
/* The argument is the handle. */
#define TENON_START _IO(TENON_IOCTL, 0x03)
#define TENON_PAUSE _IO(TENON_IOCTL, 0x04)
#define TENON_RESUME _IO(TENON_IOCTL, 0x05)
#define TENON_RESTART _IO(TENON_IOCTL, 0x06)
#define TENON_DESTROY _IO(TENON_IOCTL, 0x07)
#define TENON_LIST _IOWR(TENON_IOCTL, 0x08, struct tenon_vm)
#define TENON_STATISTICS _IOWR(TENON_IOCTL, 0x09, struct tenon_statistics)
#define TENON_CONSOLE_READ _IOWR(TENON_IOCTL, 0x0a, struct tenon_console)
#define TENON_INSTANTIATE _IOWR(TENON_IOCTL, 0x0b, struct tenon_instantiate)

/*
 * One end of a channel. Its parts can be mapped one by one, in the order and with the sizes given
 * here, each at the offset behind the previous one; the peer's part and the status are read-only.
 * docs/formats.md describes their contents.
 */
struct tenon_channel {
	char name[TENON_NAME];
	__u32 number;
	__u32 producer; /* 1: this end sends */
	__u32 slots;
	__u32 size; /* maximum size of a message in bytes */
	__u64 parts[3]; /* sizes of the producer's part, the consumer's part and the status */
};

#define TENON_CHANNEL _IOR(TENON_IOCTL, 0x20, struct tenon_channel)
/* Rings the peer's doorbell, for programs that use the mapped parts. */
#define TENON_RING _IO(TENON_IOCTL, 0x21)

/* Reason for which a lent core returned. */
enum tenon_loan_reason {
	TENON_LOAN_EXCEPTION = 1, /* an exception: see esr and far */
	TENON_LOAN_STOPPED = 2, /* stopped by a signal */
	TENON_LOAN_RECLAIMED = 3, /* Linux turned the CPU on */
	TENON_LOAN_REFUSED = 4, /* pstate is not one of EL0 */
	TENON_LOAN_INTERRUPTED = 5,
};

/* Call of code on a lent core that Mortise handles: waits until the time in x0, in ns. */
#define TENON_WAIT_UNTIL 0x7e00001

/* Registers of a context on a lent core. */
struct tenon_context {
	__u64 esr;
	__u64 far;
	__u32 reason;
	__u32 reserved;
	__u64 x[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
	__u64 tpidr;
	__u64 fpcr;
	__u64 fpsr;
	__u64 reserved_too;
	__u64 v[64];
};

/*
 * Of /dev/tenon/loan. TENON_LOAN_CLAIM has a CPU as argument, or -1 for any, and returns its
 * number.
 */
#define TENON_LOAN_CLAIM _IO(TENON_IOCTL, 0x30)
#define TENON_LOAN_RUN _IOWR(TENON_IOCTL, 0x31, struct tenon_context)

/*
 * A vLib that this VM serves: `size` bytes of memory shared with the caller, and behind them the
 * door, a read-only page. A 64-bit load from the door ends the current call and returns 0 with the
 * next one; until then the whole VM is stopped. It returns a negative number if another thread
 * listens already.
 */
struct tenon_vlib {
	char name[TENON_NAME];
	__u32 number;
	__u32 reserved;
	__u64 size;
};

#define TENON_VLIB _IOR(TENON_IOCTL, 0x60, struct tenon_vlib)

#endif
