/* Named pipes. */
#define _GNU_SOURCE
#include "check.h"

#include <poll.h>
#include <sys/socket.h>
#include <time.h>

static void pause_for(long milliseconds)
{
	struct timespec time = { 0, milliseconds * 1000000 };

	nanosleep(&time, NULL);
}

static void events_of(const char *what, int fd)
{
	struct pollfd one = { fd, POLLIN | POLLOUT, 0 };

	poll(&one, 1, 0);
	printf("%s: events %x\n", what, one.revents);
}

/* What the link of a descriptor leads to. */
static void link_of(const char *what, int fd)
{
	char path[32];
	struct stat own, status;

	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	fstat(fd, &own);
	show(what, stat(path, &status));
	printf("type %o, same %d\n", status.st_mode & S_IFMT, own.st_ino == status.st_ino);
	show(what, lstat(path, &status));
	printf("link %d\n", S_ISLNK(status.st_mode));
}

static void links(void)
{
	int ends[2];

	/* What sets up a Linux has made it. */
	if (symlink("/proc/self/fd", "/dev/fd") < 0 && errno != EEXIST)
		printf("no /dev/fd\n");
	show("pipe", pipe(ends));
	link_of("reads", ends[0]);
	link_of("writes", ends[1]);
	show("pair", socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	link_of("socket", ends[0]);
	link_of("console", 1);
}

int main(void)
{
	char bytes[10] = "";
	struct stat status;
	pid_t child;
	int reads, writes;

	setvbuf(stdout, NULL, _IOLBF, 0);
	show("make", mkfifo("/tmp/named", 0640));
	show("again", mkfifo("/tmp/named", 0640));
	stat("/tmp/named", &status);
	printf("mode %o\n", status.st_mode);
	show("write without a reader", open("/tmp/named", O_WRONLY | O_NONBLOCK));
	reads = open("/tmp/named", O_RDONLY | O_NONBLOCK);
	show("read", read(reads, bytes, 1));
	events_of("no writer yet", reads);
	writes = open("/tmp/named", O_WRONLY | O_NONBLOCK);
	events_of("writer", writes);
	show("empty", read(reads, bytes, 1));
	show("write", write(writes, "hello", 5));
	events_of("bytes", reads);
	show("read", read(reads, bytes, 3));
	close(writes);
	events_of("no writer", reads);
	show("rest", read(reads, bytes, 9));
	show("end", read(reads, bytes, 9));
	fstat(reads, &status);
	printf("mode %o\n", status.st_mode);
	show("seek", lseek(reads, 0, SEEK_SET));
	show("size", fcntl(reads, F_GETPIPE_SZ));
	close(reads);
	/* Each end waits for the other one. */
	for (int i = 0; i < 2; i++) {
		child = fork();
		if (child == 0) {
			pause_for(i == 0 ? 20 : 0);
			writes = open("/tmp/named", O_WRONLY);
			write(writes, "child", 5);
			_exit(0);
		}
		pause_for(i == 0 ? 0 : 20);
		reads = open("/tmp/named", O_RDONLY);
		show("child", read(reads, bytes, 9));
		show("end", read(reads, bytes, 9));
		waitpid(child, NULL, 0);
		close(reads);
	}
	reads = open("/tmp/named", O_RDWR);
	show("write to itself", write(reads, "ab", 2));
	show("read", read(reads, bytes, 9));
	events_of("both", reads);
	show("unlink", unlink("/tmp/named"));
	show("write", write(reads, "ab", 2));
	show("read", read(reads, bytes, 9));
	links();
	return 0;
}
