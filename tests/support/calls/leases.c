/* Leases of files, and notices of changes in directories. */
#define _GNU_SOURCE
#include "check.h"

#include <time.h>

#define FILE_NAME "/leases.file"

static sigset_t watched;
static int file;

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
		       info.si_fd == file);
	while (sigtimedwait(&watched, NULL, &time) > 0)
		;
}

static void values(void)
{
	int other, pipes[2];

	file = open(FILE_NAME, O_RDONLY | O_CREAT, 0600);
	show("at first", fcntl(file, F_GETLEASE));
	show("unlock none", fcntl(file, F_SETLEASE, F_UNLCK));
	show("unknown", fcntl(file, F_SETLEASE, 3));
	show("read", fcntl(file, F_SETLEASE, F_RDLCK));
	show("is", fcntl(file, F_GETLEASE));
	show("owner", fcntl(file, F_GETOWN) == getpid());
	show("write", fcntl(file, F_SETLEASE, F_WRLCK));
	show("is", fcntl(file, F_GETLEASE));
	show("unlock", fcntl(file, F_SETLEASE, F_UNLCK));
	show("is", fcntl(file, F_GETLEASE));
	other = open(FILE_NAME, O_RDONLY);
	show("write of two", fcntl(file, F_SETLEASE, F_WRLCK));
	show("read of two", fcntl(file, F_SETLEASE, F_RDLCK));
	show("other", fcntl(other, F_GETLEASE));
	show("read of both", fcntl(other, F_SETLEASE, F_RDLCK));
	show("write of two", fcntl(other, F_SETLEASE, F_WRLCK));
	close(other);
	show("write of one", fcntl(file, F_SETLEASE, F_WRLCK));
	close(file);
	file = open(FILE_NAME, O_RDWR);
	show("read of a writer", fcntl(file, F_SETLEASE, F_RDLCK));
	show("write of a writer", fcntl(file, F_SETLEASE, F_WRLCK));
	other = dup(file);
	show("copy", fcntl(other, F_GETLEASE));
	close(file);
	show("kept", fcntl(other, F_GETLEASE));
	close(other);
	file = open("/", O_RDONLY);
	show("directory", fcntl(file, F_SETLEASE, F_RDLCK));
	close(file);
	pipe(pipes);
	show("pipe", fcntl(pipes[0], F_SETLEASE, F_RDLCK));
	file = open(FILE_NAME, O_PATH);
	show("name alone", fcntl(file, F_SETLEASE, F_RDLCK));
	show("no descriptor", fcntl(99, F_SETLEASE, F_RDLCK));
	chmod(FILE_NAME, 0644);
	setuid(1000);
	file = open(FILE_NAME, O_RDONLY);
	show("of another user", fcntl(file, F_SETLEASE, F_RDLCK));
}

/* Accesses that do not wait. */
static void breaks(void)
{
	sigprocmask(SIG_BLOCK, &watched, NULL);
	file = open(FILE_NAME, O_RDONLY);
	fcntl(file, F_SETLEASE, F_RDLCK);
	show("reader", open(FILE_NAME, O_RDONLY | O_NONBLOCK) >= 0);
	show_signal("nothing");
	show("writer", open(FILE_NAME, O_WRONLY | O_NONBLOCK));
	show_signal("broken");
	show("is", fcntl(file, F_GETLEASE));
	show("writer", open(FILE_NAME, O_WRONLY | O_NONBLOCK));
	show_signal("nothing");
	show("name", open(FILE_NAME, O_PATH) >= 0);
	show("unlock", fcntl(file, F_SETLEASE, F_UNLCK));
	show("writer", open(FILE_NAME, O_WRONLY | O_NONBLOCK) >= 0);
	show("read", fcntl(file, F_SETLEASE, F_RDLCK));
}

static void downgrades(void)
{
	sigprocmask(SIG_BLOCK, &watched, NULL);
	file = open(FILE_NAME, O_RDWR);
	fcntl(file, F_SETSIG, SIGRTMIN);
	show("write", fcntl(file, F_SETLEASE, F_WRLCK));
	show("reader", open(FILE_NAME, O_RDONLY | O_NONBLOCK));
	show_signal("broken");
	show("is", fcntl(file, F_GETLEASE));
	show("reader", open(FILE_NAME, O_RDONLY | O_NONBLOCK));
	show_signal("nothing");
	show("truncation", open(FILE_NAME, O_RDONLY | O_TRUNC | O_NONBLOCK));
	show_signal("broken again");
	show("is", fcntl(file, F_GETLEASE));
	close(file);
	show("truncation", open(FILE_NAME, O_RDONLY | O_TRUNC | O_NONBLOCK) >= 0);
}

/* A process has a lease, which it gives up once it is told; another one waits. */
static void waits(int (*access)(void), int lease, int becomes)
{
	int ends[2], status;
	pid_t child;
	char byte;

	pipe(ends);
	sigprocmask(SIG_BLOCK, &watched, NULL);
	file = open(FILE_NAME, O_RDONLY);
	show("lease", fcntl(file, F_SETLEASE, lease));
	child = fork();
	if (child == 0) {
		close(file);
		status = access();
		write(ends[1], "", 1);
		_exit(status + 3);
	}
	show("told", sigwaitinfo(&watched, NULL));
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	usleep(10000);
	show("waits", read(ends[0], &byte, 1));
	show("change", becomes < 0 ? close(file) : fcntl(file, F_SETLEASE, becomes));
	waitpid(child, &status, 0);
	printf("access %x\n", status);
	show("done", read(ends[0], &byte, 1));
	show("is", becomes < 0 ? becomes : fcntl(file, F_GETLEASE));
	close(file);
}

static int reads(void)
{
	return open(FILE_NAME, O_RDONLY) >= 0;
}

static int writes(void)
{
	return open(FILE_NAME, O_WRONLY) >= 0;
}

static int truncates(void)
{
	return truncate(FILE_NAME, 0);
}

static void waiting(void)
{
	waits(writes, F_RDLCK, F_UNLCK);
	waits(truncates, F_RDLCK, -1);
	waits(reads, F_WRLCK, F_RDLCK);
	waits(truncates, F_WRLCK, F_UNLCK);
}

/* An owner does not get its lease back while an access waits for the end of it. */
static void retakes(int (*access)(void), int lease)
{
	int ends[2], status;
	pid_t child;
	char byte;

	pipe(ends);
	sigprocmask(SIG_BLOCK, &watched, NULL);
	file = open(FILE_NAME, O_RDONLY);
	show("lease", fcntl(file, F_SETLEASE, lease));
	child = fork();
	if (child == 0) {
		close(file);
		status = access();
		read(ends[0], &byte, 1);
		_exit(status + 3);
	}
	show("told", sigwaitinfo(&watched, NULL));
	show("unlock", fcntl(file, F_SETLEASE, F_UNLCK));
	show("again", fcntl(file, F_SETLEASE, lease));
	write(ends[1], "", 1);
	waitpid(child, &status, 0);
	printf("access %x\n", status);
	show("after it", fcntl(file, F_SETLEASE, lease));
	close(file);
}

static void retaken(void)
{
	retakes(writes, F_RDLCK);
	retakes(reads, F_WRLCK);
}

static void ignore(int signal)
{
	(void)signal;
}

/* A signal ends the wait. */
static void interrupted(void)
{
	struct sigaction action = { .sa_handler = ignore };
	int status;
	pid_t child;

	sigprocmask(SIG_BLOCK, &watched, NULL);
	file = open(FILE_NAME, O_RDONLY);
	fcntl(file, F_SETLEASE, F_WRLCK);
	child = fork();
	if (child == 0) {
		close(file);
		sigaction(SIGUSR1, &action, NULL);
		show("access", open(FILE_NAME, O_RDONLY));
		_exit(0);
	}
	sigwaitinfo(&watched, NULL);
	kill(child, SIGUSR1);
	waitpid(child, &status, 0);
	show("status", status);
	show("is", fcntl(file, F_GETLEASE));
}

/* Without a handler, the signal ends the owner. */
static void unexpected(void)
{
	int status, ends[2];
	char byte;
	pid_t child;

	pipe(ends);
	child = fork();
	if (child == 0) {
		file = open(FILE_NAME, O_RDONLY);
		fcntl(file, F_SETLEASE, F_WRLCK);
		write(ends[1], "", 1);
		pause();
		_exit(1);
	}
	read(ends[0], &byte, 1);
	show("writer", writes());
	waitpid(child, &status, 0);
	printf("status %x\n", status);
}

static void make(const char *name)
{
	close(open(name, O_WRONLY | O_CREAT, 0600));
}

#define CHANGED(bit, again, call) (notice(bit, again), (void)(call), show_signal(#call))

static void notice(int changes, int again)
{
	fcntl(file, F_NOTIFY, 0);
	fcntl(file, F_NOTIFY, changes | (again ? (int)DN_MULTISHOT : 0));
}

static void notices(void)
{
	char byte;
	int other, pipes[2];

	sigprocmask(SIG_BLOCK, &watched, NULL);
	mkdir("/changes", 0700);
	mkdir("/changes/sub", 0700);
	make("/changes/name");
	file = open("/changes", O_RDONLY);
	other = open("/changes/name", O_RDWR);
	pipe(pipes);
	show("file", fcntl(other, F_NOTIFY, DN_MODIFY));
	show("file", fcntl(other, F_NOTIFY, 0));
	show("pipe", fcntl(pipes[0], F_NOTIFY, DN_MODIFY));
	show("name alone", fcntl(open("/changes", O_PATH), F_NOTIFY, DN_MODIFY));
	show("no descriptor", fcntl(99, F_NOTIFY, DN_MODIFY));
	show("create", fcntl(file, F_NOTIFY, DN_CREATE));
	show("owner", fcntl(file, F_GETOWN) == getpid());
	make("/changes/one");
	show_signal("created");
	make("/changes/two");
	show_signal("not again");
	show("signal", fcntl(file, F_SETSIG, SIGRTMIN));
	CHANGED(DN_CREATE, 1, make("/changes/three"));
	make("/changes/four");
	show_signal("again");
	CHANGED(DN_CREATE, 0, mkdir("/changes/sub/sub", 0700));
	CHANGED(DN_CREATE, 0, rename("/changes/one", "/changes/sub/one"));
	CHANGED(DN_DELETE, 0, unlink("/changes/two"));
	CHANGED(DN_DELETE, 0, rename("/changes/three", "/changes/sub/three"));
	CHANGED(DN_RENAME, 0, rename("/changes/sub/three", "/changes/three"));
	CHANGED(DN_RENAME, 0, rename("/changes/three", "/changes/tree"));
	CHANGED(DN_RENAME, 0, rename("/changes/sub", "/changes/below"));
	CHANGED(DN_CREATE, 0, rename("/changes/tree", "/changes/three"));
	CHANGED(DN_MODIFY, 0, write(other, "x", 1));
	CHANGED(DN_MODIFY, 0, ftruncate(other, 0));
	CHANGED(DN_ACCESS, 0, read(other, &byte, 1));
	write(other, "x", 1);
	CHANGED(DN_ACCESS, 0, pread(other, &byte, 1, 0));
	CHANGED(DN_ATTRIB, 0, fchmod(other, 0600));
	CHANGED(DN_ATTRIB, 0, chmod("/changes", 0755));
	CHANGED(DN_ATTRIB, 0, chmod("/changes/below", 0755));
	CHANGED(DN_ATTRIB, 0, chmod("/changes/below/one", 0600));
	CHANGED(DN_CREATE, 1, mkdir("/changes/more", 0700));
	show("more", fcntl(file, F_NOTIFY, DN_DELETE));
	make("/changes/five");
	show_signal("both");
	unlink("/changes/five");
	show_signal("both");
	show("none", fcntl(file, F_NOTIFY, 0));
	make("/changes/six");
	show_signal("ended");
	show("copy", fcntl(file, F_NOTIFY, DN_CREATE | DN_MULTISHOT));
	close(dup(file));
	make("/changes/seven");
	show_signal("a copy was closed");
}

/* The process that has set a notice closes its descriptor, of which a child has a copy. */
static void inherited(void)
{
	int ends[2];
	char byte;
	pid_t child;

	pipe(ends);
	sigprocmask(SIG_BLOCK, &watched, NULL);
	file = open("/changes", O_RDONLY);
	fcntl(file, F_NOTIFY, DN_CREATE | DN_MULTISHOT);
	child = fork();
	if (child == 0) {
		close(file);
		close(ends[1]);
		read(ends[0], &byte, 1);
		_exit(0);
	}
	usleep(10000);
	make("/changes/eight");
	show_signal("a child has closed its own");
	close(file);
	make("/changes/nine");
	show_signal("closed");
	close(ends[1]);
	waitpid(child, NULL, 0);
}

int main(void)
{
	sigemptyset(&watched);
	sigaddset(&watched, SIGIO);
	sigaddset(&watched, SIGRTMIN);
	apart("values", values);
	apart("breaks", breaks);
	apart("downgrades", downgrades);
	apart("waiting", waiting);
	apart("retaken", retaken);
	apart("interrupted", interrupted);
	apart("unexpected", unexpected);
	apart("notices", notices);
	apart("inherited", inherited);
	return 0;
}
