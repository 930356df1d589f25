/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Image file of a VM (docs/formats.md): a descriptor for Mortise, and the segments of its memory.
 * All numbers are little endian.
 *
 * The module and tenonctl share this validation; nothing in a file is trusted before. Mortise
 * itself checks what only it knows: available memory and permitted CPUs.
 */
#ifndef TENON_IMAGE_H
#define TENON_IMAGE_H

#ifdef __KERNEL__
#include <linux/string.h>
#include <linux/types.h>
#else
#include <linux/types.h>
#include <string.h>
#endif

#define TENON_IMAGE_MAGIC 0x314d5654u /* "TVM1" */
#define TENON_IMAGE_VERSION 1u
#define TENON_IMAGE_SEGMENTS 8u
#define TENON_IMAGE_BLOCK (2ull << 20)
#define TENON_IMAGE_RAM (512ull << 20)
#define TENON_IMAGE_LARGEST (64ull << 20) /* maximum size of a file, which is kept for restarts */
/* The hypercall LOAD copies whole cache lines. */
#define TENON_IMAGE_LINE 64ull

struct tenon_descriptor {
	__u32 magic;
	__u32 version;
	char name[32];
	__u64 memory;
	__u64 window;
	__u64 entry;
	__u64 argument;
	__u8 vcpus;
	__u8 cpus[8];
	__u8 priority;
	__u8 schedule;
	__u8 exhausted;
	__u32 zero;
	__u64 budget;
	__u64 period;
	__u8 reserved[152];
};

struct tenon_segment {
	__u64 target;
	__u64 offset;
	__u64 bytes;
};

struct tenon_image {
	struct tenon_descriptor vm;
	__u32 count;
	__u32 zero;
	struct tenon_segment segments[TENON_IMAGE_SEGMENTS];
};

_Static_assert(sizeof(struct tenon_descriptor) == 256, "as Mortise reads it");

/* Size of the header in bytes. */
static inline __u64 tenon_image_header(__u32 count)
{
	return sizeof(struct tenon_descriptor) + 8 + count * sizeof(struct tenon_segment);
}

static inline int tenon_image_named(const char name[32])
{
	unsigned int i;

	if (name[0] < 'a' || name[0] > 'z')
		return 0;
	for (i = 1; i < 32 && name[i]; i++)
		if (!((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9') ||
		      name[i] == '-'))
			return 0;
	for (; i < 32; i++)
		if (name[i])
			return 0;
	return !name[31];
}

static inline const char *tenon_segment_wrong(const struct tenon_segment *segment, __u32 count,
					      __u64 bytes)
{
	if (!segment->bytes)
		return "has an empty segment";
	if (segment->offset < tenon_image_header(count) || segment->offset > bytes ||
	    segment->bytes > bytes - segment->offset)
		return "has a segment that is not in the file";
	if (segment->target % TENON_IMAGE_LINE || segment->bytes % TENON_IMAGE_LINE)
		return "has a segment that is not a multiple of 64 bytes";
	if (segment->target + segment->bytes < segment->target)
		return "has a segment beyond all addresses";
	return NULL;
}

/*
 * Validates an image of `bytes` bytes; `image` is a copy of its header, or of the whole file if
 * that is shorter. Returns the reason for which it is invalid, or NULL.
 */
static inline const char *tenon_image_wrong(const struct tenon_image *image, __u64 bytes)
{
	const struct tenon_descriptor *vm = &image->vm;
	__u64 filled = 0;
	unsigned int i;

	if (bytes < tenon_image_header(0))
		return "is too short for a VM image";
	if (vm->magic != TENON_IMAGE_MAGIC)
		return "is not a VM image";
	if (vm->version != TENON_IMAGE_VERSION)
		return "is a VM image of another version";
	if (bytes > TENON_IMAGE_LARGEST)
		return "is larger than 64 MiB";
	if (!tenon_image_named(vm->name))
		return "has no proper name (a-z, 0-9 and -, a letter first)";
	if (!vm->memory || vm->memory % TENON_IMAGE_BLOCK || vm->memory > TENON_IMAGE_RAM)
		return "asks for memory that is not 2 MiB to 512 MiB in whole 2 MiB";
	if (!vm->vcpus || vm->vcpus > sizeof(vm->cpus))
		return "has no vCPU or more than 8";
	if (vm->zero || image->zero)
		return "is not all zero where it must be";
	for (i = 0; i < sizeof(vm->reserved); i++)
		if (vm->reserved[i])
			return "is not all zero where it must be";
	if (!image->count || image->count > TENON_IMAGE_SEGMENTS)
		return "has no segment or more than 8";
	if (bytes < tenon_image_header(image->count))
		return "is too short for its segments";
	for (i = 0; i < image->count; i++) {
		const char *wrong = tenon_segment_wrong(&image->segments[i], image->count, bytes);

		if (wrong)
			return wrong;
		/* No segment exceeds the file, so the sum does not overflow. */
		filled += image->segments[i].bytes;
	}
	if (filled > vm->memory)
		return "fills more memory than it asks for";
	return NULL;
}

#endif
