/* Events of files: which calls have which events, and what a process cannot use up. */
#define _GNU_SOURCE
#include "check.h"

#include <poll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/xattr.h>

enum { WATCHES = 8 };

static int notes, watches[WATCHES];

static int watch(int index, const char *path, uint32_t mask)
{
	watches[index] = inotify_add_watch(notes, path, mask);
	show("watch", watches[index] < 0 ? -1 : index);
	return watches[index];
}

/* Prints the events that are there, with the index of their watch. */
static void events(const char *what)
{
	static uint32_t cookie;
	char bytes[4096] __attribute__((aligned(8)));
	ssize_t size;

	printf("%s:\n", what);
	while ((size = read(notes, bytes, sizeof(bytes))) > 0) {
		for (char *at = bytes; at < bytes + size;) {
			struct inotify_event *event = (struct inotify_event *)at;
			int index = 0;

			while (index < WATCHES && watches[index] != event->wd)
				index++;
			if (event->mask & IN_MOVED_FROM)
				cookie = event->cookie;
			printf("  %d %x %d %s\n", index, event->mask,
			       event->cookie != 0 ? 1 + (event->cookie == cookie) : 0,
			       event->len ? event->name : "-");
			at += sizeof(*event) + event->len;
		}
	}
	fflush(stdout);
	errno = 0;
}

static void start(void)
{
	notes = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	mkdir("/tmp/watches", 0755);
	mkdir("/tmp/watches/inner", 0755);
	close(open("/tmp/watches/file", O_WRONLY | O_CREAT, 0644));
}

static void end(void)
{
	close(notes);
	system("/bin/busybox rm -r /tmp/watches");
}

static void of_entries(void)
{
	int file;

	start();
	watch(0, "/tmp/watches", IN_ALL_EVENTS);
	file = open("/tmp/watches/new", O_RDWR | O_CREAT | O_TRUNC, 0644);
	events("create");
	write(file, "some", 4);
	pwrite(file, "more", 4, 2);
	events("write");
	pread(file, &(char[8]){ 0 }, 8, 0);
	read(file, &(char[8]){ 0 }, 8);
	events("read, and at the end");
	ftruncate(file, 2);
	fchmod(file, 0600);
	fchown(file, 1, 1);
	futimens(file, NULL);
	events("attributes");
	close(file);
	close(open("/tmp/watches/new", O_WRONLY | O_TRUNC));
	truncate("/tmp/watches/new", 0);
	events("close and truncate");
	mkdir("/tmp/watches/directory", 0755);
	symlink("new", "/tmp/watches/link");
	link("/tmp/watches/new", "/tmp/watches/other");
	mknod("/tmp/watches/fifo", S_IFIFO | 0600, 0);
	events("names");
	rename("/tmp/watches/new", "/tmp/watches/newer");
	rename("/tmp/watches/newer", "/tmp/watches/inner/newer");
	rename("/tmp/watches/inner/newer", "/tmp/watches/file");
	rename("/tmp/watches/directory", "/tmp/watches/moved");
	events("rename");
	unlink("/tmp/watches/file");
	unlink("/tmp/watches/link");
	rmdir("/tmp/watches/moved");
	events("remove");
	close(open("/tmp/watches", O_RDONLY));
	close(open("/tmp/watches/inner", O_PATH));
	events("directory");
	show("end", inotify_rm_watch(notes, watches[0]));
	events("end");
	end();
}

static void of_inodes(void)
{
	int file;

	start();
	watch(0, "/tmp/watches/file", IN_ALL_EVENTS);
	watch(1, "/tmp/watches/inner", IN_ALL_EVENTS);
	rename("/tmp/watches/file", "/tmp/watches/moved");
	rename("/tmp/watches/inner", "/tmp/watches/inside");
	events("rename");
	link("/tmp/watches/moved", "/tmp/watches/link");
	unlink("/tmp/watches/link");
	events("link");
	file = open("/tmp/watches/moved", O_RDONLY);
	unlink("/tmp/watches/moved");
	events("remove");
	close(file);
	rmdir("/tmp/watches/inside");
	events("last use");
	show("no watch", inotify_rm_watch(notes, watches[0]));
	end();
}

static void of_watches(void)
{
	char bytes[20];
	struct pollfd one;
	int number;

	start();
	show("flags", inotify_init1(1));
	show("no events", inotify_add_watch(notes, "/tmp/watches", 0));
	show("no instance", inotify_add_watch(1, "/tmp/watches", IN_OPEN));
	show("no descriptor", inotify_add_watch(99, "/tmp/watches", IN_OPEN));
	show("no file", inotify_add_watch(notes, "/tmp/nothing", IN_OPEN));
	show("no directory", inotify_add_watch(notes, "/tmp/watches/file", IN_OPEN | IN_ONLYDIR));
	show("both", inotify_add_watch(notes, "/tmp/watches", IN_MASK_ADD | IN_MASK_CREATE | IN_OPEN));
	watch(0, "/tmp/watches/file", IN_OPEN);
	number = watches[0];
	show("exists", inotify_add_watch(notes, "/tmp/watches/file", IN_OPEN | IN_MASK_CREATE));
	show("the same", watch(0, "/tmp/watches/file", IN_CLOSE | IN_MASK_ADD) == number);
	close(open("/tmp/watches/file", O_RDONLY));
	one = (struct pollfd){ .fd = notes, .events = POLLIN };
	show("poll", poll(&one, 1, 0));
	ioctl(notes, FIONREAD, &number);
	show("bytes", number);
	show("small", read(notes, bytes, 15));
	show("one", read(notes, bytes, sizeof(bytes)));
	events("rest");
	show("poll", poll(&one, 1, 0));
	show("write", write(notes, bytes, 1));
	watch(0, "/tmp/watches/file", IN_CLOSE | IN_ONESHOT);
	close(open("/tmp/watches/file", O_RDONLY));
	close(open("/tmp/watches/file", O_RDONLY));
	events("once");
	watch(1, "/tmp/watches", IN_MODIFY | IN_EXCL_UNLINK);
	number = open("/tmp/watches/file", O_WRONLY);
	write(number, "a", 1);
	unlink("/tmp/watches/file");
	write(number, "a", 1);
	close(number);
	events("removed");
	if (fork() == 0) {
		usleep(1000);
		close(open("/tmp/watches/late", O_WRONLY | O_CREAT, 0600));
		_exit(0);
	}
	watch(2, "/tmp/watches", IN_CREATE);
	fcntl(notes, F_SETFL, 0);
	show("waited", read(notes, bytes, sizeof(bytes)) > 0 ? 0 : -1);
	show("wait", wait(NULL) > 0);
	fcntl(notes, F_SETFL, O_NONBLOCK);
	events("late");
	chmod("/tmp/watches", 0700);
	seteuid(1000);
	show("another user", inotify_add_watch(notes, "/tmp/watches", IN_OPEN));
	seteuid(0);
	end();
}

/* Watches, instances and events without end: an error, and the last event states the loss. */
static void without_end(void)
{
	char path[64], bytes[65536] __attribute__((aligned(8)));
	int instances[1100], count = 0, file, made = 0;
	ssize_t size;
	uint32_t last = 0;

	start();
	while (count < 1100 && (instances[count] = inotify_init1(IN_NONBLOCK)) >= 0)
		count++;
	show("instances", instances[count]);
	while (count > 0)
		close(instances[--count]);
	watch(0, "/tmp/watches/file", IN_MODIFY | IN_ATTRIB);
	file = open("/tmp/watches/file", O_WRONLY);
	for (int index = 0; index < 20000; index++) {
		write(file, "a", 1);
		fchmod(file, 0600 | (index & 1));
	}
	while ((size = read(notes, bytes, sizeof(bytes))) > 0)
		last = ((struct inotify_event *)(bytes + size - 16))->mask;
	printf("last %x\n", last);
	for (int index = 0; index < 40; index++) {
		snprintf(path, sizeof(path), "/tmp/watches/%d", index);
		close(open(path, O_WRONLY | O_CREAT, 0600));
		made += inotify_add_watch(notes, path, IN_ALL_EVENTS) > 0;
	}
	show("made", made);
	end();
}

int main(void)
{
	apart("entries", of_entries);
	apart("inodes", of_inodes);
	apart("watches", of_watches);
	apart("without end", without_end);
	return 0;
}
