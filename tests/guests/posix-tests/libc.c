/* The C library: memory, formatted output, thread-local variables. */

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"

static _Thread_local int initial = 7;
static _Thread_local char zero[100] __attribute__((aligned(64)));

static void thread_local_variables(void)
{
	CHECK(initial == 7);
	CHECK(zero[0] == 0 && zero[99] == 0);
	CHECK((uintptr_t)zero % 64 == 0);
}

static void memory(void)
{
	char *first = malloc(1000), *second = calloc(10, 100);

	CHECK(first != NULL && second != NULL);
	for (int i = 0; i < 1000; i++)
		CHECK(second[i] == 0);
	memset(first, 0x55, 1000);
	first = realloc(first, 5000);
	CHECK(first[999] == 0x55);
	free(first);
	free(second);
	for (size_t align = 1; align <= 4096; align *= 2) {
		void *piece = memalign(align, 100), *other = malloc(align);
		CHECK(piece != NULL && (uintptr_t)piece % align == 0);
		CHECK(other != NULL && (uintptr_t)other % 16 == 0);
		free(piece);
		free(other);
	}
	CHECK(posix_memalign((void **)&first, 3, 8) == EINVAL);
	CHECK(posix_memalign((void **)&first, 256, 8) == 0 && (uintptr_t)first % 256 == 0);
	free(first);
	CHECK(calloc(1UL << 62, 8) == NULL);
	for (int i = 0; i < 10000; i++) {
		CHECK((first = malloc(100000)) != NULL);
		free(first);
	}
	errno = 0;
	CHECK(malloc(1UL << 40) == NULL);
	CHECK(errno == ENOMEM);
}

static void formats(void)
{
	char text[64];

	CHECK(snprintf(text, sizeof text, "%d %lx %s %.2f", -1, 0xabcUL, "text", 0.5) == 16);
	CHECK(strcmp(text, "-1 abc text 0.50") == 0);
	CHECK(strtod("2.5", NULL) == 2.5);
	CHECK(strcmp(strerror(ENOMEM), "Not enough space") == 0);
}

static const struct test tests[] = {
	{ "thread-local variables", thread_local_variables },
	{ "memory", memory },
	{ "formats", formats },
	{ NULL, NULL },
};
const struct suite libc_suite = { "libc", tests };
