// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a hyplet: the part of its process that it may access.
 *
 * Data pages are pinned pages of the process, shared by both. Of code pages, the declared bytes are
 * copied, and the copy is scanned: threads of the process can write its code during the scan, but
 * cannot write the copy.
 */
#include "module.h"
#include "hyplet.h"
#include "opcodes.h"

#include <linux/list.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <asm/cacheflush.h>

struct hyplet_page {
	struct page *page; /* NULL: device registers, or memory that Linux does not manage */
	u64 physical;
	u32 rights;
	unsigned int regions;
};

struct region {
	struct list_head list;
	u64 begin; /* aligned to words */
	u64 end;
};

void hyplet_memory_init(struct hyplet_memory *memory, struct mm_struct *mm)
{
	memory->mm = mm;
	xa_init(&memory->pages);
	INIT_LIST_HEAD(&memory->regions);
}

static u64 pages_of(const struct region *region)
{
	return (PAGE_ALIGN(region->end) - (region->begin & PAGE_MASK)) >> PAGE_SHIFT;
}

static bool is_memory(pgprot_t protection)
{
	u64 index = pgprot_val(protection) & PTE_ATTRINDX_MASK;

	return index == PTE_ATTRINDX(MT_NORMAL) || index == PTE_ATTRINDX(MT_NORMAL_TAGGED);
}

/* The frame that a driver mapped; follow_pfn() was replaced in Linux 6.12. */
static int frame_of(struct vm_area_struct *area, u64 address, unsigned long *frame)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
	return follow_pfn(area, address, frame);
#else
	struct follow_pfnmap_args mapped = { .vma = area, .address = address };
	int error = follow_pfnmap_start(&mapped);

	if (error)
		return error;
	*frame = mapped.pfn;
	follow_pfnmap_end(&mapped);
	return 0;
#endif
}

/* A page that a driver mapped and that Linux does not manage; it is neither pinned nor copied. */
static int take_foreign(struct vm_area_struct *area, u64 address, struct hyplet_page *page)
{
	unsigned long frame;
	int error = frame_of(area, address, &frame);

	if (error)
		return error;
	/*
	 * Memory that Linux manages could be reused while the hyplet accesses it. Memory shared
	 * with other VMs can have a struct page too.
	 */
	if (pfn_is_map_memory(frame))
		return -EACCES;
	page->physical = PFN_PHYS(frame);
	if (!hyplet_device_is_known(page->physical))
		return -EACCES;
	if (!is_memory(area->vm_page_prot))
		page->rights |= TENON_DEVICE;
	return 0;
}

/* Access rights of the process to the page. */
static int take_rights(const struct hyplet_memory *memory, u64 address, struct hyplet_page *page)
{
	struct vm_area_struct *area;
	int error = 0;

	mmap_read_lock(memory->mm);
	area = vma_lookup(memory->mm, address);
	if (!area)
		error = -EFAULT;
	else if (!(area->vm_flags & VM_READ) ||
		 (area->vm_flags & VM_WRITE && area->vm_flags & VM_EXEC))
		error = -EACCES;
	else if (area->vm_flags & VM_WRITE)
		page->rights = TENON_WRITE;
	else if (area->vm_flags & VM_EXEC)
		page->rights = TENON_EXECUTE;
	if (!error && area->vm_flags & VM_PFNMAP)
		error = page->rights & TENON_EXECUTE ? -EACCES : take_foreign(area, address, page);
	mmap_read_unlock(memory->mm);
	return error;
}

/*
 * Cleans a page of code to the point of unification, for instruction fetches of another core: also the
 * zeros between regions, so that a branch there does not reach what the page held before.
 */
static void publish_code(const struct hyplet_page *page)
{
	unsigned long start = (unsigned long)page_address(page->page);

	caches_clean_inval_pou(start, start + PAGE_SIZE);
}

static int take_own(u64 address, struct hyplet_page *page)
{
	unsigned int flags = FOLL_LONGTERM | (page->rights & TENON_WRITE ? FOLL_WRITE : 0);
	long taken;

	if (page->rights & TENON_EXECUTE) {
		page->page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		taken = page->page ? 1 : -ENOMEM;
	} else {
		taken = pin_user_pages_fast(address, 1, flags, &page->page);
	}
	if (taken == 1)
		page->physical = page_to_phys(page->page);
	return taken < 0 ? taken : taken == 1 ? 0 : -EFAULT;
}

static void give_back(struct hyplet_page *page)
{
	if (page->page && page->rights & TENON_EXECUTE)
		__free_page(page->page);
	else if (page->page)
		unpin_user_pages_dirty_lock(&page->page, 1, page->rights & TENON_WRITE);
	kfree(page);
}

static struct hyplet_page *take(struct hyplet_memory *memory, u64 address)
{
	struct hyplet_page *page = xa_load(&memory->pages, address >> PAGE_SHIFT);
	int error;

	if (page) {
		page->regions++;
		return page;
	}
	page = kzalloc(sizeof(*page), GFP_KERNEL_ACCOUNT);
	if (!page)
		return ERR_PTR(-ENOMEM);
	page->regions = 1;
	error = take_rights(memory, address, page);
	if (!error && !page->physical)
		error = take_own(address, page);
	if (!error)
		error = xa_err(xa_store(&memory->pages, address >> PAGE_SHIFT, page,
					GFP_KERNEL_ACCOUNT));
	if (error) {
		give_back(page);
		return ERR_PTR(error);
	}
	return page;
}

/* Part of a region within one code page. */
static void *words_in(const struct hyplet_page *page, const struct region *region, u64 address,
		      u64 *first, u64 *bytes)
{
	*first = max(address, region->begin);
	*bytes = min(address + PAGE_SIZE, region->end) - *first;
	return page_address(page->page) + (*first - address);
}

static int copy_code(struct hyplet_page *page, const struct region *region, u64 address,
		     struct tenon_hyplet_map *map)
{
	u64 first, bytes, found;
	u32 *words = words_in(page, region, address, &first, &bytes);
	const char *reason;

	if (copy_from_user(words, u64_to_user_ptr(first), bytes))
		return -EFAULT;
	while ((found = tenon_opcodes_scan(words, bytes / 4, &reason)) < bytes / 4) {
		if (!(map->flags & TENON_HYPLET_ALL)) {
			map->instruction = words[found];
			map->refused = first + 4 * found;
			pr_notice("%s[%d]: %08x at %llx is %s\n", current->comm, current->pid,
				  map->instruction, map->refused, reason);
			return -ENOEXEC;
		}
		words[found] = 0; /* UDF */
	}
	publish_code(page);
	return 0;
}

static void drop_pages(struct hyplet_memory *memory, const struct region *region, u64 end)
{
	u64 address, first, bytes;

	for (address = region->begin & PAGE_MASK; address < end; address += PAGE_SIZE) {
		struct hyplet_page *page = xa_load(&memory->pages, address >> PAGE_SHIFT);

		if (!--page->regions) {
			xa_erase(&memory->pages, address >> PAGE_SHIFT);
			give_back(page);
		} else if (page->rights & TENON_EXECUTE) {
			void *words = words_in(page, region, address, &first, &bytes);

			memset(words, 0, bytes);
			publish_code(page);
		}
	}
}

static int take_pages(struct hyplet_memory *memory, const struct region *region,
		      struct tenon_hyplet_map *map)
{
	u64 address;

	for (address = region->begin & PAGE_MASK; address < region->end; address += PAGE_SIZE) {
		struct hyplet_page *page = take(memory, address);
		int error = PTR_ERR_OR_ZERO(page);
		u64 taken = address;

		if (!error) {
			taken += PAGE_SIZE;
			if (map->flags & TENON_HYPLET_STACK && !(page->rights & TENON_WRITE))
				error = -EACCES;
			else if (page->rights & TENON_EXECUTE)
				error = copy_code(page, region, address, map);
		}
		if (!error && fatal_signal_pending(current))
			error = -EINTR;
		if (error) {
			drop_pages(memory, region, taken);
			return error;
		}
		cond_resched();
	}
	return 0;
}

static bool overlaps(const struct hyplet_memory *memory, const struct region *wanted)
{
	const struct region *region;

	list_for_each_entry(region, &memory->regions, list)
		if (wanted->begin < region->end && region->begin < wanted->end)
			return true;
	return false;
}

/* Checks that the range is within one VMA. */
static int within_vma(const struct hyplet_memory *memory, struct tenon_hyplet_map *map)
{
	struct vm_area_struct *area;
	int error = 0;

	mmap_read_lock(memory->mm);
	area = vma_lookup(memory->mm, map->address);
	if (area && !map->bytes) {
		map->address = area->vm_start;
		map->bytes = area->vm_end - area->vm_start;
	}
	if (!area || map->bytes > area->vm_end - map->address)
		error = -EFAULT;
	mmap_read_unlock(memory->mm);
	return error;
}

int hyplet_memory_map(struct hyplet_memory *memory, struct tenon_hyplet_map *map)
{
	struct region *region;
	int error = 0;

	if (map->flags & TENON_HYPLET_VMA)
		error = within_vma(memory, map);
	if (error)
		return error;
	if (!map->bytes || map->address >= TENON_HYPLET_RETURN ||
	    map->bytes > TENON_HYPLET_RETURN - map->address)
		return -EINVAL;
	region = kzalloc(sizeof(*region), GFP_KERNEL_ACCOUNT);
	if (!region)
		return -ENOMEM;
	region->begin = map->address & ~3ull;
	region->end = ALIGN(map->address + map->bytes, 4);
	error = overlaps(memory, region) ? -EEXIST : 0;
	if (!error)
		error = account_locked_vm(memory->mm, pages_of(region), true);
	if (!error) {
		error = take_pages(memory, region, map);
		if (error)
			account_locked_vm(memory->mm, pages_of(region), false);
	}
	if (error) {
		kfree(region);
		return error;
	}
	list_add(&region->list, &memory->regions);
	return 0;
}

static void drop(struct hyplet_memory *memory, struct region *region)
{
	list_del(&region->list);
	drop_pages(memory, region, region->end);
	account_locked_vm(memory->mm, pages_of(region), false);
	kfree(region);
}

int hyplet_memory_unmap(struct hyplet_memory *memory, u64 address)
{
	struct region *region;

	list_for_each_entry(region, &memory->regions, list) {
		if (region->begin == (address & ~3ull)) {
			drop(memory, region);
			return 0;
		}
	}
	return -ENOENT;
}

void hyplet_memory_drop(struct hyplet_memory *memory)
{
	struct region *region, *next;

	list_for_each_entry_safe(region, next, &memory->regions, list)
		drop(memory, region);
}

/* Finds the next VMA that can be mapped; false: there is none. */
static bool next_vma(const struct hyplet_memory *memory, u64 from, struct tenon_hyplet_map *map)
{
	struct vm_area_struct *area;

	mmap_read_lock(memory->mm);
	area = find_vma(memory->mm, from);
	while (area && (!(area->vm_flags & VM_READ) || area->vm_flags & (VM_IO | VM_PFNMAP)))
		area = find_vma(memory->mm, area->vm_end);
	if (area) {
		map->address = area->vm_start;
		map->bytes = area->vm_end - area->vm_start;
	}
	mmap_read_unlock(memory->mm);
	return area;
}

int hyplet_memory_map_all(struct hyplet_memory *memory)
{
	struct tenon_hyplet_map map = { .flags = TENON_HYPLET_ALL };
	int error = list_empty(&memory->regions) ? 0 : -EEXIST;

	while (!error && next_vma(memory, map.address + map.bytes, &map))
		error = hyplet_memory_map(memory, &map);
	if (error && error != -EEXIST)
		hyplet_memory_drop(memory);
	return error;
}

bool hyplet_memory_writable(struct hyplet_memory *memory, u64 address, u64 bytes)
{
	const struct region *region;

	list_for_each_entry(region, &memory->regions, list) {
		const struct hyplet_page *page = xa_load(&memory->pages, address >> PAGE_SHIFT);

		/*
		 * A region can span VMAs; a stack that is partly read-only makes the hyplet fault.
		 */
		if (region->begin <= address && address < region->end &&
		    bytes <= region->end - address)
			return page->rights & TENON_WRITE;
	}
	return false;
}

u64 *hyplet_memory_word(struct hyplet_memory *memory, u64 address)
{
	const struct hyplet_page *page = xa_load(&memory->pages, address >> PAGE_SHIFT);

	if (address % sizeof(u64) || !page || !page->page || !(page->rights & TENON_WRITE))
		return NULL;
	return page_address(page->page) + offset_in_page(address);
}

int hyplet_memory_build(struct hyplet_memory *memory, struct tenon_table *table)
{
	struct hyplet_page *page;
	unsigned long number;

	xa_for_each(&memory->pages, number, page) {
		int error = tenon_table_map(table, (u64)number << PAGE_SHIFT, page->physical,
					    page->rights);

		if (error)
			return error;
		cond_resched();
	}
	return 0;
}
