/* SPDX-License-Identifier: GPL-2.0 */
/* Mappings of memory that other VMs share: data for programs, never code. */
#ifndef TENON_MAPPING_H
#define TENON_MAPPING_H

#include <linux/mm.h>
#include <linux/version.h>

static inline void tenon_clear_flags(struct vm_area_struct *area, unsigned long flags)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	area->vm_flags &= ~flags;
#else
	vm_flags_clear(area, flags);
#endif
}

static inline void tenon_set_flags(struct vm_area_struct *area, unsigned long flags)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	area->vm_flags |= flags;
#else
	vm_flags_set(area, flags);
#endif
}

/*
 * Maps these frames without the right to execute, nor the `forbidden` ones (VM_WRITE); mprotect()
 * cannot add them. Stage 2 maps shared memory execute-never, so that a fetch from it would abort.
 */
static inline int tenon_map(struct vm_area_struct *area, phys_addr_t start, unsigned long forbidden,
			    pgprot_t protection)
{
	forbidden |= VM_EXEC;
	if (area->vm_flags & forbidden)
		return -EACCES;
	/* VM_MAYREAD, VM_MAYWRITE and VM_MAYEXEC are VM_READ, VM_WRITE and VM_EXEC << 4. */
	tenon_clear_flags(area, forbidden << 4);
	return remap_pfn_range(area, area->vm_start, PHYS_PFN(start), area->vm_end - area->vm_start,
			       protection);
}

#endif
