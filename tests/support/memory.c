/*
 * Mappings of files and of memory that processes share: what each call returns, and what is in the
 * pages, on Linux and on Tenon.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE, RX = PROT_READ | PROT_EXEC };

static int failed(const void *result)
{
	return result == MAP_FAILED ? errno : 0;
}

static int error(long result)
{
	return result < 0 ? errno : 0;
}

static void say(const char *what, long value)
{
	printf("%s: %ld\n", what, value);
	fflush(stdout);
}

/* A file of pages, each of which has its number and letters. */
static int file(const char *name, int pages)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0755);
	char page[PAGE];

	for (int index = 0; index < pages; index++) {
		memset(page, 'a' + index, PAGE);
		if (write(fd, page, PAGE) != PAGE)
			return -1;
	}
	return fd;
}

/* The signal by which an access ends a child, or 0. */
static int ends(volatile char *at, int writes)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		char byte = writes ? (*at = 1) : *at;

		_exit(byte == 127);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void private_mappings(void)
{
	int fd = file("/tmp/private", 3);
	char *map = mmap(0, 4 * PAGE, RW, MAP_PRIVATE, fd, 0);
	char byte;

	say("private: first byte", map[0]);
	map[0] = 'X';
	pread(fd, &byte, 1, 0);
	say("private: file after a store", byte);
	say("private: beyond the file, signal", ends(map + 3 * PAGE, 0));
	pwrite(fd, "Y", 1, PAGE);
	say("private: page that was not written", map[PAGE]);
	say("private: offset, error", failed(mmap(0, PAGE, RW, MAP_PRIVATE, fd, 100)));
	say("private: no type, error", failed(mmap(0, PAGE, RW, 0, fd, 0)));
	say("private: no size, error", failed(mmap(0, 0, RW, MAP_PRIVATE, fd, 0)));
	close(fd);
	say("private: closed", map[2 * PAGE]);
	unlink("/tmp/private");
	say("private: unlinked", map[2 * PAGE + 1]);
	say("private: unmap", munmap(map, 4 * PAGE));
	say("private: signal", ends(map, 0));
	say("private: again", munmap(map, 4 * PAGE));
	fd = open("/tmp/read-only", O_RDONLY | O_CREAT, 0644);
	say("read-only: private", failed(mmap(0, PAGE, RW, MAP_PRIVATE, fd, 0)));
	say("read-only: shared, written", failed(mmap(0, PAGE, RW, MAP_SHARED, fd, 0)));
	map = mmap(0, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	say("read-only: shared, made writable", error(mprotect(map, PAGE, RW)));
	say("read-only: empty, signal", ends(map, 0));
	close(fd);
	fd = open("/tmp/read-only", O_WRONLY);
	say("write-only", failed(mmap(0, PAGE, PROT_READ, MAP_PRIVATE, fd, 0)));
	close(fd);
	fd = open("/tmp", O_RDONLY);
	say("a directory", failed(mmap(0, PAGE, PROT_READ, MAP_PRIVATE, fd, 0)));
	close(fd);
	fd = open("/dev/zero", O_RDWR);
	map = mmap(0, PAGE, RW, MAP_PRIVATE, fd, 0);
	say("zeros", map[5]);
	close(fd);
	fd = open("/dev/null", O_RDWR);
	say("null", failed(mmap(0, PAGE, RW, MAP_PRIVATE, fd, 0)));
	close(fd);
	say("no descriptor", failed(mmap(0, PAGE, RW, MAP_PRIVATE, 99, 0)));
}

static void shared_mappings(void)
{
	int fd = file("/tmp/shared", 4);
	char *map = mmap(0, 4 * PAGE, RW, MAP_SHARED, fd, 0);
	char *other = mmap(0, 2 * PAGE, RW, MAP_SHARED, fd, PAGE);
	char *copy = mmap(0, 4 * PAGE, RW, MAP_PRIVATE, fd, 0);
	char byte;

	memcpy(map + PAGE, "stored", 6);
	say("shared: other mapping", memcmp(other, "stored", 6));
	pread(fd, &byte, 1, PAGE + 3);
	say("shared: read", byte);
	pwrite(fd, "W", 1, PAGE + 3);
	say("shared: write", map[PAGE + 3]);
	say("shared: private one", copy[PAGE + 3]);
	if (fork() == 0) {
		other[0] = 'C';
		_exit(0);
	}
	wait(0);
	say("shared: child's store", map[PAGE]);
	say("shared: sync", msync(map, 4 * PAGE, MS_SYNC));
	say("shared: sync both ways", error(msync(map, 4 * PAGE, MS_SYNC | MS_ASYNC)));
	map[2 * PAGE] = 'K';
	copy[2 * PAGE] = 'P';
	say("shared: truncate", ftruncate(fd, PAGE + 100));
	say("shared: kept", map[PAGE + 50]);
	say("shared: cut in the page", map[PAGE + 100]);
	say("shared: beyond, signal", ends(map + 2 * PAGE, 0));
	say("shared: beyond, store, signal", ends(map + 3 * PAGE, 1));
	say("shared: private beyond, signal", ends(copy + 2 * PAGE, 0));
	say("shared: grow", ftruncate(fd, 4 * PAGE));
	say("shared: zeros after it", map[2 * PAGE]);
	say("shared: private after it", copy[2 * PAGE]);
	map[3 * PAGE + 9] = 'z';
	pread(fd, &byte, 1, 3 * PAGE + 9);
	say("shared: stored behind", byte);
	say("shared: write from a mapping", pwrite(fd, map + PAGE, 10, 0));
	say("shared: itself", memcmp(map, map + PAGE, 10));
	close(fd);
	unlink("/tmp/shared");
	other[7] = 'u';
	say("shared: unlinked", map[PAGE + 7]);
	munmap(map, 4 * PAGE);
	say("shared: last one", other[7]);
	munmap(other, 2 * PAGE);
	munmap(copy, 4 * PAGE);
}

static void anonymous_memory(void)
{
	int *shared = mmap(0, 2 * PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int *own = mmap(0, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status;

	say("anonymous: zeros", shared[0] + shared[1024] + own[0]);
	if (fork() == 0) {
		shared[1] = 5;
		own[1] = 6;
		/* Waits for the parent by a word that they share. */
		shared[2] = 1;
		syscall(SYS_futex, &shared[2], FUTEX_WAKE, 1, 0, 0, 0);
		while (__atomic_load_n(&shared[3], __ATOMIC_SEQ_CST) == 0)
			syscall(SYS_futex, &shared[3], FUTEX_WAIT, 0, 0, 0, 0);
		_exit(shared[3]);
	}
	while (__atomic_load_n(&shared[2], __ATOMIC_SEQ_CST) == 0)
		syscall(SYS_futex, &shared[2], FUTEX_WAIT, 0, 0, 0, 0);
	say("anonymous: child's store", shared[1]);
	say("anonymous: own", own[1]);
	__atomic_store_n(&shared[3], 77, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &shared[3], FUTEX_WAKE, 1, 0, 0, 0);
	wait(&status);
	say("anonymous: child's exit", WEXITSTATUS(status));
	shared = mremap(shared, 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE);
	say("anonymous: moved", shared[1]);
	say("anonymous: grown beyond it, signal", ends((char *)shared + 3 * PAGE, 1));
}

static void protections(void)
{
	char *map = mmap(0, 6 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned *code = (unsigned *)(map + 4 * PAGE);

	map[PAGE] = 3;
	say("protect: none", mprotect(map + PAGE, PAGE, PROT_NONE));
	say("protect: none, signal", ends(map + PAGE, 0));
	say("protect: its neighbour", ends(map + 2 * PAGE, 1));
	say("protect: read", mprotect(map, 3 * PAGE, PROT_READ));
	say("protect: value", map[PAGE]);
	say("protect: store, signal", ends(map + PAGE, 1));
	say("protect: write again", mprotect(map, 3 * PAGE, RW));
	map[PAGE]++;
	say("protect: value", map[PAGE]);
	/* mov w0, #42; ret */
	code[0] = 0x52800540;
	code[1] = 0xd65f03c0;
	say("protect: code", mprotect(code, PAGE, RX));
	__builtin___clear_cache((char *)code, (char *)(code + 2));
	say("protect: call", ((int (*)(void))code)());
	say("protect: store to code, signal", ends((char *)code, 1));
	say("protect: variables again", mprotect(code, PAGE, RW));
	code[0] = 0x52800560;
	say("protect: code again", mprotect(code, PAGE, RX));
	__builtin___clear_cache((char *)code, (char *)(code + 2));
	say("protect: call again", ((int (*)(void))code)());
	munmap(map + 2 * PAGE, PAGE);
	say("protect: a hole", error(mprotect(map, 4 * PAGE, PROT_READ)));
	say("protect: no page", error(mprotect(map + 1, PAGE, PROT_READ)));
	say("protect: nothing", error(mprotect(map, 0, PROT_READ)));
}

static void moves(void)
{
	char *map = mmap(0, 4 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *to = mmap(0, 8 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *moved, *again;
	int fd = file("/tmp/moved", 4);

	strcpy(map + PAGE, "moves");
	say("move: shrink", mremap(map, 4 * PAGE, 3 * PAGE, 0) == map);
	say("move: cut, signal", ends(map + 3 * PAGE, 0));
	say("move: in place", mremap(map, 3 * PAGE, 4 * PAGE, 0) == map);
	say("move: grown", map[3 * PAGE]);
	moved = mremap(map, 4 * PAGE, 6 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	say("move: fixed", moved == to);
	say("move: content", strcmp(moved + PAGE, "moves"));
	say("move: from, signal", ends(map, 0));
	say("move: behind it", ends(to + 7 * PAGE, 0));
	say("move: overlap", failed(mremap(moved, 4 * PAGE, 4 * PAGE,
		MREMAP_MAYMOVE | MREMAP_FIXED, moved + PAGE)));
	say("move: fixed alone", failed(mremap(moved, PAGE, PAGE, MREMAP_FIXED, map)));
	say("move: no place", failed(mremap(moved, 6 * PAGE, 9 * PAGE, 0)));
	say("move: nothing there", failed(mremap(map, PAGE, PAGE * 2, MREMAP_MAYMOVE)));
	say("move: no size", failed(mremap(moved, PAGE, 0, MREMAP_MAYMOVE)));
	say("move: two mappings", failed(mremap(moved, 8 * PAGE, 9 * PAGE, MREMAP_MAYMOVE)));
	say("move: part", (again = mremap(moved + PAGE, PAGE, 2 * PAGE, MREMAP_MAYMOVE)) != moved);
	say("move: its content", strcmp(again, "moves"));
	say("move: the hole, signal", ends(moved + PAGE, 0));
	map = mmap(0, 2 * PAGE, RW, MAP_SHARED, fd, PAGE);
	moved = mremap(map, 2 * PAGE, 3 * PAGE, MREMAP_MAYMOVE);
	moved[0] = 'S';
	say("move: file", moved[2 * PAGE]);
	again = mremap(moved, 0, 2 * PAGE, MREMAP_MAYMOVE);
	say("move: a second mapping", again != moved && again[0] == 'S');
	again[1] = 'T';
	say("move: both", moved[1]);
	close(fd);
}

static void advice(void)
{
	unsigned char in_core[4] = { 0 };
	char *map = mmap(0, 4 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = file("/tmp/advice", 2);
	char *shared = mmap(0, 2 * PAGE, RW, MAP_SHARED, fd, 0);

	memset(map, 1, 2 * PAGE);
	say("advice: in core", mincore(map, 4 * PAGE, in_core));
	printf("advice: %d %d %d %d\n", in_core[0] & 1, in_core[1] & 1, in_core[2] & 1, in_core[3] & 1);
	say("advice: not needed", madvise(map, PAGE, MADV_DONTNEED));
	say("advice: zeros", map[0]);
	say("advice: neighbour", map[PAGE]);
	shared[0] = 'Q';
	say("advice: shared", madvise(shared, 2 * PAGE, MADV_DONTNEED));
	say("advice: kept", shared[0]);
	say("advice: removed", madvise(shared, PAGE, MADV_REMOVE));
	say("advice: hole", shared[0]);
	say("advice: beside it", shared[PAGE]);
	say("advice: will need", madvise(map, PAGE, MADV_WILLNEED));
	say("advice: unknown", error(madvise(map, PAGE, 1000)));
	say("advice: no page", error(madvise(map + 1, PAGE, MADV_NORMAL)));
	munmap(map + 2 * PAGE, PAGE);
	say("advice: a hole", error(madvise(map, 4 * PAGE, MADV_DONTNEED)));
	say("advice: done in part", map[3 * PAGE] + map[PAGE]);
	say("advice: in core, a hole", error(mincore(map, 4 * PAGE, in_core)));
	say("lock", mlock(map + 100, PAGE));
	say("lock: a hole", error(mlock(map, 4 * PAGE)));
	say("unlock", munlock(map, PAGE));
	say("lock all: no flag", error(mlockall(0)));
	say("unlock all", munlockall());
	say("populate", failed(map = mmap(0, 3 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		-1, 0)));
	mincore(map, 3 * PAGE, in_core);
	say("populate: in core", in_core[0] & in_core[1] & in_core[2] & 1);
	say("not replaced", failed(mmap(map, PAGE, RW,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0)));
	map[5] = 5;
	say("replaced", mmap(map, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == map);
	say("replaced: zeros", map[5]);
	say("a hint", mmap(map + PAGE, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != map + PAGE);
	munmap(map + PAGE, PAGE);
	say("a free hint", mmap(map + PAGE, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == map + PAGE);
	close(fd);
}

static void memory_files(void)
{
	int fd = memfd_create("name", MFD_CLOEXEC);
	char *map, *code;
	char byte;
	char path[] = "/dev/shm/object";
	int status;

	say("memfd: close on exec", fcntl(fd, F_GETFD));
	say("memfd: size", lseek(fd, 0, SEEK_END));
	say("memfd: truncate", ftruncate(fd, 3 * PAGE));
	map = mmap(0, 3 * PAGE, RW, MAP_SHARED, fd, 0);
	strcpy(map + 2 * PAGE, "memory");
	pread(fd, &byte, 1, 2 * PAGE);
	say("memfd: read", byte);
	say("memfd: flags", error(memfd_create("x", 0x8000)));
	munmap(map, 3 * PAGE);
	/* mov w0, #7; ret */
	pwrite(fd, "\xe0\x00\x80\x52\xc0\x03\x5f\xd6", 8, 0);
	code = mmap(0, PAGE, RX, MAP_SHARED, fd, 0);
	say("memfd: code", ((int (*)(void))code)());
	munmap(code, PAGE);
	close(fd);
	fd = shm_open("/object", O_RDWR | O_CREAT, 0600);
	say("shm: open", fd >= 0);
	say("shm: path", access(path, F_OK));
	ftruncate(fd, PAGE);
	map = mmap(0, PAGE, RW, MAP_SHARED, fd, 0);
	if (fork() == 0) {
		int own = shm_open("/object", O_RDWR, 0);
		char *other = mmap(0, PAGE, RW, MAP_SHARED, own, 0);

		strcpy(other, "child");
		_exit(0);
	}
	wait(&status);
	say("shm: child", strcmp(map, "child"));
	say("shm: unlink", shm_unlink("/object"));
	say("shm: again", error(shm_unlink("/object")));
	say("shm: stays", map[0]);
}

/* Shared memory of System V. */
static void segments(void)
{
	int own = shmget(IPC_PRIVATE, 2 * PAGE, 0600), key = 4711, id, status;
	struct shmid_ds info;
	struct shm_info all;
	int place;
	char *map = shmat(own, 0, 0), *again;

	say("segment: zeros", map[PAGE]);
	strcpy(map, "segment");
	if (fork() == 0) {
		char *other = shmat(own, 0, SHM_RDONLY);

		status = strcmp(other, "segment");
		strcpy(map + PAGE, "child");
		_exit(status != 0 || shmdt(other) != 0);
	}
	wait(&status);
	say("segment: child", WEXITSTATUS(status));
	say("segment: its store", strcmp(map + PAGE, "child"));
	say("segment: status", shmctl(own, IPC_STAT, &info));
	say("segment: size", info.shm_segsz);
	say("segment: attached", info.shm_nattch);
	say("segment: mode", info.shm_perm.mode);
	place = shmctl(0, SHM_INFO, (void *)&all);
	say("segment: count", all.used_ids);
	say("segment: pages", all.shm_tot);
	say("segment: at its place", shmctl(place, SHM_STAT, &info) == own && info.shm_segsz == 2 * PAGE);
	say("segment: at another", error(shmctl(place + 1, SHM_STAT, &info)));
	say("segment: remove", shmctl(own, IPC_RMID, 0));
	say("segment: kept", strcmp(map, "segment"));
	say("segment: detach", shmdt(map));
	say("segment: detach again", error(shmdt(map)));
	say("segment: signal", ends(map, 0));
	say("segment: no key", error(shmget(key, PAGE, 0)));
	id = shmget(key, 100, IPC_CREAT | IPC_EXCL | 0640);
	say("segment: created", id >= 0);
	say("segment: exclusive", error(shmget(key, 100, IPC_CREAT | IPC_EXCL)));
	say("segment: found", shmget(key, 50, 0) == id);
	say("segment: too small", error(shmget(key, 200, 0)));
	say("segment: no size", error(shmget(IPC_PRIVATE, 0, 0600)));
	again = mmap(0, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	say("segment: no page", error((long)shmat(id, again + 1, 0)));
	say("segment: occupied", error((long)shmat(id, again, 0)));
	say("segment: instead", shmat(id, again, SHM_REMAP) == again);
	say("segment: zeros", again[5]);
	map = shmat(id, 0, SHM_RDONLY);
	again[7] = 7;
	say("segment: both", map[7]);
	say("segment: read-only, signal", ends(map, 1));
	say("segment: read-only, made writable", error(mprotect(map, PAGE, RW)));
	say("segment: no identifier", error((long)shmat(id + 1000, 0, 0)));
	say("segment: remove", shmctl(id, IPC_RMID, 0));
	shmdt(map);
	say("segment: last one", again[7]);
	shmdt(again);
	say("segment: gone", error(shmctl(id, IPC_STAT, &info)));
}

/* Programs and code of files that were written. */
static void written_programs(void)
{
	char buffer[PAGE];
	int from = open("/proc/self/exe", O_RDONLY);
	int to = open("/tmp/program", O_WRONLY | O_CREAT | O_TRUNC, 0755);
	ssize_t count;
	int status = 0;

	if (from < 0)
		from = open("/bin/memory", O_RDONLY);
	while ((count = read(from, buffer, PAGE)) > 0)
		write(to, buffer, count);
	close(from);
	close(to);
	fflush(stdout);
	if (fork() == 0) {
		execl("/tmp/program", "program", "child", NULL);
		_exit(errno);
	}
	wait(&status);
	say("program: exit", WEXITSTATUS(status));
	to = open("/tmp/script", O_WRONLY | O_CREAT | O_TRUNC, 0755);
	dprintf(to, "#!/tmp/program child\n");
	close(to);
	if (fork() == 0) {
		execl("/tmp/script", "script", NULL);
		_exit(errno);
	}
	wait(&status);
	say("script: exit", WEXITSTATUS(status));
	truncate("/tmp/program", 1000);
	if (fork() == 0) {
		execl("/tmp/program", "program", "child", NULL);
		_exit(errno);
	}
	wait(&status);
	say("program: cut, fails", WIFSIGNALED(status) || WEXITSTATUS(status) != 9);
}

/* As many areas as large programs have. */
static void many_areas(void)
{
	enum { AREAS = 500 };
	char *map = mmap(0, AREAS * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int wrong = 0;

	for (int index = 0; index < AREAS; index += 2)
		wrong += mprotect(map + index * PAGE, PAGE, PROT_READ) != 0;
	say("areas: wrong", wrong);
	for (int index = 1; index < AREAS; index += 2)
		map[index * PAGE] = (char)index;
	if (fork() == 0) {
		for (int index = 1; index < AREAS; index += 2)
			wrong += map[index * PAGE] != (char)index;
		_exit(wrong);
	}
	wait(&wrong);
	say("areas: child", WEXITSTATUS(wrong));
	say("areas: all", mprotect(map, AREAS * PAGE, RW));
	map[0] = 1;
	say("areas: unmap", munmap(map, AREAS * PAGE));
}

int main(int count, char **arguments)
{
	if (count > 1 && strcmp(arguments[1], "child") == 0)
		return 9;
	private_mappings();
	shared_mappings();
	anonymous_memory();
	protections();
	moves();
	advice();
	memory_files();
	segments();
	written_programs();
	many_areas();
	say("memory end", 0);
	return 0;
}
