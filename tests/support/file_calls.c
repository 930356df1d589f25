/*
 * A program without a library that creates, writes and removes files, and exhausts what they need. It
 * ends with the number of a check that failed.
 */
#include "system_call.h"

enum { DUP = 23, MKDIRAT = 34, UNLINKAT = 35, FTRUNCATE = 46, CHDIR = 49, OPENAT = 56, CLOSE = 57 };
enum { PIPE = 59, LSEEK = 62, READ = 63, WRITE = 64, PREAD = 67, PWRITE = 68, SENDFILE = 71 };
enum { EXIT = 93, SYSINFO = 179, CLONE = 220, WAIT = 260, RENAME = 276, HERE = -100 };
enum { RDONLY = 0, WRONLY = 1, RDWR = 2, CREAT = 0100, EXCL = 0200, APPEND = 02000, DIR = 040000 };
enum { NONBLOCK = 04000, TEMPORARY = 020040000 };

static void exit(int code)
{
	call(EXIT, code, 0, 0, 0, 0, 0);
	__builtin_unreachable();
}

static void check(int number, int holds)
{
	if (!holds)
		exit(number);
}

static long open(const char *path, int flags)
{
	return call(OPENAT, HERE, (word)path, flags, 0644, 0, 0);
}

static long unlink(const char *path, int flags)
{
	return call(UNLINKAT, HERE, (word)path, flags, 0, 0, 0);
}

static word free_memory(void)
{
	word info[14];

	call(SYSINFO, (word)info, 0, 0, 0, 0, 0);
	return info[5];
}

/* In the file, so that it is read there first. */
static char bytes[65536] = "bytes";

static void use_files(void)
{
	long file = open("/tmp/f", RDWR | CREAT | EXCL);
	long other;

	check(1, file >= 3);
	check(2, open("/tmp/f", RDWR | CREAT | EXCL) == -17);
	check(3, open("/tmp/f", RDONLY | DIR) == -20);
	check(4, open("/tmp/none/f", RDWR | CREAT) == -2);
	check(5, open("/tmp", RDWR) == -21);
	check(6, call(PWRITE, file, (word) "abcdef", 6, 10000, 0, 0) == 6);
	check(7, call(LSEEK, file, 0, 2, 0, 0, 0) == 10006);
	check(8, call(PREAD, file, (word)bytes, 16, 9998, 0, 0) == 8);
	check(9, bytes[0] == 0 && bytes[1] == 0 && bytes[2] == 'a' && bytes[7] == 'f');
	other = open("/tmp/f", WRONLY | APPEND);
	check(10, call(WRITE, other, (word) "gh", 2, 0, 0, 0) == 2);
	check(11, call(READ, other, (word)bytes, 1, 0, 0, 0) == -9);
	check(12, call(FTRUNCATE, file, 10007, 0, 0, 0, 0) == 0);
	check(13, call(PREAD, file, (word)bytes, 16, 10000, 0, 0) == 7 && bytes[6] == 'g');
	check(14, call(RENAME, HERE, (word) "/tmp/f", HERE, (word) "/tmp/g", 0, 0) == 0);
	check(15, open("/tmp/f", RDONLY) == -2 && unlink("/tmp/g", 0) == 0);
	check(16, call(PREAD, file, (word)bytes, 16, 10000, 0, 0) == 7);
	check(17, call(WRITE, file, 0x40080000, 8, 0, 0, 0) == -14);
	call(CLOSE, file, 0, 0, 0, 0, 0);
	call(CLOSE, other, 0, 0, 0, 0, 0);
	file = open("/tmp", RDWR | TEMPORARY);
	check(18, file >= 3 && call(WRITE, file, (word)bytes, 100, 0, 0, 0) == 100);
	check(19, unlink("/tmp", 0x200) == 0 && unlink("/", 0x200) == -16);
	check(20, call(MKDIRAT, HERE, (word) "/tmp", 01777, 0, 0, 0) == 0);
	call(CLOSE, file, 0, 0, 0, 0, 0);
}

/* A pipe that is nearly full has no part of a write of PIPE_BUF bytes. */
static void use_pipes(void)
{
	int ends[2];
	long total = 0;
	long count;

	check(30, call(PIPE, (word)ends, NONBLOCK, 0, 0, 0, 0) == 0);
	while ((count = call(WRITE, ends[1], (word)bytes, 4000, 0, 0, 0)) > 0) {
		check(31, count == 4000);
		total += count;
	}
	check(32, count == -11 && total == 64000);
	check(33, call(WRITE, ends[1], (word)bytes, 1536, 0, 0, 0) == 1536);
	check(34, call(WRITE, ends[1], (word)bytes, 1, 0, 0, 0) == -11);
	while ((count = call(READ, ends[0], (word)bytes, sizeof(bytes), 0, 0, 0)) > 0)
		total -= count;
	check(35, count == -11 && total == -1536);
	call(CLOSE, ends[0], 0, 0, 0, 0, 0);
	call(CLOSE, ends[1], 0, 0, 0, 0, 0);
}

/* Descriptors until there is none left. */
static void exhaust_descriptors(void)
{
	long number;
	long last = 2;

	while ((number = call(DUP, 1, 0, 0, 0, 0, 0)) >= 0)
		last = number;
	check(40, number == -24 && last == 255);
	for (; last > 2; last--)
		call(CLOSE, last, 0, 0, 0, 0, 0);
}

/* A directory within a directory, and so on, until the path or memory ends. */
static void nest_directories(void)
{
	int depth = 0;
	long result;

	check(50, call(CHDIR, (word) "/tmp", 0, 0, 0, 0, 0) == 0);
	while (depth < 500) {
		if (call(MKDIRAT, HERE, (word) "d", 0755, 0, 0, 0) < 0)
			break;
		check(51, call(CHDIR, (word) "d", 0, 0, 0, 0, 0) == 0);
		depth++;
	}
	result = call(17, (word)bytes, sizeof(bytes), 0, 0, 0, 0);
	check(52, depth > 100 && (result > 0 || result == -36));
	while (depth-- > 0) {
		check(53, call(CHDIR, (word) "..", 0, 0, 0, 0, 0) == 0);
		check(54, unlink("d", 0x200) == 0);
	}
	for (word place = 0; place < sizeof(bytes); place++)
		bytes[place] = 'x';
	bytes[256] = 0;
	check(55, open(bytes, RDWR | CREAT) == -36);
	bytes[255] = 0;
	check(56, open(bytes, RDWR | CREAT) >= 0 && unlink(bytes, 0) == 0);
	bytes[255] = 'x';
	check(57, open(bytes, RDWR | CREAT) == -36);
}

/* Writes until there is no memory, of one file and of many. */
static void fill_memory(void)
{
	long file = open("/tmp/large", RDWR | CREAT);
	char name[] = "/tmp/0000";
	long count;
	int files = 0;

	while ((count = call(WRITE, file, (word)bytes, sizeof(bytes), 0, 0, 0)) == sizeof(bytes))
		;
	check(60, count > 0 || count == -28);
	check(61, call(WRITE, file, (word)bytes, sizeof(bytes), 0, 0, 0) == -28);
	check(62, call(MKDIRAT, HERE, (word) "/tmp/more", 0755, 0, 0, 0) <= 0);
	unlink("/tmp/more", 0x200);
	call(CLOSE, file, 0, 0, 0, 0, 0);
	check(63, unlink("/tmp/large", 0) == 0);
	for (; files < 2000; files++) {
		for (int digit = 8, rest = files; digit > 4; digit--, rest /= 10)
			name[digit] = '0' + rest % 10;
		file = open(name, RDWR | CREAT);
		if (file < 0)
			break;
		count = call(WRITE, file, (word)bytes, 4096, 0, 0, 0);
		call(CLOSE, file, 0, 0, 0, 0, 0);
		check(64, count == 4096 || count == -28);
	}
	check(65, files == 2000 || file == -28);
	while (files-- > 0) {
		for (int digit = 8, rest = files; digit > 4; digit--, rest /= 10)
			name[digit] = '0' + rest % 10;
		check(66, unlink(name, 0) == 0);
	}
}

static void copy_in_the_kernel(void)
{
	long from = open("/init", RDONLY);
	long to = open("/tmp/copy", RDWR | CREAT);
	word at = 1;

	check(70, call(SENDFILE, to, from, (word)&at, 3, 0, 0) == 3 && at == 4);
	check(71, call(PREAD, to, (word)bytes, 4, 0, 0, 0) == 3 && bytes[0] == 'E' && bytes[2] == 'F');
	check(72, call(SENDFILE, from, to, 0, 3, 0, 0) == -9);
	call(CLOSE, from, 0, 0, 0, 0, 0);
	call(CLOSE, to, 0, 0, 0, 0, 0);
	unlink("/tmp/copy", 0);
}

static void run(void)
{
	use_files();
	use_pipes();
	exhaust_descriptors();
	nest_directories();
	copy_in_the_kernel();
	fill_memory();
	exit(0);
}

void begin(void)
{
	word before = 0;
	long lost;

	/* The second time, all pages of this program have been touched. */
	for (int round = 0; round < 2; round++) {
		long number = call(CLONE, 17, 0, 0, 0, 0, 0);
		unsigned status = 0;

		if (number == 0)
			run();
		call(WAIT, number, (word)&status, 0, 0, 0, 0);
		if (status != 0)
			exit(status >> 8 ? status >> 8 : 1);
		if (round == 0)
			before = free_memory();
	}
	lost = before - free_memory();
	print("lost: ");
	print_number(lost);
	print("\n");
	exit(0);
}

/* The stack is aligned, and has no caller. */
__asm__(".global _start\n_start: mov x29, xzr\n mov x30, xzr\n b begin\n");
