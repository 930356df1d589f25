// SPDX-License-Identifier: GPL-2.0
/* Image files: reading and validation. */
#include "tenonctl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void image_read(const char *path, struct file *file)
{
	FILE *stream = fopen(path, "rb");
	const char *wrong;
	size_t count;

	if (!stream)
		give_up(WRONG, "%s: %s", path, strerror(errno));
	/* One byte more than the limit, so that a larger file is detected. */
	file->content = malloc(TENON_IMAGE_LARGEST + 1);
	if (!file->content)
		give_up(FAILED, "%s: no memory to read it", path);
	file->bytes = fread(file->content, 1, TENON_IMAGE_LARGEST + 1, stream);
	if (ferror(stream))
		give_up(WRONG, "%s: %s", path, strerror(errno));
	fclose(stream);
	count = file->bytes < sizeof(file->image) ? file->bytes : sizeof(file->image);
	memset(&file->image, 0, sizeof(file->image));
	memcpy(&file->image, file->content, count);
	wrong = tenon_image_wrong(&file->image, file->bytes);
	if (wrong)
		give_up(WRONG, "%s: %s; ./tenon build --vm-image makes one", path, wrong);
}
