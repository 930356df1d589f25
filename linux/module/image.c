// SPDX-License-Identifier: GPL-2.0
/*
 * VMs made from image files.
 *
 * Mortise copies from physically contiguous memory of the caller and keeps no image. So the file is
 * copied once into pieces as large as the page allocator provides, where user space cannot change
 * it, then validated, and kept until the VM is destroyed: a restart loads it again.
 */
#include "module.h"

#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <tenon/image.h>

#define LARGEST_ORDER 9 /* 2 MiB */

struct piece {
	struct list_head list;
	struct page *page;
	unsigned int order;
	u64 target;
	u64 bytes;
};

struct image {
	struct list_head list;
	struct list_head pieces;
	u32 handle;
};

static LIST_HEAD(images);

static void image_free(struct image *image)
{
	struct piece *piece, *next;

	list_for_each_entry_safe(piece, next, &image->pieces, list) {
		__free_pages(piece->page, piece->order);
		kfree(piece);
	}
	kfree(image);
}

/* Allocates the largest available block, up to the size needed. */
static struct page *pages_for(u64 bytes, unsigned int *order)
{
	struct page *page;

	for (*order = min_t(unsigned int, get_order(bytes), LARGEST_ORDER); *order; --*order) {
		page = alloc_pages(GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY, *order);
		if (page)
			return page;
	}
	return alloc_pages(GFP_KERNEL, 0);
}

static int image_keep(struct image *image, u64 target, u64 address, u64 bytes)
{
	while (bytes) {
		struct piece *piece = kzalloc(sizeof(*piece), GFP_KERNEL);

		if (!piece)
			return -ENOMEM;
		piece->page = pages_for(bytes, &piece->order);
		if (!piece->page) {
			kfree(piece);
			return -ENOMEM;
		}
		piece->target = target;
		piece->bytes = min_t(u64, bytes, PAGE_SIZE << piece->order);
		list_add_tail(&piece->list, &image->pieces);
		if (copy_from_user(page_address(piece->page), u64_to_user_ptr(address),
				   piece->bytes))
			return -EFAULT;
		if (fatal_signal_pending(current))
			return -EINTR;
		target += piece->bytes;
		address += piece->bytes;
		bytes -= piece->bytes;
	}
	return 0;
}

static int image_load(const struct image *image)
{
	const struct piece *piece;

	list_for_each_entry(piece, &image->pieces, list) {
		int error = mortise_call(MORTISE_LOAD, image->handle, piece->target,
					 page_to_phys(piece->page), piece->bytes, NULL);

		if (error)
			return error;
		cond_resched();
	}
	return 0;
}

static struct image *image_read(u64 address, u64 bytes, struct tenon_image *header)
{
	struct image *image;
	int error = 0;
	u32 i;

	memset(header, 0, sizeof(*header));
	if (copy_from_user(header, u64_to_user_ptr(address), min_t(u64, bytes, sizeof(*header))))
		return ERR_PTR(-EFAULT);
	if (tenon_image_wrong(header, bytes))
		return ERR_PTR(-ENOEXEC);
	image = kzalloc(sizeof(*image), GFP_KERNEL);
	if (!image)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&image->pieces);
	for (i = 0; i < header->count && !error; i++)
		error = image_keep(image, header->segments[i].target,
				   address + header->segments[i].offset, header->segments[i].bytes);
	if (error) {
		image_free(image);
		return ERR_PTR(error);
	}
	return image;
}

/* A descriptor must not cross a page boundary, so it has a page of its own. */
static int mortise_create(const struct tenon_descriptor *vm, u32 *handle)
{
	void *page = (void *)get_zeroed_page(GFP_KERNEL);
	struct mortise_answer answer;
	int error;

	if (!page)
		return -ENOMEM;
	memcpy(page, vm, sizeof(*vm));
	error = mortise_call(MORTISE_CREATE, virt_to_phys(page), 0, 0, 0, &answer);
	*handle = answer.value[0];
	free_page((unsigned long)page);
	return error;
}

int tenon_image_create(u64 address, u64 bytes, u32 *handle)
{
	struct tenon_image header;
	struct image *image = image_read(address, bytes, &header);
	int error;

	if (IS_ERR(image))
		return PTR_ERR(image);
	error = mortise_create(&header.vm, &image->handle);
	if (!error) {
		error = image_load(image);
		if (error)
			mortise_call(MORTISE_DESTROY, image->handle, 0, 0, 0, NULL);
	}
	if (error) {
		image_free(image);
		return error;
	}
	*handle = image->handle;
	list_add(&image->list, &images);
	return 0;
}

int tenon_image_restart(u32 handle)
{
	struct mortise_answer answer;
	struct image *image;
	int error = mortise_call(MORTISE_RESTART, handle, 0, 0, 0, &answer);

	if (error || !answer.value[0])
		return error;
	/* Its memory is empty: reload the image, if this module made the VM. */
	list_for_each_entry(image, &images, list) {
		if (image->handle == handle) {
			error = image_load(image);
			return error ?: mortise_call(MORTISE_START, handle, 0, 0, 0, NULL);
		}
	}
	return -ENODATA;
}

void tenon_image_forget(u32 handle)
{
	struct image *image, *next;

	list_for_each_entry_safe(image, next, &images, list) {
		if (image->handle == handle) {
			list_del(&image->list);
			image_free(image);
		}
	}
}

/* Frees the images of VMs that were destroyed by another manager or have ended. */
void tenon_image_forget_gone(bool (*gone)(u32 handle))
{
	struct image *image, *next;

	list_for_each_entry_safe(image, next, &images, list) {
		if (gone(image->handle)) {
			list_del(&image->list);
			image_free(image);
		}
	}
}

/* The VMs continue; a restart then needs the image from user space. */
void tenon_image_forget_all(void)
{
	struct image *image, *next;

	list_for_each_entry_safe(image, next, &images, list)
		image_free(image);
	INIT_LIST_HEAD(&images);
}
