// SPDX-License-Identifier: GPL-2.0
/*
 * One end of a channel: mapping of its parts (docs/formats.md).
 */
#include <tenon/channel.h>
#include <tenon/hyplet.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <tenon.h>
#include <unistd.h>

enum { PRODUCER, CONSUMER };

/* In words: the slots start at the second cache line. */
enum { SLOTS = 8 };

static int map(struct tenon_line *line, const struct tenon_channel *shape, int file)
{
	int own = shape->producer ? PRODUCER : CONSUMER;
	off_t offset = 0;
	int part;

	for (part = 0; part < TENON_LINE_PARTS; part++) {
		int rights = PROT_READ | (part == own ? PROT_WRITE : 0);
		void *start = mmap(NULL, shape->parts[part], rights, MAP_SHARED, file, offset);

		if (start == MAP_FAILED)
			return -1;
		line->parts[part].start = start;
		line->parts[part].size = shape->parts[part];
		offset += shape->parts[part];
	}
	return 0;
}

int tenon_line_open(struct tenon_line *line, const char *name)
{
	struct tenon_channel shape;
	char path[64];
	int file, error;

	snprintf(path, sizeof(path), "/dev/tenon/%s", name);
	file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0)
		return -1;
	error = ioctl(file, TENON_CHANNEL, &shape);
	if (!error && shape.size != sizeof(uint64_t)) {
		errno = EMSGSIZE;
		error = -1;
	}
	error = error ? error : map(line, &shape, file);
	close(file);
	if (error)
		return -1;
	line->own = line->parts[shape.producer ? PRODUCER : CONSUMER].start;
	line->peer = line->parts[shape.producer ? CONSUMER : PRODUCER].start;
	line->slots = (uint64_t *)line->parts[PRODUCER].start + SLOTS;
	line->count = shape.slots;
	return 0;
}

int tenon_line_map(const struct tenon_line *line)
{
	int part;

	for (part = 0; part < TENON_LINE_PARTS; part++)
		if (hyp_map(line->parts[part].start, line->parts[part].size))
			return -1;
	return 0;
}
