/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Linux as a library: the side that serves.
 *
 *	struct vlib vlib;
 *	struct vlib_channel channel;
 *
 *	if (vlib_open(&vlib, "classifier"))
 *		return 1;
 *	while (!vlib_listen(&vlib, &channel)) {
 *		... the request is in channel.memory, and the answer goes there ...
 *	}
 *
 * While nobody calls, vlib_listen keeps all of Linux from running. Who calls may be hostile or gone:
 * what is in the memory may change at any time, its size is as told.
 */
#ifndef TENON_VLIB_H
#define TENON_VLIB_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <tenon.h>
#include <unistd.h>

/* In front of the channels: which one is called on. */
struct vlib_head {
	uint64_t offset;
	uint64_t size;
};

struct vlib {
	int file;
	uint64_t size;
	volatile struct vlib_head *head;
	const int64_t *door;
};

/* What a call is about. */
struct vlib_channel {
	void *memory;
	uint64_t size;
};

/* Begins to serve a vLib; -1 with errno if it cannot be: EBUSY if somebody does. */
static inline int vlib_open(struct vlib *vlib, const char *name)
{
	struct tenon_vlib shape;
	char path[64];
	void *memory, *door;

	snprintf(path, sizeof(path), "/dev/tenon/%s", name);
	vlib->file = open(path, O_RDWR | O_CLOEXEC);
	if (vlib->file < 0)
		return -1;
	if (ioctl(vlib->file, TENON_VLIB, &shape))
		goto failed;
	vlib->size = shape.size;
	memory = mmap(NULL, shape.size, PROT_READ | PROT_WRITE, MAP_SHARED, vlib->file, 0);
	if (memory == MAP_FAILED)
		goto failed;
	door = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, vlib->file, shape.size);
	if (door == MAP_FAILED)
		goto unmap;
	vlib->head = memory;
	vlib->door = door;
	return 0;
unmap:
	munmap(memory, shape.size);
failed:
	close(vlib->file);
	return -1;
}

/* Ends the call that is served, if one is, and returns in the next one. */
static inline int vlib_listen(struct vlib *vlib, struct vlib_channel *channel)
{
	uint64_t offset, size;
	int64_t status;

	/* As one instruction: what is behind the door answers no other. */
	__asm__ volatile("ldr %0, [%1]" : "=r"(status) : "r"(vlib->door) : "memory");
	if (status) {
		errno = EBUSY;
		return -1;
	}
	offset = vlib->head->offset;
	size = vlib->head->size;
	/* What makes no sense is an empty channel. */
	if (offset < sizeof(*vlib->head) || offset > vlib->size || size > vlib->size - offset)
		size = 0, offset = sizeof(*vlib->head);
	channel->memory = (char *)vlib->head + offset;
	channel->size = size;
	return 0;
}

#endif
