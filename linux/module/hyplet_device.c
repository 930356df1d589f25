// SPDX-License-Identifier: GPL-2.0
/*
 * The devices of this VM, and what it shares with others: the device tree has them all, from
 * `devices` of system.toml. Whoever reaches for another ends the VM, as Mortise sees it, so none is
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

	/* Until there is no other, or none that is an address here. */
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
