/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A translation table of a hyplet's own: stage 1, 4 KiB granule, 48 bits, four levels.
 *
 * It holds the pages it is given, for EL0, and nothing else. It is built before the core has it and
 * freed behind, so nothing of it is ever changed or invalidated while it is in use.
 */
#ifndef TENON_TABLE_H
#define TENON_TABLE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "host.h"
#endif

#define TENON_TABLE_LIMIT (1ull << 48)

/* MAIR_EL1 for it: index 0 is Normal, write-back; 1 is Device-nGnRE. */
#define TENON_TABLE_MAIR 0x04ffull

/* All may be read. */
enum tenon_rights {
	TENON_READ = 0,
	TENON_WRITE = 1,
	TENON_EXECUTE = 2,
	TENON_DEVICE = 4,
};

struct tenon_table {
	u64 *root; /* NULL: empty */
};

/* Both addresses are of pages. -EEXIST: there is one already; -EINVAL: rights that none may have. */
int tenon_table_map(struct tenon_table *table, u64 address, u64 physical, u32 rights);

/* The descriptor of the page that `address` is in; 0: none. */
u64 tenon_table_entry(const struct tenon_table *table, u64 address);

bool tenon_entry_executes(u64 entry);

void tenon_table_free(struct tenon_table *table);

#endif
