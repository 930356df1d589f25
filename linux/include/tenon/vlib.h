/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Linux as a library: the server of a vLib.
 *
 * 	struct vlib vlib;
 * 	struct vlib_channel channel;
 *
 * 	if (vlib_open(&vlib, "classifier"))
 * 		return 1;
 * 	while (!vlib_listen(&vlib, &channel)) {
 * 		... the request is in channel.memory, and the answer goes there ...
 * 	}
 *
 * Between calls, vlib_listen() stops the whole VM. The caller is not trusted: the contents of the
 * memory can change at any time; its size is validated.
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

/* Header of the memory: the channel of the current call. */
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

/* Channel of a call. */
struct vlib_channel {
	void *memory;
	uint64_t size;
};

/* Opens a vLib as its server; -1 with errno: EBUSY if it has a server. */
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

/* Ends the current call, if there is one, and returns with the next one. */
static inline int vlib_listen(struct vlib *vlib, struct vlib_channel *channel)
{
	uint64_t offset, size;
	int64_t status;

	/* One load instruction, which Mortise emulates. */
	__asm__ volatile("ldr %0, [%1]" : "=r"(status) : "r"(vlib->door) : "memory");
	if (status) {
		errno = EBUSY;
		return -1;
	}
	offset = vlib->head->offset;
	size = vlib->head->size;
	/* An invalid header yields an empty channel. */
	if (offset < sizeof(*vlib->head) || offset > vlib->size || size > vlib->size - offset)
		size = 0, offset = sizeof(*vlib->head);
	channel->memory = (char *)vlib->head + offset;
	channel->size = size;
	return 0;
}

#endif
