/* Owners of descriptors, and the signals by which they are told of events. */
#define _GNU_SOURCE
#include "check.h"

#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>

static sigset_t watched;
static int ends[2];

static void show_owner(int file)
{
	struct f_owner_ex owner = { 7, 7 };

	show("owner", fcntl(file, F_GETOWN_EX, &owner));
	printf("kind %d, own %d, group %d, none %d\n", owner.type, owner.pid == getpid(),
	       owner.pid == getpgrp(), owner.pid == 0);
}

/* Takes all signals that are pending, and shows the first one. */
static void show_signal(const char *what)
{
	struct timespec time = { 0, 0 };
	siginfo_t info = { 0 };
	int signal = sigtimedwait(&watched, &info, &time);

	show(what, signal);
	if (signal > 0 && info.si_code == SI_KERNEL)
		printf("of the kernel\n");
	else if (signal > 0)
		printf("code %d, band %lx, descriptor %d\n", info.si_code, (unsigned long)info.si_band,
		       info.si_fd == ends[0] ? 0 : info.si_fd == ends[1] ? 1 : 2);
	while (sigtimedwait(&watched, NULL, &time) > 0)
		;
}

static void values(void)
{
	struct f_owner_ex owner = { F_OWNER_TID, getpid() };
	int file = open("/dev/null", O_PATH);
	pid_t child;

	setpgid(0, 0);
	pipe(ends);
	show("at first", fcntl(ends[0], F_GETOWN));
	show_owner(ends[0]);
	show("own", fcntl(ends[0], F_SETOWN, getpid()));
	show("is", fcntl(ends[0], F_GETOWN) == getpid());
	show_owner(ends[0]);
	show("of the other end", fcntl(ends[1], F_GETOWN));
	show("group", fcntl(ends[0], F_SETOWN, -getpgrp()));
	show("is", fcntl(ends[0], F_GETOWN) == -getpgrp());
	show_owner(ends[0]);
	show("thread", fcntl(ends[0], F_SETOWN_EX, &owner));
	show_owner(ends[0]);
	show("none", fcntl(ends[0], F_SETOWN, 0));
	show_owner(ends[0]);
	show("no process", fcntl(ends[0], F_SETOWN, 4000000));
	show("no group", fcntl(ends[0], F_SETOWN, -4000000));
	show("no number", fcntl(ends[0], F_SETOWN, INT_MIN));
	owner.type = 3;
	show("no kind", fcntl(ends[0], F_SETOWN_EX, &owner));
	show("far", fcntl(ends[0], F_SETOWN_EX, 8));
	show("far", fcntl(ends[0], F_GETOWN_EX, 8));
	show("signal at first", fcntl(ends[0], F_GETSIG));
	show("signal", fcntl(ends[0], F_SETSIG, 64));
	show("is", fcntl(ends[0], F_GETSIG));
	show("too high", fcntl(ends[0], F_SETSIG, 65));
	show("negative", fcntl(ends[0], F_SETSIG, -1));
	show("no signal", fcntl(ends[0], F_SETSIG, 0));
	show("no descriptor", fcntl(99, F_SETOWN, 1));
	show("name alone", fcntl(file, F_SETOWN, getpid()));
	show("name alone", fcntl(file, F_GETSIG));
	show("name alone", fcntl(file, F_SETFL, O_NONBLOCK));
	child = fork();
	if (child == 0) {
		fcntl(ends[0], F_SETOWN, getpid());
		_exit(0);
	}
	waitpid(child, NULL, 0);
	show("of a child that has ended", fcntl(ends[0], F_GETOWN));
}

static void files(void)
{
	int file = open("/owners.file", O_RDWR | O_CREAT, 0600);

	show("file", fcntl(file, F_SETFL, O_ASYNC | O_APPEND));
	printf("flags %o\n", fcntl(file, F_GETFL) & (O_ASYNC | O_APPEND));
	unlink("/owners.file");
}

static void pipes(void)
{
	char bytes[4096] = { 0 };

	sigprocmask(SIG_BLOCK, &watched, NULL);
	pipe(ends);
	show("without an owner", fcntl(ends[0], F_SETFL, O_ASYNC));
	printf("flags %o, other end %o\n", fcntl(ends[0], F_GETFL), fcntl(ends[1], F_GETFL) & O_ASYNC);
	write(ends[1], bytes, 1);
	show_signal("nothing");
	show("owner", fcntl(ends[0], F_SETOWN, getpid()));
	write(ends[1], bytes, 1);
	show_signal("written");
	show("signal", fcntl(ends[0], F_SETSIG, SIGRTMIN));
	write(ends[1], bytes, 1);
	show_signal("written");
	read(ends[0], bytes, 3);
	show_signal("read");
	write(ends[1], bytes, 1);
	show_signal("written");
	show("not any more", fcntl(ends[0], F_SETFL, 0));
	write(ends[1], bytes, 1);
	show_signal("nothing");
	fcntl(ends[0], F_SETOWN, getpid());
	fcntl(ends[1], F_SETOWN, getpid());
	fcntl(ends[1], F_SETSIG, SIGRTMIN + 1);
	fcntl(ends[1], F_SETFL, O_ASYNC | O_NONBLOCK);
	while (write(ends[1], bytes, sizeof(bytes)) > 0)
		;
	show_signal("full");
	while (read(ends[0], bytes, sizeof(bytes)) == sizeof(bytes))
		;
	show_signal("empty");
	fcntl(ends[0], F_SETFL, O_ASYNC);
	close(ends[1]);
	show_signal("closed");
}

static void sockets(void)
{
	char byte = 0;

	sigprocmask(SIG_BLOCK, &watched, NULL);
	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	fcntl(ends[0], F_SETOWN, getpid());
	fcntl(ends[0], F_SETSIG, SIGRTMIN);
	fcntl(ends[0], F_SETFL, O_ASYNC);
	write(ends[1], &byte, 1);
	show_signal("written");
	read(ends[0], &byte, 1);
}

/* The owner of the pipe is a process that does not expect it. */
static void unexpected(void)
{
	pid_t child;
	int status;

	pipe(ends);
	child = fork();
	if (child == 0) {
		pause();
		_exit(1);
	}
	show("own", fcntl(ends[0], F_SETOWN, child));
	fcntl(ends[0], F_SETFL, O_ASYNC);
	write(ends[1], "", 1);
	waitpid(child, &status, 0);
	printf("status %x\n", status);
	sigprocmask(SIG_BLOCK, &watched, NULL);
	child = fork();
	if (child == 0) {
		pipe(ends);
		setuid(1000);
		show("of root", fcntl(ends[0], F_SETOWN, getppid()));
		fcntl(ends[0], F_SETFL, O_ASYNC);
		write(ends[1], "", 1);
		show("own", fcntl(ends[0], F_SETOWN, getpid()));
		write(ends[1], "", 1);
		show_signal("own");
		_exit(0);
	}
	waitpid(child, NULL, 0);
	show_signal("of a user");
}

/* All processes of a group are told. */
static void groups(void)
{
	pid_t child;
	int status;

	setpgid(0, 0);
	sigprocmask(SIG_BLOCK, &watched, NULL);
	pipe(ends);
	child = fork();
	if (child == 0) {
		siginfo_t info;

		_exit(sigwaitinfo(&watched, &info));
	}
	fcntl(ends[0], F_SETOWN, -getpgrp());
	fcntl(ends[0], F_SETFL, O_ASYNC);
	write(ends[1], "", 1);
	show_signal("written");
	waitpid(child, &status, 0);
	printf("status %x\n", status);
}

static void show_async(const char *what, int file)
{
	int on = 1, off = 0;

	printf("[%s]\n", what);
	show("descriptor", file >= 0);
	show("flag", fcntl(file, F_SETFL, O_ASYNC));
	printf("is %o\n", fcntl(file, F_GETFL) & O_ASYNC);
	show("clear", fcntl(file, F_SETFL, 0));
	show("request", ioctl(file, FIOASYNC, &on));
	printf("is %o\n", fcntl(file, F_GETFL) & O_ASYNC);
	show("far", ioctl(file, FIOASYNC, 8));
	show("clear", ioctl(file, FIOASYNC, &off));
	show("close at execve", ioctl(file, FIOCLEX));
	printf("is %o\n", fcntl(file, F_GETFL) & O_ASYNC);
	close(file);
}

/* Objects that tell owners of events, and others. */
static void kinds(void)
{
	int file;

	sigprocmask(SIG_BLOCK, &watched, NULL);
	show_async("socket", socket(AF_UNIX, SOCK_STREAM, 0));
	show_async("changes", inotify_init1(0));
	show_async("counter", eventfd(0, 0));
	show_async("timer", timerfd_create(CLOCK_MONOTONIC, 0));
	show_async("signals", signalfd(-1, &watched, 0));
	show_async("event poll", epoll_create1(0));
	show_async("process", syscall(SYS_pidfd_open, getpid(), 0));
	show_async("queue", syscall(SYS_mq_open, "owners", O_RDWR | O_CREAT, 0600, NULL));
	syscall(SYS_mq_unlink, "owners");
	show_async("null", open("/dev/null", O_RDWR));
	show_async("directory", open("/", O_RDONLY));
	show_async("name", open("/", O_PATH));
	file = eventfd(0, 0);
	fcntl(file, F_SETOWN, getpid());
	fcntl(file, F_SETFL, O_ASYNC);
	eventfd_write(file, 1);
	show_signal("counted");
	pipe(ends);
	fcntl(ends[0], F_SETOWN, getpid());
	show("request", ioctl(ends[0], FIOASYNC, &(int){ 1 }));
	write(ends[1], "", 1);
	show_signal("written");
}

int main(void)
{
	sigemptyset(&watched);
	sigaddset(&watched, SIGIO);
	for (int signal = SIGRTMIN; signal < SIGRTMIN + 4; signal++)
		sigaddset(&watched, signal);
	apart("values", values);
	apart("files", files);
	apart("pipes", pipes);
	apart("sockets", sockets);
	apart("unexpected", unexpected);
	apart("groups", groups);
	apart("kinds", kinds);
	return 0;
}
