/* Locks of files: of processes and of descriptions, by bytes and as a whole. */
#define _GNU_SOURCE
#include "check.h"

#include <sys/file.h>
#include <time.h>

static int file;

static long lock(int fd, int command, int type, long start, long length)
{
	struct flock lock = { type, SEEK_SET, start, length, 0 };

	return fcntl(fd, command, &lock);
}

static void test(const char *what, int fd, int command, int type, long start, long length)
{
	struct flock lock = { type, SEEK_SET, start, length, 0 };

	show(what, fcntl(fd, command, &lock));
	printf("  type %d, %ld of %ld, process %d\n", lock.l_type, (long)lock.l_start,
	       (long)lock.l_len, lock.l_pid > 0 ? 1 : lock.l_pid);
}

static void pause_for(long milliseconds)
{
	struct timespec time = { 0, milliseconds * 1000000 };

	nanosleep(&time, NULL);
}

static void as_other(void)
{
	int own = open("/tmp/locked", O_RDWR);

	test("all", own, F_GETLK, F_WRLCK, 0, 0);
	test("between", own, F_GETLK, F_WRLCK, 30, 10);
	test("read", own, F_GETLK, F_RDLCK, 0, 0);
	show("conflict", lock(own, F_SETLK, F_WRLCK, 5, 1));
	show("share", lock(own, F_SETLK, F_RDLCK, 50, 10));
	show("none", lock(own, F_SETLK, F_WRLCK, 100, 0));
	test("free", own, F_GETLK, F_WRLCK, 200, 1);
	show("inherited", lock(file, F_SETLK, F_WRLCK, 0, 1));
}

static void wait_and_go_on(void)
{
	int own = open("/tmp/locked", O_RDWR);

	show("wait", lock(own, F_SETLKW, F_WRLCK, 0, 10));
}

static void make_a_ring(void)
{
	int own = open("/tmp/locked", O_RDWR);

	lock(own, F_SETLK, F_WRLCK, 1, 1);
	pause_for(20);
	/* The other one waits for byte 1. */
	show("deadlock", lock(own, F_SETLKW, F_WRLCK, 0, 1));
}

static void use_whole(void)
{
	int own = open("/tmp/locked", O_RDWR);

	show("exclusive", flock(own, LOCK_EX | LOCK_NB));
	show("shared", flock(own, LOCK_SH | LOCK_NB));
	show("upgrade", flock(own, LOCK_EX | LOCK_NB));
	show("operation", flock(own, 16));
	show("inherited", flock(file, LOCK_SH | LOCK_NB));
	show("unlock", flock(own, LOCK_UN));
}

static void use_descriptions(void)
{
	int own = open("/tmp/locked", O_RDWR);

	test("of description", own, F_GETLK, F_WRLCK, 0, 0);
	test("of another", own, F_OFD_GETLK, F_WRLCK, 0, 0);
	show("conflict", lock(own, F_OFD_SETLK, F_WRLCK, 0, 1));
	show("shared", lock(file, F_OFD_SETLK, F_WRLCK, 300, 1));
}

int main(void)
{
	struct flock bad = { F_WRLCK, 9, 0, 0, 0 };
	int copy, pair[2], reads;
	pid_t child;

	setvbuf(stdout, NULL, _IOLBF, 0);
	file = open("/tmp/locked", O_RDWR | O_CREAT, 0600);
	write(file, "0123456789", 10);
	reads = open("/tmp/locked", O_RDONLY);
	show("write lock to read", lock(reads, F_SETLK, F_WRLCK, 0, 1));
	show("origin", fcntl(file, F_SETLK, &bad));
	show("type", lock(file, F_SETLK, 9, 0, 1));
	show("before", lock(file, F_SETLK, F_WRLCK, -1, 1));
	show("negative", lock(file, F_SETLK, F_WRLCK, 10, -5));
	show("pointer", fcntl(file, F_SETLK, 8));
	pipe(pair);
	show("nothing", lock(99, F_SETLK, F_WRLCK, 0, 1));
	lock(file, F_SETLK, F_UNLCK, 0, 0);
	/* Own locks divide, join and replace each other. */
	show("set", lock(file, F_SETLK, F_WRLCK, 0, 20));
	show("inner", lock(file, F_SETLK, F_UNLCK, 8, 4));
	show("join", lock(file, F_SETLK, F_WRLCK, 20, 10));
	show("reading", lock(file, F_SETLK, F_RDLCK, 40, 30));
	show("reading too", lock(file, F_SETLK, F_RDLCK, 70, 10));
	test("own", file, F_GETLK, F_WRLCK, 0, 0);
	run_part(as_other);
	/* Any descriptor that is closed ends all of them. */
	close(reads);
	run_part(as_other);
	lock(file, F_SETLK, F_WRLCK, 0, 10);
	child = fork();
	if (child == 0) {
		wait_and_go_on();
		_exit(0);
	}
	pause_for(10);
	lock(file, F_SETLK, F_UNLCK, 0, 0);
	waitpid(child, NULL, 0);
	lock(file, F_SETLK, F_WRLCK, 0, 1);
	child = fork();
	if (child == 0) {
		make_a_ring();
		_exit(0);
	}
	pause_for(10);
	show("in a ring", lock(file, F_SETLKW, F_WRLCK, 1, 1));
	waitpid(child, NULL, 0);
	lock(file, F_SETLK, F_UNLCK, 0, 0);
	show("whole", flock(file, LOCK_SH));
	run_part(use_whole);
	copy = dup(file);
	close(file);
	file = open("/tmp/locked", O_RDWR);
	show("still shared", flock(file, LOCK_EX | LOCK_NB));
	close(copy);
	show("free", flock(file, LOCK_EX | LOCK_NB));
	show("of a pipe", flock(pair[0], 77));
	show("of description", lock(file, F_OFD_SETLK, F_WRLCK, 0, 5));
	run_part(use_descriptions);
	show("duplicate", fcntl(file, F_DUPFD, 50));
	show("duplicate", fcntl(file, F_DUPFD_CLOEXEC, 60));
	show("flag", fcntl(60, F_GETFD));
	show("too high", fcntl(file, F_DUPFD, 1 << 20));
	show("append", fcntl(file, F_SETFL, O_APPEND | O_NONBLOCK | O_WRONLY));
	printf("flags %x\n", fcntl(file, F_GETFL) & ~0x20000);
	show("command", fcntl(file, 99));
	return 0;
}
