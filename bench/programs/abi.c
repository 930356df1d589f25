/*
 * System calls of Linux, measured by a program that runs unmodified on Tenon and on Linux.
 *
 *   abi            measures each operation, and prints a line `abi NAME PARAMS COUNT NS...` for it: the
 *                  nanoseconds of COUNT repetitions, once for each of several batches
 *   abi LOAD       is a load for ever: fork, fault or io
 *   abi exit       ends at once
 *
 * An operation that the kernel refuses is a line `abi NAME absent ERRNO`. On the emulator a nanosecond
 * is an instruction.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/random.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 10, PAGE = 4096, FAULTS = 100, LARGE = 65536 };
/* Pages for all batches of faults, and for the first one that tries. */
enum { PAGES = BATCHES * FAULTS + 1 };

static const char *self;
static int null_file, own_file, scratch, pair[2], first[2], second[2], events, sockets[2];
static char buffer[LARGE];
static char *pages;
static size_t place;
static int size;
static volatile int turn;

static long nanoseconds(void)
{
	struct timespec now;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* Measures `count` repetitions of an operation that returns a negative number if it is refused. */
static void measure(const char *name, int count, long (*operation)(void))
{
	long taken[BATCHES];

	errno = 0;
	if (operation() < 0) {
		printf("abi %s absent %d\n", name, errno);
		return;
	}
	for (int batch = 0; batch < BATCHES; batch++) {
		long begin = nanoseconds();
		for (int index = 0; index < count; index++)
			operation();
		taken[batch] = nanoseconds() - begin;
	}
	printf("abi %s %d", name, count);
	for (int batch = 0; batch < BATCHES; batch++)
		printf(" %ld", taken[batch]);
	printf("\n");
}

static long null_syscall(void)
{
	return syscall(SYS_getppid) < 0 ? -1 : 0;
}

static long clock_vdso(void)
{
	struct timespec now;
	return clock_gettime(CLOCK_MONOTONIC, &now);
}

static long write_null(void)
{
	return write(null_file, buffer, 1);
}

static long pipe_same(void)
{
	return write(pair[1], buffer, 1) < 0 ? -1 : read(pair[0], buffer, 1);
}

static long pipe_pingpong(void)
{
	return write(first[1], buffer, 1) < 0 ? -1 : read(second[0], buffer, 1);
}

static void echo_pipe(void)
{
	char byte;
	close(first[1]);
	while (read(first[0], &byte, 1) == 1)
		if (write(second[1], &byte, 1) < 0)
			break;
	_exit(0);
}

static void pass_turn(int from, int to)
{
	while (turn != from)
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, turn, NULL, NULL, 0);
	turn = to;
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *partner(void *unused)
{
	for (;;)
		pass_turn(1, 0);
	return unused;
}

static long futex_pingpong(void)
{
	static pthread_t thread;
	if (!thread && (errno = pthread_create(&thread, NULL, partner, NULL)))
		return -1;
	pass_turn(0, 1);
	return 0;
}

static long waited(pid_t child)
{
	return child < 0 ? -1 : waitpid(child, NULL, 0);
}

static long fork_exit_wait(void)
{
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	return waited(child);
}

static long vfork_exec_wait(void)
{
	pid_t child = vfork();
	if (child == 0) {
		execl(self, "abi", "exit", NULL);
		_exit(1);
	}
	return waited(child);
}

/* A fresh page; the memory is renewed behind the last batch. */
static long page_fault(void)
{
	if (place == 0) {
		if (pages)
			munmap(pages, PAGES * PAGE);
		pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pages == MAP_FAILED)
			return -1;
	}
	pages[place * PAGE] = 1;
	place = (place + 1) % PAGES;
	return 0;
}

static long mmap_munmap(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return page == MAP_FAILED ? -1 : munmap(page, PAGE);
}

static volatile int caught;

static void catch(int number)
{
	caught = number;
}

static long signal_self(void)
{
	caught = 0;
	if (kill(getpid(), SIGUSR1) < 0)
		return -1;
	errno = ENOSYS;
	return caught ? 0 : -1;
}

static void *nothing(void *value)
{
	return value;
}

static long thread_create_join(void)
{
	pthread_t thread;
	errno = pthread_create(&thread, NULL, nothing, NULL);
	return errno ? -1 : pthread_join(thread, NULL);
}

static long open_close(void)
{
	int file = open(self, O_RDONLY);
	return file < 0 ? -1 : close(file);
}

static long read_file(void)
{
	return pread(own_file, buffer, size, 0);
}

static long write_file(void)
{
	return pwrite(scratch, buffer, size, 0);
}

static long status(void)
{
	struct stat status;
	return stat(self, &status);
}

static long epoll_ready(void)
{
	struct epoll_event event;
	return epoll_wait(events, &event, 1, 0);
}

static long unix_stream(void)
{
	return write(sockets[1], buffer, size) < 0 ? -1 : read(sockets[0], buffer, size);
}

/* Seeds the kernel's generator, without which each system call of Linux takes longer. */
static void seed(void)
{
	struct { int bits, bytes; char seed[64]; } pool = { .bits = 512, .bytes = 64 };
	int file = open("/dev/urandom", O_WRONLY);
	if (file < 0)
		return;
	ioctl(file, RNDADDENTROPY, &pool);
	close(file);
}

static void prepare(void)
{
	null_file = open("/dev/null", O_RDWR);
	own_file = open(self, O_RDONLY);
	scratch = open("/tmp/abi-scratch", O_RDWR | O_CREAT, 0600);
	if (scratch < 0)
		scratch = open("/abi-scratch", O_RDWR | O_CREAT, 0600);
	if (pipe(pair) < 0 || pipe(first) < 0 || pipe(second) < 0)
		perror("pipe");
	if (fork() == 0)
		echo_pipe();
	events = epoll_create1(0);
	if (events >= 0) {
		struct epoll_event event = { .events = EPOLLIN };
		int ready = eventfd(1, 0);
		epoll_ctl(events, EPOLL_CTL_ADD, ready, &event);
	}
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0)
		sockets[0] = sockets[1] = -1;
	signal(SIGUSR1, catch);
}

static int load(const char *name)
{
	for (;;) {
		if (strcmp(name, "fork") == 0)
			fork_exit_wait();
		else if (strcmp(name, "fault") == 0)
			page_fault();
		else if (strcmp(name, "io") == 0)
			pipe_same();
		else
			return 2;
	}
}

int main(int count, char *arguments[])
{
	self = "/bin/abi";
	if (count > 1 && strcmp(arguments[1], "exit") == 0)
		return 0;
	seed();
	setvbuf(stdout, NULL, _IOLBF, 0);
	prepare();
	if (count > 1)
		return load(arguments[1]);
	measure("null_syscall", 1000, null_syscall);
	if (getauxval(AT_SYSINFO_EHDR))
		measure("clock_vdso", 1000, clock_vdso);
	else
		printf("abi clock_vdso absent %d\n", ENOSYS);
	measure("write_null", 1000, write_null);
	measure("pipe_same", 500, pipe_same);
	measure("pipe_pingpong", 100, pipe_pingpong);
	measure("futex_pingpong", 100, futex_pingpong);
	measure("fork_exit_wait", 10, fork_exit_wait);
	measure("vfork_exec_wait", 10, vfork_exec_wait);
	place = 0;
	measure("page_fault", FAULTS, page_fault);
	measure("mmap_munmap", 100, mmap_munmap);
	measure("signal_self", 100, signal_self);
	measure("thread_create_join", 10, thread_create_join);
	measure("open_close", 100, open_close);
	size = PAGE;
	measure("pread size=4096", 100, read_file);
	size = LARGE;
	measure("pwrite size=65536", 10, write_file);
	measure("stat", 100, status);
	measure("epoll_ready", 100, epoll_ready);
	size = 64;
	measure("unix_stream size=64", 100, unix_stream);
	size = PAGE;
	measure("unix_stream size=4096", 100, unix_stream);
	printf("abi end\n");
	return 0;
}
