/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What programs in Linux ask of the module tenon: life cycles of VMs through /dev/tenon/control,
 * messages through /dev/tenon/NAME.
 *
 * A handle names one life of a VM: whoever comes after it in the same place has another. What is
 * reserved is zero.
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
	TENON_OFF = 4, /* by itself */
	TENON_RESTARTING = 5,
	TENON_CREATED = 6,
	TENON_PAUSED = 7,
	TENON_DESTROYING = 8,
	TENON_DESTROYED = 9,
	TENON_LOST = 10, /* ends, and a core of it does not come back */
};

enum tenon_kind {
	TENON_KIND_TENON = 0,
	TENON_KIND_LINUX = 1,
	TENON_KIND_IMAGE = 2,
};

struct tenon_version {
	__u32 version;
	__u32 slots; /* VMs there may be at a time, those at boot included */
	__u64 free; /* bytes the caller may still give to VMs */
};

/* An image file in the caller's memory; the handle of the VM made of it comes back. */
struct tenon_create {
	__u64 address;
	__u64 bytes;
	__u32 handle;
	__u32 reserved;
};

/* A VM of a template of the system, made and started. */
struct tenon_instantiate {
	char name[16];
	__u32 handle;
	__u32 reserved;
};

/* The VM in a slot; handle 0: none that the caller manages. ENOENT behind the last slot. */
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

/* As Mortise writes it: docs/formats.md. */
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

/* What a VM printed since it was last asked; bytes: the room there is, then what came. */
struct tenon_console {
	__u64 address;
	__u32 handle;
	__u32 bytes;
};

/* Not a letter: those are taken, 'T' by terminals and by calls that any file answers. */
#define TENON_IOCTL 0xe2

#define TENON_VERSION _IOR(TENON_IOCTL, 0x00, struct tenon_version)
#define TENON_CREATE _IOWR(TENON_IOCTL, 0x01, struct tenon_create)
/* The argument of these is the handle itself. */
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
 * here, each at the offset behind the one before; the peer's and the status are read only.
 * docs/formats.md has what is in them.
 */
struct tenon_channel {
	char name[TENON_NAME];
	__u32 number;
	__u32 producer; /* 1: this end sends */
	__u32 slots;
	__u32 size; /* bytes of a message at most */
	__u64 parts[3]; /* bytes of the producer's part, the consumer's, the status */
};

#define TENON_CHANNEL _IOR(TENON_IOCTL, 0x20, struct tenon_channel)
/* Rings the peer's doorbell: for those who send or receive in the mapped parts. */
#define TENON_RING _IO(TENON_IOCTL, 0x21)

/* Why a core that runs code of a program's came back. */
enum tenon_loan_reason {
	TENON_LOAN_EXCEPTION = 1, /* it made one: esr and far say which */
	TENON_LOAN_STOPPED = 2, /* a signal came */
	TENON_LOAN_RECLAIMED = 3, /* Linux turned the CPU on */
	TENON_LOAN_REFUSED = 4, /* pstate is not that of EL0 */
	TENON_LOAN_INTERRUPTED = 5,
};

/* A call of such code's that is answered on the core: it waits until the time in x0, ns. */
#define TENON_WAIT_UNTIL 0x7e00001

/* The registers that a core runs code with, and that it came back with. */
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

/* Of /dev/tenon/loan. The argument of the first is a CPU, or -1 for any; its number comes back. */
#define TENON_LOAN_CLAIM _IO(TENON_IOCTL, 0x30)
#define TENON_LOAN_RUN _IOWR(TENON_IOCTL, 0x31, struct tenon_context)

/*
 * A vLib that this VM serves: `size` bytes to be mapped, which it shares with who calls, and behind
 * them a page to be read alone, the door. A load of 64 bits from there ends the call that is served,
 * and finds 0 in the next one: until then the whole VM stands still. It finds a negative number if
 * somebody listens already.
 */
struct tenon_vlib {
	char name[TENON_NAME];
	__u32 number;
	__u32 reserved;
	__u64 size;
};

#define TENON_VLIB _IOR(TENON_IOCTL, 0x60, struct tenon_vlib)

#endif
