/*
 * Uses up what processes wait for and send: descriptors, messages, descriptors in flight, watches,
 * timers, locks, pipes. Each part is a process of its own, which leaves all to its end, or is killed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char bytes[65536];

static unsigned long free_memory(void)
{
	struct sysinfo info;

	sysinfo(&info);
	return info.freeram;
}

/* Runs a part in a child, and shows what it lost. */
static void apart(const char *what, void (*part)(void))
{
	unsigned long before = free_memory(), after;
	int status;
	pid_t child = fork();

	if (child == 0) {
		signal(SIGPIPE, SIG_IGN);
		part();
		_exit(0);
	}
	waitpid(child, &status, 0);
	after = free_memory();
	printf("%s: %x, lost %ld\n", what, status, (long)(before - after));
	fflush(stdout);
}

static void fill_pipes(void)
{
	int pair[2];

	while (pipe2(pair, O_NONBLOCK) == 0) {
		fcntl(pair[1], F_SETPIPE_SZ, 1 << 20);
		while (write(pair[1], bytes, sizeof(bytes)) > 0)
			;
	}
}

static void fill_sockets(void)
{
	int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET };
	int pair[2];

	for (int i = 0; socketpair(AF_UNIX, types[i % 3] | SOCK_NONBLOCK, 0, pair) == 0; i++)
		while (write(pair[i & 1], bytes, i % 2 ? sizeof(bytes) : 100) > 0)
			;
}

static long pass(int to, int fd)
{
	char space[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = "";
	struct iovec part = { "x", 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = space,
				  .msg_controllen = sizeof(space) };
	struct cmsghdr *control = (void *)space;

	*control = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(control), &fd, sizeof(fd));
	return sendmsg(to, &message, MSG_DONTWAIT);
}

/* Sockets in each other's messages: a ring, a chain, and each in itself. */
static void fly(void)
{
	int before = -1, first = -1, pair[2];

	for (int i = 0; i < 300; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
			break;
		if (first < 0)
			first = dup(pair[1]);
		if (pass(pair[0], pair[i % 2]) < 0)
			break;
		if (before >= 0) {
			if (pass(pair[0], before) < 0)
				break;
			close(before);
		}
		before = pair[0];
		close(pair[1]);
	}
	pass(before, first);
}

static void fly_until_full(void)
{
	int pair[2], count = 0;

	while (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) {
		while (pass(pair[0], pair[1]) == 1 && count < 10000)
			count++;
		close(pair[0]);
		close(pair[1]);
		if (count >= 10000 || errno == ETOOMANYREFS)
			break;
	}
}

static void connect_without_end(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "\0full" };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), client;

	bind(listener, (void *)&address, 8);
	listen(listener, 4096);
	while ((client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0)) >= 0) {
		connect(client, (void *)&address, 8);
		pass(client, listener);
		write(client, bytes, 100);
	}
}

static void watch(void)
{
	struct epoll_event event = { EPOLLIN | EPOLLOUT, { 0 } };
	int last = -1, polls[16];

	for (int i = 0; i < 16; i++) {
		polls[i] = epoll_create1(0);
		if (i > 0)
			epoll_ctl(polls[i], EPOLL_CTL_ADD, polls[i - 1], &event);
	}
	for (int fd; (fd = eventfd(1, EFD_NONBLOCK)) >= 0; last = fd)
		for (int i = 0; i < 16; i++)
			epoll_ctl(polls[i], EPOLL_CTL_ADD, fd, &event);
	for (int i = 0; i < 1000; i++) {
		struct epoll_event found[64];

		epoll_wait(polls[i % 16], found, 64, 0);
		if (i % 100 == 0)
			close(last--);
	}
}

static void set_timers(void)
{
	struct itimerspec time = { { 0, 1 }, { 0, 1000 } };

	for (int fd; (fd = timerfd_create(CLOCK_MONOTONIC, 0)) >= 0;)
		timerfd_settime(fd, 0, &time, NULL);
	poll(NULL, 0, 20);
}

/* Timers that expire long after their process. */
static void set_signal_timers(void)
{
	struct itimerspec time = { { 0, 0 }, { 100000, 0 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;

	while (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
		timer_settime(timer, 0, &time, NULL);
}

/* Contexts of operations, whose events nothing takes. */
static void submit(void)
{
	static struct iocb one = { .aio_lio_opcode = IOCB_CMD_PREAD, .aio_nbytes = 100 };
	struct iocb *all[] = { &one, &one, &one, &one, &one, &one, &one, &one };
	int file = open("/tmp/submitted", O_RDWR | O_CREAT, 0600);
	aio_context_t context = 0;

	unlink("/tmp/submitted");
	one.aio_fildes = file;
	one.aio_buf = (uintptr_t)bytes;
	for (int i = 0; i < 50; i++) {
		if (syscall(SYS_io_setup, 1 << (i % 12), &context) < 0)
			break;
		while (syscall(SYS_io_submit, context, 8, all) > 0 && i < 7)
			;
		if (i % 3 == 0)
			syscall(SYS_io_destroy, context);
		context = 0;
	}
	while (syscall(SYS_io_setup, 1 << 11, &context) == 0)
		context = 0;
}

struct word {
	uint64_t value, address;
	uint32_t flags, reserved;
};

/* Threads that wait for as many words as there can be, and are killed. */
static void wait_for_words(void)
{
	static struct word words[128];
	static uint32_t values[128];

	/* Alone in its group, which is signalled. */
	setpgid(0, 0);
	for (int i = 0; i < 128; i++)
		words[i] = (struct word){ 0, (uintptr_t)&values[i], 2, 0 };
	for (int i = 0; i < 40; i++)
		if (fork() == 0)
			_exit(syscall(449, words, 128, 0, NULL, 0));
	poll(NULL, 0, 20);
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	while (wait(NULL) > 0)
		;
}

/* Parts of memory that are locked, one by one. */
static void lock_memory(void)
{
	long page = 4096, size = 3000 * page;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (long at = 0; at < size && mlock(memory + at, page) == 0; at += 2 * page)
		;
	mlockall(MCL_CURRENT | MCL_FUTURE);
	munlock(memory + page, size - 2 * page);
	munlockall();
	for (long at = 0; at < size; at += 3 * page)
		mlock(memory + at, 2 * page);
}

/* Children with descriptors, some of a parent that ends. */
static void create(void)
{
	int fd;

	for (int i = 0; i < 100; i++) {
		long child = syscall(SYS_clone, CLONE_PIDFD | (i % 3 ? 0 : CLONE_PARENT) | SIGCHLD, 0, &fd, 0, 0);

		if (child == 0)
			_exit(0);
		if (child < 0 && errno != EMFILE)
			wait(NULL);
		if (i % 7 == 0)
			syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, -1L, 0, 0);
	}
	while (wait(NULL) > 0)
		;
}

/* The first thread that waits for a lock, among many other objects with events. */
static void wait_for_lock(void)
{
	struct flock lock = { F_WRLCK, SEEK_SET, 0, 1, 0 };
	int file = open("/tmp/awaited", O_RDWR | O_CREAT, 0600);
	pid_t child;

	unlink("/tmp/awaited");
	for (int i = 0; i < 200; i++)
		eventfd(0, 0);
	fcntl(file, F_SETLK, &lock);
	child = fork();
	if (child == 0)
		_exit(fcntl(file, F_SETLKW, &lock));
	poll(NULL, 0, 5);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void lock_bytes(void)
{
	int file = open("/tmp/locked", O_RDWR | O_CREAT, 0600);

	for (long i = 0; i < 1500; i++) {
		struct flock lock = { F_WRLCK, SEEK_SET, i * 2, 1, 0 };

		if (fcntl(file, F_SETLK, &lock) < 0)
			break;
	}
	for (long i = 0; i < 100; i++) {
		struct flock lock = { F_UNLCK, SEEK_SET, i * 37, 29, 0 };

		fcntl(file, F_SETLK, &lock);
	}
	unlink("/tmp/locked");
}

static void use_names(void)
{
	char name[40];

	for (int i = 0; i < 300; i++) {
		struct sockaddr_un address = { .sun_family = AF_UNIX };
		int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

		snprintf(name, sizeof(name), "/tmp/socket%d", i);
		strcpy(address.sun_path, name);
		bind(fd, (void *)&address, sizeof(address));
		sendto(fd, "x", 1, MSG_DONTWAIT, (void *)&address, sizeof(address));
		unlink(name);
		snprintf(name, sizeof(name), "/tmp/fifo%d", i);
		mkfifo(name, 0600);
		fd = open(name, O_RDWR);
		write(fd, "x", 1);
		unlink(name);
	}
}

/* Children wait for, and pass, what they share. */
static void wait_and_die(void)
{
	int pair[2], events = epoll_create1(0);
	struct epoll_event event = { EPOLLIN, { 0 } };
	pid_t children[8];

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	epoll_ctl(events, EPOLL_CTL_ADD, pair[0], &event);
	for (int i = 0; i < 8; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			struct pollfd one = { pair[0], POLLIN, 0 };

			if (i % 3 == 0)
				epoll_wait(events, &event, 1, 10);
			else if (i % 3 == 1)
				poll(&one, 1, 10);
			else
				pass(pair[1], pair[0]);
			_exit(0);
		}
	}
	for (int i = 0; i < 8; i++)
		waitpid(children[i], NULL, 0);
}

/* A signal that is pending: the first one takes a page that all later ones use. */
static void queue_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGRTMIN);
	sigwaitinfo(&set, NULL);
}

int main(void)
{
	apart("warm", queue_signal);
	apart("warm", use_names);
	apart("warm", fill_sockets);
	apart("pipes", fill_pipes);
	apart("sockets", fill_sockets);
	apart("flight", fly);
	apart("full flight", fly_until_full);
	apart("connections", connect_without_end);
	apart("watches", watch);
	apart("timers", set_timers);
	apart("signal timers", set_signal_timers);
	apart("operations", submit);
	apart("words", wait_for_words);
	apart("locked memory", lock_memory);
	apart("children", create);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	apart("lock waits", wait_for_lock);
	apart("locks", lock_bytes);
	apart("names", use_names);
	apart("waits", wait_and_die);
	printf("exhausted\n");
	return 0;
}
