/* Copies of many sizes and places by system calls, which preserve the registers of vectors. */
#define _GNU_SOURCE
#include "check.h"
#include <sys/mman.h>
#include <sys/socket.h>

enum { PAGE = 4096, LARGE = 16 * PAGE, ROUNDS = 300 };

static unsigned char from[LARGE + PAGE], to[LARGE + PAGE];
static int file;

static void fill(unsigned seed)
{
	for (size_t index = 0; index < sizeof from; index++) {
		seed = seed * 1664525 + 1013904223;
		from[index] = seed >> 24;
	}
}

/* A system call with all registers of vectors in use; returns its result, or -2 if one has changed. */
static long preserving(long number, long first, void *second, long third, long fourth)
{
	static unsigned char before[512], after[512];
	unsigned char seed = getpid();

	for (size_t index = 0; index < sizeof before; index++)
		before[index] = index * 7 + seed;
	register long x0 __asm__("x0") = first;
	register long x1 __asm__("x1") = (long)second;
	register long x2 __asm__("x2") = third;
	register long x3 __asm__("x3") = fourth;
	register long x8 __asm__("x8") = number;
	__asm__ volatile(
		"mov x9, %[before]\n"
		"ld1 {v0.2d-v3.2d}, [x9], #64\n"
		"ld1 {v4.2d-v7.2d}, [x9], #64\n"
		"ld1 {v8.2d-v11.2d}, [x9], #64\n"
		"ld1 {v12.2d-v15.2d}, [x9], #64\n"
		"ld1 {v16.2d-v19.2d}, [x9], #64\n"
		"ld1 {v20.2d-v23.2d}, [x9], #64\n"
		"ld1 {v24.2d-v27.2d}, [x9], #64\n"
		"ld1 {v28.2d-v31.2d}, [x9]\n"
		"svc #0\n"
		"mov x9, %[after]\n"
		"st1 {v0.2d-v3.2d}, [x9], #64\n"
		"st1 {v4.2d-v7.2d}, [x9], #64\n"
		"st1 {v8.2d-v11.2d}, [x9], #64\n"
		"st1 {v12.2d-v15.2d}, [x9], #64\n"
		"st1 {v16.2d-v19.2d}, [x9], #64\n"
		"st1 {v20.2d-v23.2d}, [x9], #64\n"
		"st1 {v24.2d-v27.2d}, [x9], #64\n"
		"st1 {v28.2d-v31.2d}, [x9]\n"
		: "+r"(x0)
		: "r"(x1), "r"(x2), "r"(x3), "r"(x8), [before] "r"(before), [after] "r"(after)
		: "memory", "cc", "x9", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9",
		  "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21",
		  "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
	long result = x0;
	return memcmp(before, after, sizeof before) ? -2 : result;
}

/* Processes that copy at the same time, each with registers of its own. */
static void together(void)
{
	int bad = 0;

	file = open("/tmp-copies", O_RDWR | O_CREAT | O_TRUNC, 0600);
	unlink("/tmp-copies");
	for (int child = 0; child < 3; child++) {
		if (fork() != 0)
			continue;
		long place = child * 2 * LARGE;
		fill(child);
		for (int round = 0; round < ROUNDS && !bad; round++) {
			bad |= preserving(SYS_pwrite64, file, from, LARGE, place) != LARGE;
			bad |= preserving(SYS_pread64, file, to, LARGE, place) != LARGE;
			bad |= memcmp(from, to, LARGE) != 0;
		}
		_exit(bad);
	}
	for (int child = 0; child < 3; child++) {
		int status = 0;
		wait(&status);
		bad |= status;
	}
	printf("together %d\n", bad);
}

/* Passes `size` bytes through an object, from and to places within pages; returns whether they differ. */
static int passed(int write_to, int read_from, size_t size, size_t start, size_t end)
{
	size_t done = 0;
	int bad = 0;

	memset(to, 0x55, sizeof to);
	bad |= preserving(SYS_write, write_to, from + start, size, 0) != (long)size;
	while (done < size) {
		long count = preserving(SYS_read, read_from, to + end + done, size - done, 0);
		if (count <= 0)
			return 1;
		done += count;
	}
	bad |= memcmp(from + start, to + end, size) != 0;
	bad |= to[end + size] != 0x55 || (end > 0 && to[end - 1] != 0x55);
	return bad;
}

static void sizes(void)
{
	static const size_t all[] = { 1, 63, 127, 128, 255, 256, 257, 383, 1024, 4095, 4096, 4097,
				      8191, 12289, 40001 };
	static const size_t places[] = { 0, 1, 8, 100, 4000 };
	int ends[2], pair[2], packets[2];

	fill(9);
	pipe(ends);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, packets);
	file = open("/tmp-copies", O_RDWR | O_CREAT | O_TRUNC, 0600);
	int reader = open("/tmp-copies", O_RDONLY);
	unlink("/tmp-copies");
	int bad[4] = { 0 };
	for (size_t size = 0; size < sizeof all / sizeof *all; size++) {
		for (size_t place = 0; place < 25; place++) {
			size_t start = places[place / 5], end = places[place % 5];
			bad[0] += passed(ends[1], ends[0], all[size], start, end);
			bad[1] += passed(pair[0], pair[1], all[size], start, end);
			bad[2] += passed(packets[0], packets[1], all[size], start, end);
			bad[3] += passed(file, reader, all[size], start, end);
		}
	}
	printf("pipe %d, stream %d, packets %d, file %d\n", bad[0], bad[1], bad[2], bad[3]);
}

/* A file that is written from its own content. */
static void own_content(void)
{
	file = open("/tmp-copies", O_RDWR | O_CREAT | O_TRUNC, 0600);
	unlink("/tmp-copies");
	fill(3);
	show("write", write(file, from, LARGE));
	unsigned char *mapped = mmap(NULL, 2 * LARGE, PROT_READ, MAP_SHARED, file, 0);
	show("append", pwrite(file, mapped, LARGE, LARGE));
	printf("same %d\n", memcmp(mapped, mapped + LARGE, LARGE) == 0);
	show("in place", pwrite(file, mapped + PAGE, PAGE, PAGE));
	printf("same %d\n", memcmp(mapped, from, LARGE) == 0);
	show("one page", ftruncate(file, PAGE));
	show("beyond", pwrite(file, mapped, PAGE, PAGE));
	printf("same %d\n", memcmp(mapped, mapped + PAGE, PAGE) == 0);
}

/* Buffers that end where nothing is mapped. */
static void ends_of_memory(void)
{
	unsigned char *place = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ends[2];

	munmap(place + 2 * PAGE, 2 * PAGE);
	memset(place, 7, 2 * PAGE);
	pipe(ends);
	file = open("/tmp-copies", O_RDWR | O_CREAT | O_TRUNC, 0600);
	unlink("/tmp-copies");
	show("file", pwrite(file, place, 4 * PAGE, 0));
	show("part of a page", pwrite(file, place + PAGE + 100, 2 * PAGE, 3 * PAGE));
	show("nothing", pwrite(file, place + 2 * PAGE, PAGE, 0));
	show("size", lseek(file, 0, SEEK_END));
	show("read", pread(file, place, 4 * PAGE, 0));
	show("read nothing", pread(file, place + 2 * PAGE, PAGE, 0));
	show("pipe", write(ends[1], place, 4 * PAGE));
	show("of the pipe", read(ends[0], place + PAGE, 2 * PAGE));
}

int main(void)
{
	run_part(together);
	run_part(sizes);
	run_part(own_content);
	run_part(ends_of_memory);
	return 0;
}
