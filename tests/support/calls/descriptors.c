/* Flags and vectors of calls for descriptors, and what they refuse. */
#define _GNU_SOURCE
#include "check.h"

#include <linux/stat.h>
#include <sys/mman.h>
#include <sys/uio.h>

static void vectors(void)
{
	char bytes[8] = "abcdefg";
	struct iovec two[2] = { { bytes, 3 }, { bytes + 3, 4 } };
	int file = open("/tmp/vectors", O_RDWR | O_CREAT | O_TRUNC, 0600);
	int pipes[2];

	show("write", writev(file, two, 2));
	two[1].iov_len = -1;
	show("negative", writev(file, two, 2));
	show("size", lseek(file, 0, SEEK_END));
	two[1].iov_len = 4;
	show("none", writev(file, two, 0));
	show("too many", syscall(SYS_writev, file, two, 1025));
	show("no address", syscall(SYS_writev, file, 8, 1));
	show("no descriptor", writev(-1, two, 0));
	show("at", preadv(file, two, 2, 1));
	show("before", preadv(file, two, 2, -1));
	show("before", pread(file, bytes, 1, -1));
	show("before", pwrite(file, bytes, 1, -1));
	lseek(file, 2, SEEK_SET);
	show("own", preadv2(file, two, 2, -1, 0));
	show("moved", lseek(file, 0, SEEK_CUR));
	show("stated", pwritev2(file, two, 2, 0, RWF_SYNC));
	show("stays", lseek(file, 0, SEEK_CUR));
	show("unknown", pwritev2(file, two, 2, 0, 0x100));
	pipe(pipes);
	show("pipe", preadv(pipes[0], two, 2, 0));
	show("flags", pipe2(pipes, 0x1234));
	show("flags", dup3(file, 40, O_APPEND));
	show("same", dup3(file, file, 0));
	show("sync", fsync(file));
	show("sync", fsync(pipes[0]));
	show("sync", fdatasync(-1));
	show("all", syncfs(file));
	show("range", sync_file_range(file, 0, 0, 7));
	show("range", sync_file_range(file, 0, 0, 8));
	show("range", sync_file_range(file, -1, 0, 0));
	show("range", sync_file_range(pipes[0], 0, 0, 0));
	close(pipes[0]);
	close(pipes[1]);
	close(file);
}

static void names(void)
{
	struct statx extended;
	struct stat status;

	show("flags", fstatat(AT_FDCWD, "/tmp", &status, 0x8000));
	show("flags", syscall(SYS_statx, AT_FDCWD, "/tmp", 0x8000, 0, &extended));
	show("mask", syscall(SYS_statx, AT_FDCWD, "/tmp", 0, 0x80000000, &extended));
	show("both", syscall(SYS_statx, AT_FDCWD, "/tmp", 0x6000, 0, &extended));
	show("flags", fchownat(AT_FDCWD, "/tmp/vectors", 0, 0, 0x8000));
	show("flags", linkat(AT_FDCWD, "/tmp/vectors", AT_FDCWD, "/tmp/more", 0x8000));
	show("flags", utimensat(AT_FDCWD, "/tmp/vectors", NULL, 0x8000));
	show("no path", fchmodat(open("/dev/null", O_RDONLY), "", 0600, 0));
	show("no descriptor", mmap(NULL, 0, PROT_READ, MAP_SHARED, -1, 0) == MAP_FAILED ? -1 : 0);
	unlink("/tmp/vectors");
}

static void score(void)
{
	char bytes[16] = "";
	int file = open("/proc/self/oom_score_adj", O_RDWR);

	show("score", pwrite(file, "-1000", 5, 0));
	show("out of range", pwrite(file, "1001", 4, 0));
	show("no number", pwrite(file, "a", 1, 0));
	close(file);
	if (fork() == 0) {
		file = open("/proc/self/oom_score_adj", O_RDONLY);
		read(file, bytes, 15);
		printf("inherited %s", bytes);
		_exit(0);
	}
	wait(NULL);
}

/* Ranges of descriptors, of a table of its own. */
static void ranges(void)
{
	int file = open("/", O_RDONLY);

	dup2(file, 70);
	dup2(file, 71);
	show("unshare", syscall(SYS_close_range, 70, 70, 2));
	show("closed", fcntl(70, F_GETFD));
	show("close on exec", syscall(SYS_close_range, 70, 80, 6));
	show("flags", fcntl(71, F_GETFD));
	show("unknown", syscall(SYS_close_range, 71, 71, 8));
	show("close", syscall(SYS_close_range, 71, 71, 0));
	show("closed", fcntl(71, F_GETFD));
	close(file);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	vectors();
	names();
	score();
	ranges();
	return 0;
}
