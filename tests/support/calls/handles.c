/* Handles of files. */
#define _GNU_SOURCE
#include "check.h"

enum { ROOM = 128 };

struct handle {
	struct file_handle head;
	unsigned char bytes[ROOM];
};

static int mount;

static int name(int directory, const char *path, struct handle *handle, int flags)
{
	handle->head.handle_bytes = ROOM;
	return name_to_handle_at(directory, path, &handle->head, &mount, flags);
}

/* Shows whether a handle can be opened, and that it leads to the file of a name. */
static void open_it(const char *what, int directory, struct handle *handle, int flags, const char *path)
{
	int file = open_by_handle_at(directory, &handle->head, flags);
	struct stat found, stated;

	show(what, file < 0 ? -1 : 0);
	if (file < 0)
		return;
	if (path != NULL && fstat(file, &found) == 0 && lstat(path, &stated) == 0)
		printf("%s: same %d\n", what, found.st_ino == stated.st_ino);
	close(file);
}

static void names(int directory)
{
	struct handle handle, other;
	int file = open("/tmp/handles/file", O_RDONLY), pipes[2];

	show("absolute", name(-1, "/tmp/handles/file", &handle, 0));
	show("relative", name(directory, "file", &other, 0));
	show("same", handle.head.handle_bytes == other.head.handle_bytes &&
			     memcmp(handle.head.f_handle, other.head.f_handle, other.head.handle_bytes) == 0);
	show("descriptor", name(file, "", &other, AT_EMPTY_PATH));
	show("same", memcmp(handle.head.f_handle, other.head.f_handle, other.head.handle_bytes) == 0);
	show("link", name(directory, "link", &other, 0));
	show("another", memcmp(handle.head.f_handle, other.head.f_handle, other.head.handle_bytes) != 0);
	show("followed", name(directory, "link", &other, AT_SYMLINK_FOLLOW));
	show("same", memcmp(handle.head.f_handle, other.head.f_handle, other.head.handle_bytes) == 0);
	show("empty", name(directory, "", &other, 0));
	show("absent", name(directory, "absent", &other, 0));
	show("no descriptor", name(-1, "file", &other, 0));
	show("no directory", name(file, "file", &other, 0));
	show("flags", name(directory, "file", &other, 0x10000));
	show("no path", name(directory, (char *)8, &other, 0));
	other.head.handle_bytes = 0;
	show("no room", name_to_handle_at(directory, "file", &other.head, &mount, 0));
	show("room", other.head.handle_bytes > 0 && other.head.handle_bytes <= ROOM);
	other.head.handle_bytes = ROOM + 1;
	show("much room", name_to_handle_at(directory, "file", &other.head, &mount, 0));
	other.head.handle_bytes = ROOM;
	show("no mount", name_to_handle_at(directory, "file", &other.head, (int *)8, 0));
	show("no handle", name_to_handle_at(directory, "file", (struct file_handle *)8, &mount, 0));
	show("generated", name(directory, "/proc/self/status", &other, 0));
	pipe(pipes);
	show("pipe", name(pipes[0], "", &other, AT_EMPTY_PATH));
	close(pipes[0]);
	close(pipes[1]);
	close(file);
}

static void opens(int directory)
{
	struct handle handle, link, whole, gone;
	int null = open("/dev/null", O_RDONLY);

	name(directory, "file", &handle, 0);
	name(directory, "link", &link, 0);
	name(directory, "", &whole, AT_EMPTY_PATH);
	open_it("to read", directory, &handle, O_RDONLY, "/tmp/handles/file");
	open_it("to write", AT_FDCWD, &handle, O_WRONLY, "/tmp/handles/file");
	open_it("both", directory, &handle, O_RDWR, "/tmp/handles/file");
	open_it("directory", directory, &whole, O_RDONLY | O_DIRECTORY, "/tmp/handles");
	open_it("directory to write", directory, &whole, O_RDWR, NULL);
	open_it("no directory", directory, &handle, O_RDONLY | O_DIRECTORY, NULL);
	open_it("link", directory, &link, O_RDONLY, NULL);
	open_it("name of a link", directory, &link, O_PATH, "/tmp/handles/link");
	open_it("no descriptor", -1, &handle, O_RDONLY, NULL);
	open_it("another mount", null, &handle, O_RDONLY, NULL);
	show("no handle", open_by_handle_at(directory, (struct file_handle *)8, O_RDONLY));
	gone = handle;
	gone.head.handle_bytes = 0;
	open_it("short", directory, &gone, O_RDONLY, NULL);
	gone.head.handle_bytes = ROOM + 1;
	open_it("long", directory, &gone, O_RDONLY, NULL);
	gone = handle;
	gone.head.handle_type = 0x77;
	open_it("type", directory, &gone, O_RDONLY, NULL);
	close(open("/tmp/handles/gone", O_WRONLY | O_CREAT, 0600));
	name(directory, "gone", &gone, 0);
	open_it("there", directory, &gone, O_RDONLY, "/tmp/handles/gone");
	unlink("/tmp/handles/gone");
	open_it("gone", directory, &gone, O_RDONLY, NULL);
	close(open("/tmp/handles/gone", O_WRONLY | O_CREAT, 0600));
	open_it("again", directory, &gone, O_RDONLY, NULL);
	unlink("/tmp/handles/gone");
	close(null);
	setresuid(1000, 1000, 1000);
	open_it("another user", directory, &handle, O_RDONLY, NULL);
	show("names", name(directory, "file", &handle, 0));
}

/* The mount of a file is one that /proc names. */
static void mounts(void)
{
	FILE *list = fopen("/proc/self/mountinfo", "r");
	unsigned int number, major, minor;
	struct statx status;
	int found = 0;
	char line[512];

	show("statx", statx(AT_FDCWD, "/tmp/handles/file", 0, STATX_MNT_ID, &status));
	show("has a mount", (status.stx_mask & STATX_MNT_ID) != 0);
	while (list != NULL && fgets(line, sizeof line, list) != NULL)
		found |= sscanf(line, "%u %*d %u:%u", &number, &major, &minor) == 3 && number == status.stx_mnt_id &&
			 major == status.stx_dev_major && minor == status.stx_dev_minor;
	show("listed", found);
}

int main(void)
{
	int directory;

	mkdir("/tmp/handles", 0755);
	close(open("/tmp/handles/file", O_WRONLY | O_CREAT, 0644));
	symlink("file", "/tmp/handles/link");
	directory = open("/tmp/handles", O_RDONLY | O_DIRECTORY);
	mounts();
	names(directory);
	fflush(stdout);
	if (fork() == 0) {
		opens(directory);
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	unlink("/tmp/handles/file");
	unlink("/tmp/handles/link");
	rmdir("/tmp/handles");
	return 0;
}
