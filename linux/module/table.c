// SPDX-License-Identifier: GPL-2.0
#include "table.h"

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#endif

#define LEVELS 4
#define ENTRIES 512

/* Arm ARM, D8.3: table and page descriptors of stage 1. */
#define ENTRY_VALID 3ull /* table descriptor, or page descriptor at the last level */
#define ENTRY_ADDRESS 0xfffffffff000ull
#define ENTRY_DEVICE (1ull << 2) /* index 1 of MAIR_EL1 */
#define ENTRY_EL0 (1ull << 6)
#define ENTRY_READ_ONLY (1ull << 7)
#define ENTRY_INNER (3ull << 8)
#define ENTRY_ACCESSED (1ull << 10)
#define ENTRY_NOT_GLOBAL (1ull << 11)
#define ENTRY_PXN (1ull << 53)
#define ENTRY_UXN (1ull << 54)

static u64 *slot(u64 *table, u64 address, int level)
{
	return &table[address >> (12 + 9 * (LEVELS - 1 - level)) & (ENTRIES - 1)];
}

static u64 *below(u64 entry)
{
	return phys_to_virt(entry & ENTRY_ADDRESS);
}

static u64 attributes(u32 rights)
{
	u64 entry = ENTRY_VALID | ENTRY_EL0 | ENTRY_INNER | ENTRY_ACCESSED | ENTRY_NOT_GLOBAL |
		    ENTRY_PXN;

	if (!(rights & TENON_WRITE))
		entry |= ENTRY_READ_ONLY;
	if (!(rights & TENON_EXECUTE))
		entry |= ENTRY_UXN;
	if (rights & TENON_DEVICE)
		entry |= ENTRY_DEVICE;
	return entry;
}

static u64 *grow(u64 **place)
{
	if (!*place)
		*place = (u64 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	return *place;
}

int tenon_table_map(struct tenon_table *table, u64 address, u64 physical, u32 rights)
{
	u64 *at = grow(&table->root);
	int level;

	if (address >= TENON_TABLE_LIMIT || (address | physical) & (PAGE_SIZE - 1) ||
	    physical & ~ENTRY_ADDRESS ||
	    (rights & TENON_EXECUTE && rights & (TENON_WRITE | TENON_DEVICE)))
		return -EINVAL;
	for (level = 0; at && level < LEVELS - 1; level++) {
		u64 *entry = slot(at, address, level);
		u64 *next = *entry ? below(*entry) : NULL;

		at = grow(&next);
		if (at)
			*entry = virt_to_phys(at) | ENTRY_VALID;
	}
	if (!at)
		return -ENOMEM;
	at = slot(at, address, level);
	if (*at)
		return -EEXIST;
	*at = physical | attributes(rights);
	return 0;
}

u64 tenon_table_entry(const struct tenon_table *table, u64 address)
{
	u64 *at = table->root;
	int level;

	if (address >= TENON_TABLE_LIMIT)
		return 0;
	for (level = 0; at && level < LEVELS - 1; level++) {
		u64 entry = *slot(at, address, level);

		at = entry ? below(entry) : NULL;
	}
	return at ? *slot(at, address, level) : 0;
}

bool tenon_entry_executes(u64 entry)
{
	return entry && !(entry & ENTRY_UXN);
}

static void release(u64 *table, int level)
{
	int i;

	for (i = 0; i < ENTRIES && level < LEVELS - 1; i++)
		if (table[i])
			release(below(table[i]), level + 1);
	free_page((unsigned long)table);
}

void tenon_table_free(struct tenon_table *table)
{
	if (table->root)
		release(table->root, 0);
	table->root = NULL;
}
