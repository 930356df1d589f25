/* Roots of paths, rules for their resolution, names alone, extended attributes, holes. */
#define _GNU_SOURCE
#include "check.h"

#include <linux/openat2.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/xattr.h>

static int place = AT_FDCWD;
static char slashes[100000] __attribute__((aligned(4096))) = "/tmp";

static void rule(const char *what, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = flags, .resolve = resolve };
	int file = syscall(SYS_openat2, place, path, &how, sizeof(how));

	show(what, file < 0 ? file : 0);
	if (file >= 0)
		close(file);
}

static void rules(void)
{
	struct {
		struct open_how how;
		uint64_t more;
	} large = { { .flags = O_RDONLY }, 0 };

	place = open("/tmp/paths", O_RDONLY | O_DIRECTORY);
	rule("plain", "file", O_RDONLY, 0);
	rule("link", "link", O_RDONLY, 0);
	rule("no links", "link", O_RDONLY, RESOLVE_NO_SYMLINKS);
	rule("no links on the way", "up/file", O_RDONLY, RESOLVE_NO_SYMLINKS);
	rule("a link alone", "link", O_PATH | O_NOFOLLOW, RESOLVE_NO_SYMLINKS);
	rule("beneath", "inner/../file", O_RDONLY, RESOLVE_BENEATH);
	rule("above", "inner/../../paths/file", O_RDONLY, RESOLVE_BENEATH);
	rule("absolute", "/tmp/paths/file", O_RDONLY, RESOLVE_BENEATH);
	rule("link to above", "up/paths/file", O_RDONLY, RESOLVE_BENEATH);
	rule("in root", "/file", O_RDONLY, RESOLVE_IN_ROOT);
	rule("in root", "../../file", O_RDONLY, RESOLVE_IN_ROOT);
	rule("in root", "absolute", O_RDONLY, RESOLVE_IN_ROOT);
	rule("both", "file", O_RDONLY, RESOLVE_IN_ROOT | RESOLVE_BENEATH);
	rule("crossing", "/proc/self/stat", O_RDONLY, RESOLVE_NO_XDEV);
	rule("objects", "/proc/self/exe", O_RDONLY, RESOLVE_NO_MAGICLINKS);
	rule("text of a link", "/proc/self/stat", O_RDONLY, RESOLVE_NO_MAGICLINKS);
	rule("cached", "file", O_RDONLY | O_TRUNC, RESOLVE_CACHED);
	rule("flags", "file", 1ULL << 40, 0);
	rule("rules", "file", O_RDONLY, 0x40);
	rule("name and more", "file", O_PATH | O_APPEND, 0);
	show("small", syscall(SYS_openat2, place, "file", &large, 16));
	large.more = 1;
	show("large", syscall(SYS_openat2, place, "file", &large, sizeof(large)));
	close(place);
}

static void roots(void)
{
	char path[64] = "";
	int outside = open("/tmp", O_RDONLY | O_DIRECTORY);

	show("start", chdir("/tmp/paths/inner"));
	show("no directory", chroot("/tmp/paths/file"));
	show("nothing", chroot("/tmp/paths/nothing"));
	show("out", chdir("/tmp"));
	show("root", chroot("/tmp/paths"));
	show("within", access("/file", F_OK));
	show("above", access("/../file", F_OK));
	show("outside", access("/tmp", F_OK));
	show("link", access("/absolute", F_OK));
	syscall(SYS_getcwd, path, sizeof(path));
	printf("outside %s\n", path);
	show("back", fchdir(outside));
	show("relative", access("../tmp/paths/file", F_OK));
	show("in", chdir("/inner"));
	syscall(SYS_getcwd, path, sizeof(path));
	printf("inside %s\n", path);
	if (fork() == 0) {
		show("inherited", access("/file", F_OK));
		seteuid(1000);
		show("another user", chroot("."));
		_exit(0);
	}
	wait(NULL);
	readlink("/proc/self/root", path, sizeof(path));
	show("execute", execl("/busybox", "busybox", NULL));
}

static void names_alone(void)
{
	char text[16] = "";
	struct stat status;
	struct epoll_event event = { .events = EPOLLIN };
	int name = open("/tmp/paths/link", O_PATH | O_NOFOLLOW), fifo, poll = epoll_create1(0);

	show("link", readlinkat(name, "", text, sizeof(text)));
	show("status", fstat(name, &status));
	printf("%s %o\n", text, status.st_mode);
	show("read", read(name, text, 1));
	show("seek", lseek(name, 0, SEEK_CUR));
	show("accept", accept(name, NULL, NULL));
	close(open("/tmp/paths/whole", O_WRONLY | O_CREAT, 0644));
	truncate("/tmp/paths/whole", 5);
	if (fork() == 0) {
		seteuid(1000);
		show("not truncated", open("/tmp/paths/whole", O_PATH | O_TRUNC | O_RDWR) < 0);
		show("not created", open("/tmp/paths/created", O_PATH | O_CREAT, 0600));
		_exit(0);
	}
	wait(NULL);
	stat("/tmp/paths/whole", &status);
	printf("%ld\n", (long)status.st_size);
	show("list", syscall(SYS_getdents64, open("/tmp/paths", O_PATH), text, sizeof(text)));
	show("watch", epoll_ctl(poll, EPOLL_CTL_ADD, name, &event));
	show("readahead", readahead(name, 0, 1));
	show("fifo", mkfifo("/tmp/paths/fifo", 0600));
	fifo = open("/tmp/paths/fifo", O_PATH);
	show("not opened", open("/tmp/paths/fifo", O_WRONLY | O_NONBLOCK));
	show("write", write(fifo, "a", 1));
	show("device", mknod("/tmp/paths/disk", S_IFBLK | 0600, makedev(7, 300)));
	stat("/tmp/paths/disk", &status);
	printf("%o %x\n", status.st_mode, (unsigned int)status.st_rdev);
	show("no type", mknod("/tmp/paths/none", S_IFMT, 0));
	show("directory", mknod("/tmp/paths/none", S_IFDIR, 0));
	show("other system", link("/proc/version", "/tmp/paths/version"));
	show("other system", rename("/tmp/paths/file", "/proc/file"));
}

static void attributes(void)
{
	static char value[70000];
	char bytes[32] = "", names[64] = "";
	const char *path = "/tmp/paths/file", *link = "/tmp/paths/link";
	int file = open(path, O_RDONLY);

	show("none", getxattr(path, "trusted.a", bytes, 32));
	show("list", listxattr(path, names, 64));
	show("set", setxattr(path, "trusted.a", "first", 5, 0));
	show("create", setxattr(link, "trusted.a", "second", 6, XATTR_CREATE));
	show("replace", fsetxattr(file, "trusted.a", "second", 6, XATTR_REPLACE));
	show("replace", setxattr(path, "trusted.b", "second", 6, XATTR_REPLACE));
	show("get", getxattr(path, "trusted.a", bytes, 32));
	printf("%s\n", bytes);
	show("size", fgetxattr(file, "trusted.a", NULL, 0));
	show("small", getxattr(path, "trusted.a", bytes, 5));
	show("of the link", lgetxattr(link, "trusted.a", bytes, 5));
	show("of the link", lsetxattr(link, "security.test", "", 0, 0));
	show("empty", lgetxattr(link, "security.test", bytes, 5));
	show("names", listxattr(path, names, 64));
	printf("%s\n", names);
	show("small", listxattr(path, names, 9));
	show("flags", setxattr(path, "trusted.a", "", 0, 4));
	show("prefix", setxattr(path, "trusted.", "", 0, 0));
	show("no prefix", setxattr(path, "other", "", 0, 0));
	show("no name", setxattr(path, "", "", 0, 0));
	show("long", setxattr(path, "trusted.a", value, 65537, 0));
	show("longest", setxattr(path, "trusted.long", value, 65536, 0));
	show("longest", getxattr(path, "trusted.long", NULL, 0));
	show("no bytes", syscall(SYS_setxattr, path, "trusted.a", 8, 8, 0));
	show("as before", getxattr(path, "trusted.a", bytes, 32));
	show("no path", getxattr("", "trusted.a", bytes, 32));
	if (fork() == 0) {
		seteuid(1000);
		show("another user", getxattr(path, "trusted.a", bytes, 32));
		show("another user", setxattr(path, "trusted.a", "", 0, 0));
		show("another user", listxattr(path, names, 64));
		_exit(0);
	}
	wait(NULL);
	show("remove", removexattr(path, "trusted.long"));
	show("remove", removexattr(path, "trusted.long"));
	show("left", fremovexattr(file, "trusted.a"));
	show("list", listxattr(path, names, 64));
	close(file);
}

static void limit(const char *text)
{
	int file = open("/proc/sys/fs/pipe-max-size", O_WRONLY);

	show("limit", write(file, text, strlen(text)));
	close(file);
}

static void holes(void)
{
	int file = open("/tmp/paths/holes", O_RDWR | O_CREAT, 0600), pipes[2], made = 0;
	char *map;
	struct iovec one = { "a", 1 };

	pwrite(file, "a", 1, 8192);
	pwrite(file, "a", 1, 1 << 30);
	ftruncate(file, 1ULL << 40);
	show("data", lseek(file, 0, SEEK_DATA));
	show("data", lseek(file, 8193, SEEK_DATA));
	show("data", lseek(file, 12288, SEEK_DATA));
	show("hole", lseek(file, 0, SEEK_HOLE));
	show("hole", lseek(file, 8200, SEEK_HOLE));
	show("hole", lseek(file, 1 << 30, SEEK_HOLE));
	show("no data", lseek(file, 1 << 31, SEEK_DATA));
	show("end", lseek(file, 1ULL << 40, SEEK_HOLE));
	show("before", lseek(file, -1, SEEK_DATA));
	show("place", lseek(file, 0, SEEK_CUR));
	pipe(pipes);
	show("pipe", lseek(pipes[0], 0, SEEK_DATA));
	show("no offset", pwritev2(pipes[0], &one, 1, 0, 0));
	show("no offset", pread(pipes[1], &pipes, 1, 0));
	show("size", fcntl(pipes[0], F_SETPIPE_SZ, (1U << 31) + 1));
	vmsplice(pipes[1], &(struct iovec){ slashes, 100000 }, 1, 0);
	ioctl(pipes[0], FIONREAD, &made);
	show("as much as there is room for", made);
	limit("4096");
	if (fork() == 0) {
		seteuid(1000);
		pipe(pipes);
		show("capacity", fcntl(pipes[0], F_GETPIPE_SZ));
		show("larger", fcntl(pipes[0], F_SETPIPE_SZ, 8192));
		_exit(0);
	}
	wait(NULL);
	limit("none");
	limit("1048576");
	map = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	show("shown", remap_file_pages(map, 4096, 0, 2, 0));
	printf("%d\n", map[0]);
	show("protected", remap_file_pages(map, 4096, PROT_READ, 2, 0));
	show("longer", remap_file_pages(map + 4096, 4 * 4096, 0, 2, 0));
	close(file);
}

/* A path of so many bytes to an entry of the directory, by itself again and again. */
static char *long_path(char *path, int length, const char *name)
{
	static const char part[] = "/tmp/paths/inner/../../..";
	int last = length - strlen("/tmp/paths/") - strlen(name), at = 0;

	while (at + (int)sizeof(part) - 1 <= last) {
		memcpy(path + at, part, sizeof(part) - 1);
		at += sizeof(part) - 1;
	}
	while (at < last) {
		memcpy(path + at, "/.", 2);
		at += last - at == 1 ? 1 : 2;
	}
	strcpy(path + last, "/tmp/paths/");
	strcat(path, name);
	return path;
}

static void long_paths(void)
{
	static const int lengths[] = { 1022, 1023, 1024, 1025, 1100, 2047, 2048, 3000, 4094, 4095, 4096, 5000 };
	static char path[8192], other[8192], name[300];
	struct stat status;

	memset(name, 'n', 255);
	for (unsigned index = 0; index < sizeof(lengths) / sizeof(*lengths); index++) {
		int length = lengths[index], file;

		printf("[%d]\n", length);
		show("none", open(long_path(path, length, "new"), O_RDONLY));
		file = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
		show("create", file >= 0 ? 0 : file);
		close(file);
		show("status", stat(path, &status));
		show("rename", rename(path, long_path(other, length, "new name")));
		show("link", link(other, path));
		show("remove", unlink(path));
		show("remove", unlink(other));
		show("directory", mkdir(long_path(path, length, name), 0700));
		show("enter", chdir(path));
		show("leave", chdir("/"));
		show("remove", rmdir(path));
		show("link", symlink("target", path));
		show("read", readlink(path, other, sizeof(other)));
		show("remove", unlink(path));
		show("in a file", access(long_path(path, length, "file/x"), F_OK));
		show("in none", access(long_path(path, length, "none/x"), F_OK));
		place = open("/", O_RDONLY | O_DIRECTORY);
		long_path(path, length, "file");
		rule("beneath", path + 1, O_RDONLY, RESOLVE_BENEATH);
		close(place);
		place = AT_FDCWD;
	}
	memset(path, 'n', 2000);
	path[2000] = 0;
	show("a long name", access(path, F_OK));
	memset(slashes + 4, '/', 3996);
	strcpy(slashes + 4000, "paths");
	show("slashes", access(slashes, F_OK));
	memset(path, '/', 3000);
	strcpy(path + 3000, "paths");
	execl(path, "paths", "3", NULL);
	show("execute", -1);
}

/* Working directories with long paths. */
static void deep(void)
{
	static char name[251], path[8192];
	int level;

	memset(name, 'd', sizeof(name) - 1);
	chdir("/tmp/paths");
	for (level = 1; level <= 17; level++) {
		mkdir(name, 0700);
		chdir(name);
		if (level % 4 < 2)
			show("length", syscall(SYS_getcwd, path, sizeof(path)));
	}
	printf("%.20s %d\n", path, (int)strlen(path));
	chdir("..");
	show("exact", syscall(SYS_getcwd, path, 4027));
	show("no room", syscall(SYS_getcwd, path, 4026));
	show("far", syscall(SYS_getcwd, 8, 5000));
	if (fork() == 0) {
		chroot(".");
		chdir("/tmp/paths");
		show("root", syscall(SYS_getcwd, path, sizeof(path)));
		show("below", chdir(name));
		show("of the root", syscall(SYS_getcwd, path, sizeof(path)));
		_exit(0);
	}
	wait(NULL);
	for (; level > 1; level--) {
		rmdir(name);
		chdir("..");
	}
	chdir("/tmp/paths");
	mkdir(name, 0700);
	chdir(name);
	rmdir(strcat(strcpy(path, "/tmp/paths/"), name));
	show("removed", syscall(SYS_getcwd, path, sizeof(path)));
}

int main(int count, char **arguments)
{
	if (count > 1)
		return atoi(arguments[1]);
	mkdir("/tmp/paths", 0755);
	mkdir("/tmp/paths/inner", 0755);
	close(open("/tmp/paths/file", O_WRONLY | O_CREAT, 0644));
	symlink("file", "/tmp/paths/link");
	symlink("..", "/tmp/paths/up");
	symlink("/file", "/tmp/paths/absolute");
	memset(slashes + 4, '/', 2000);
	apart("long paths", long_paths);
	show("slashes", access(slashes, F_OK));
	apart("rules", rules);
	apart("roots", roots);
	apart("deep", deep);
	apart("names alone", names_alone);
	apart("attributes", attributes);
	apart("holes", holes);
	system("/bin/busybox rm -r /tmp/paths");
	return 0;
}
