/*
 * A program without a library that attacks by mappings, one process for each attack. The first process
 * collects all of them, prints how each ended, and whether all memory is free again.
 */
#include "attack.h"

enum { WRITE = 64, READ = 63 };
enum { OPENAT = 56, CLOSE = 57, TRUNCATE = 46, UNLINK = 35, FUTEX = 98, FALLOCATE = 47 };
enum { MUNMAP = 215, MREMAP = 216, MMAP = 222, MPROTECT = 226, MADVISE = 233, MEMFD = 279 };
enum { PAGE = 4096, NONE = 0, R = 1, RW = 3, RX = 5 };
enum { SHARED = 1, PRIVATE = 2, FIXED = 0x10, ANONYMOUS = 0x20, POPULATE = 0x8000 };
enum { MAY_MOVE = 1, MOVE_FIXED = 2, EACCES = 13 };

static long map_at(word at, word size, word protection, word flags, long fd)
{
	return call(MMAP, at, size, protection, flags, fd, 0);
}

static long map(word size, word protection, word flags, long fd)
{
	return map_at(0, size, protection, flags, fd);
}

static long move(word from, word size, word new_size, word flags, word to)
{
	return call(MREMAP, from, size, new_size, flags, to, 0);
}

static long memory_file(word size)
{
	long fd = call(MEMFD, (word)"x", 0, 0, 0, 0, 0);

	call(TRUNCATE, fd, size, 0, 0, 0, 0);
	return fd;
}

/* What one mapping writes, another one must not execute, in any order. */
static void alias_code(void)
{
	long fd = memory_file(4 * PAGE);
	long data = map(2 * PAGE, RW, SHARED, fd);
	long code;

	if (map(PAGE, RX, SHARED, fd) != -EACCES || map(PAGE, RX, PRIVATE, fd) != -EACCES)
		exit(1);
	code = map(PAGE, R, SHARED, fd);
	if (call(MPROTECT, code, PAGE, RX, 0, 0, 0) != -EACCES)
		exit(2);
	if (fork() == 0)
		exit(call(MPROTECT, code, PAGE, RX, 0, 0, 0) != -EACCES);
	wait_all();
	call(MUNMAP, data, PAGE, 0, 0, 0, 0);
	if (call(MPROTECT, code, PAGE, RX, 0, 0, 0) != -EACCES)
		exit(3);
	call(MUNMAP, data + PAGE, PAGE, 0, 0, 0, 0);
	if (call(MPROTECT, code, PAGE, RX, 0, 0, 0) != 0)
		exit(4);
	if (map(PAGE, RW, SHARED, fd) != -EACCES)
		exit(5);
	/* A copy of the code, writable at another place. */
	code = move(code, 0, PAGE, MAY_MOVE, 0);
	if (code < 0 || call(MPROTECT, code, PAGE, RW, 0, 0, 0) != -EACCES)
		exit(6);
	if (map(PAGE, 7, SHARED, fd) != -EACCES || map_at(0x700000000, PAGE, 7, SHARED | FIXED, fd) != -EACCES)
		exit(7);
	exit(0);
}

static const word places[] = {
	0, 1, PAGE, 0x10000, 0x08000000, 0x40000000, 0x40080000, 0xfffff000, 0x100000000, 0x7ffffff000,
	0x8000000000, 0xfffffffffffff000, -1UL, 1UL << 63,
};
enum { PLACES = sizeof(places) / sizeof(places[0]) };

/* No move reaches the kernel, and none reads it. */
static void move_anywhere(void)
{
	long own = map(8 * PAGE, RW, PRIVATE | ANONYMOUS, -1);
	volatile word *value = (word *)own;

	*value = 77;
	for (int to = 0; to < PLACES; to++)
		for (int size = 0; size < PLACES; size++)
			for (int flags = 0; flags < 8; flags++) {
				long moved;

				/* The kernel's part, as a source. */
				moved = move(places[to], PAGE, places[size], flags, own + 4 * PAGE);
				if (moved > 0 && places[to] >= 0x08000000 && places[to] < 0x100000000)
					exit(1);
				moved = move(own, PAGE, places[size], flags, places[to]);
				if (moved > 0 && moved != own) {
					if (moved >= 0x08000000 && moved < 0x100000000)
						exit(2);
					if (*(word *)moved != 77)
						exit(3);
					move(moved, PAGE, PAGE, MAY_MOVE | MOVE_FIXED, own);
				}
				if (*value != 77)
					exit(4);
			}
	exit(0);
}

static void map_what_is_no_file(void)
{
	static const char *const names[] = { "/", "/dev/null", "/dev/console", "/dev/full" };

	for (int index = 0; index < 4; index++) {
		long fd = call(OPENAT, -100, (word)names[index], 0, 0, 0, 0);

		if (fd < 0 || map(PAGE, R, PRIVATE, fd) >= 0 || map(PAGE, R, SHARED, fd) >= 0)
			exit(index + 1);
	}
	if (map(PAGE, R, SHARED, 99) != -9 || map(-1UL, R, PRIVATE | ANONYMOUS, -1) != -12)
		exit(5);
	exit(0);
}

static void touch(word start, word size)
{
	for (word at = start; at < start + size; at += PAGE)
		*(volatile char *)at = 1;
}

/* A file that ends while another process stores to its pages. */
static void truncate_what_is_mapped(void)
{
	enum { SIZE = 64 * PAGE };
	long fd = memory_file(SIZE);
	long start = map(SIZE, RW, SHARED, fd);
	int status = 0;

	touch(start, SIZE);
	for (int child = 0; child < 4; child++)
		if (fork() == 0)
			for (;;)
				touch(start, SIZE);
	for (int round = 0; round < 30; round++) {
		call(TRUNCATE, fd, round % 3 * PAGE, 0, 0, 0, 0);
		/* The kernel itself stores behind the end. */
		if (call(READ, fd, start + 40 * PAGE, PAGE, 0, 0, 0) > 0)
			exit(1);
		if (call(WRITE, fd, start + 40 * PAGE, PAGE, 0, 0, 0) > 0)
			exit(2);
		call(TRUNCATE, fd, SIZE, 0, 0, 0, 0);
		if (*(volatile char *)(start + 50 * PAGE) != 0 && round == 0)
			exit(3);
	}
	call(TRUNCATE, fd, 0, 0, 0, 0, 0);
	while (call(WAIT, -1, (word)&status, 0, 0, 0, 0) > 0)
		if (status != 7)
			exit(4);
	exit(0);
}

static void use_up_by_shared_memory(void)
{
	for (;;) {
		long start = map(1 << 20, RW, SHARED | ANONYMOUS, -1);

		if (start < 0)
			exit(1);
		touch(start, 1 << 20);
	}
}

static void use_up_by_moves(void)
{
	word size = PAGE;
	long start = map(size, RW, PRIVATE | ANONYMOUS, -1);

	for (;;) {
		long moved = move(start, size, size + 16 * PAGE, MAY_MOVE, 0);

		if (moved < 0)
			exit(0);
		start = moved;
		size += 16 * PAGE;
		touch(start, size);
	}
}

/* As many areas as there can be, each of which forks share. */
static void use_up_by_areas(void)
{
	long fd = memory_file(PAGE);
	long count = 0;
	word before;

	while (map(PAGE, count % 2 ? RW : R, SHARED, fd) > 0)
		count++;
	if (count < 500)
		exit(1);
	/* What divides an area fails, and nothing else. */
	before = free_memory();
	for (int round = 0; round < 100; round++)
		if (call(MADVISE, 0x10000, PAGE, 4, 0, 0, 0) != -12)
			exit(2);
	if (free_memory() != before)
		exit(3);
	for (int child = 0; child < 8; child++) {
		long number = fork();

		if (number == 0)
			exit(0);
		if (number < 0 && number != -11 && number != -12)
			exit(4);
	}
	wait_all();
	exit(0);
}

static void use_up_by_forks(void)
{
	long start = map(256 * PAGE, RW, PRIVATE | ANONYMOUS, -1);
	long number = 0;

	touch(start, 256 * PAGE);
	for (int depth = 0; depth < 40 && number == 0; depth++) {
		touch(start, 256 * PAGE);
		number = fork();
	}
	wait_all();
	exit(0);
}

/* Files with pages that are mapped as well. */
static void use_up_by_files(void)
{
	char name[] = "/tmp/00";

	for (int index = 0;; index++) {
		long fd, start;

		name[5] = (char)('0' + index / 10 % 64);
		name[6] = (char)('0' + index % 10);
		fd = call(OPENAT, -100, (word)name, 0102, 0600, 0, 0);
		if (fd < 0)
			break;
		if (call(FALLOCATE, fd, 0, 0, 64 * PAGE, 0, 0) < 0)
			break;
		start = map(64 * PAGE, RW, SHARED | POPULATE, fd);
		call(CLOSE, fd, 0, 0, 0, 0, 0);
		if (start < 0)
			break;
	}
	/* No memory is left, and calls still do what needs none. */
	if (free_memory() > 128 * PAGE)
		exit(1);
	for (int index = 0; index < 640; index++) {
		name[5] = (char)('0' + index / 10 % 64);
		name[6] = (char)('0' + index % 10);
		call(UNLINK, -100, (word)name, 0, 0, 0, 0);
	}
	exit(0);
}

static void wait_for_unmapped_words(void)
{
	for (int round = 0; round < 200; round++) {
		long start = map(PAGE, RW, SHARED | ANONYMOUS, -1);
		word second[2] = { 0, 1000 };

		if (fork() == 0) {
			call(FUTEX, start, 0, 0, (word)second, 0, 0);
			exit(0);
		}
		call(MUNMAP, start, PAGE, 0, 0, 0, 0);
		if (call(FUTEX, start, 1, 1, 0, 0, 0) > 0)
			exit(1);
	}
	wait_all();
	exit(0);
}

static void map_at_random(void)
{
	word state = 88172645463325252UL;
	static const word numbers[] = { 214, 215, 216, 222, 226, 227, 228, 229, 232, 233, 279, 284, 46 };

	memory_file(20 * PAGE);
	for (int count = 0; count < 5000; count++) {
		word arguments[6];

		for (int place = 0; place < 6; place++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			switch (state % 4) {
			case 0: arguments[place] = places[state / 4 % PLACES]; break;
			case 1: arguments[place] = 0x7000000000 + state / 4 % 64 * PAGE; break;
			case 2: arguments[place] = state / 4 % 16 * PAGE; break;
			default: arguments[place] = state / 4 % 64; break;
			}
		}
		/* Descriptors 0 to 2 are others' as well. */
		if (numbers[state % 13] == 46)
			arguments[0] = 3 + state / 16 % 4;
		if (numbers[state % 13] == 222 && state / 64 % 2)
			arguments[3] = (word[]){ 0x22, 0x32, 0x21, 0x31, 1, 2 }[state / 128 % 6];
		call(numbers[state % 13], arguments[0], arguments[1], arguments[2], arguments[3],
		     arguments[4], arguments[5]);
	}
	exit(0);
}

static const struct attack attacks[] = {
	{ "map nothing", map_what_is_no_file },
	{ "alias code", alias_code },
	{ "move anywhere", move_anywhere },
	{ "truncate what is mapped", truncate_what_is_mapped },
	{ "use up by shared memory", use_up_by_shared_memory },
	{ "use up by moves", use_up_by_moves },
	{ "use up by areas", use_up_by_areas },
	{ "use up by forks", use_up_by_forks },
	{ "use up by files", use_up_by_files },
	{ "wait for unmapped words", wait_for_unmapped_words },
	{ "map at random", map_at_random },
};

void begin(void)
{
	word before = 0;

	/* The table of waits for words that processes share takes its frame for good. */
	if (fork() == 0)
		wait_for_unmapped_words();
	wait_all();
	for (word place = 0; place < sizeof(attacks) / sizeof(attacks[0]); place++) {
		run_attack(&attacks[place]);
		wait_all();
		if (place == 0) {
			before = free_memory();
		} else {
			print(", lost ");
			print_number(before - free_memory());
		}
		print("\n");
	}
	exit(0);
}

/* The stack is aligned, and has no caller. */
__asm__(".global _start\n_start: mov x29, xzr\n mov x30, xzr\n b begin\n");
