// SPDX-License-Identifier: GPL-2.0
/*
 * Devices and shared memory of this VM, as listed in the device tree (from `devices` of
 * system.toml). An access to any other address would be an external abort, so no other address is
 * mapped.
 */
#include "hyplet.h"

#include <linux/mm.h>
#include <linux/of.h>
#include <linux/of_address.h>

static bool has(struct device_node *node, u64 page)
{
	struct resource range;
	int i;

	/* Ends at the last range, or at one that is not a CPU address. */
	for (i = 0; !of_address_to_resource(node, i, &range); i++)
		if (range.start < page + PAGE_SIZE && page <= range.end)
			return true;
	return false;
}

bool hyplet_device_is_known(u64 page)
{
	struct device_node *node;

	for_each_node_with_property(node, "reg") {
		if (has(node, page)) {
			of_node_put(node);
			return true;
		}
	}
	return false;
}
