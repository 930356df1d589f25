/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scan for A64 instructions that code on a lent core must not contain.
 *
 * EL0 and the hyplet's own translation table confine the code already. Instructions that are
 * rejected here would trap, wait for an interrupt that never occurs, or change state that Linux
 * keeps for other threads. The scan reports them with their address before the code runs. Undefined
 * words are accepted: they end only the hyplet itself.
 */
#ifndef TENON_OPCODES_H
#define TENON_OPCODES_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "host.h"
#endif

/* Immediate of the SVC that Mortise handles; any other would be a system call to Linux. */
#define TENON_SVC 0x7e0u

/* Reason for which the instruction is rejected; NULL: it is accepted. */
const char *tenon_opcode_wrong(u32 word);

/* Index of the first rejected word, and the reason; `count` if all are accepted. */
u64 tenon_opcodes_scan(const u32 *words, u64 count, const char **reason);

#endif
