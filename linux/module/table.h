/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Translation table of a hyplet: stage 1, 4 KiB granule, 48 bits, four levels.
 *
 * It maps the given pages for EL0, and nothing else. It is built before the core uses it and freed
 * afterwards, so that no entry is ever changed or invalidated while it is in use.
 */
#ifndef TENON_TABLE_H
#define TENON_TABLE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "host.h"
#endif

#define TENON_TABLE_LIMIT (1ull << 48)

/* MAIR_EL1 of the table: index 0 is Normal, write-back; 1 is Device-nGnRE. */
#define TENON_TABLE_MAIR 0x04ffull

/* Access rights; all pages are readable. */
enum tenon_rights {
	TENON_READ = 0,
	TENON_WRITE = 1,
	TENON_EXECUTE = 2,
	TENON_DEVICE = 4,
};

struct tenon_table {
	u64 *root; /* NULL: empty */
};

/* Maps a page. -EEXIST: the address is mapped; -EINVAL: invalid combination of rights. */
int tenon_table_map(struct tenon_table *table, u64 address, u64 physical, u32 rights);

/* Descriptor of the page that contains `address`; 0: none. */
u64 tenon_table_entry(const struct tenon_table *table, u64 address);

bool tenon_entry_executes(u64 entry);

void tenon_table_free(struct tenon_table *table);

#endif
