/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which A64 instructions code on a lent core may hold.
 *
 * EL0 and the hyplet's own table confine it already: what is refused here would trap, wait for an
 * interrupt that never comes there, or change what Linux keeps for another thread. So it is found,
 * with its address, before it runs. Undefined words pass, as they end the hyplet and nothing else.
 */
#ifndef TENON_OPCODES_H
#define TENON_OPCODES_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "host.h"
#endif

/* The immediate of an SVC that is answered by Mortise; any other asks Linux, which is not there. */
#define TENON_SVC 0x7e0u

/* Why the instruction is refused; NULL: it is not. */
const char *tenon_opcode_wrong(u32 word);

/* The index of the first of `count` words that is refused, and why; `count`: none is. */
u64 tenon_opcodes_scan(const u32 *words, u64 count, const char **reason);

#endif
