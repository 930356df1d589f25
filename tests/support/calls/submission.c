/* Operations of input and output that are submitted, waits for several words, memory that is locked. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NONE ((void *)-1L)

static void report(const char *what, long result)
{
	if (result < 0)
		printf("%s: %s\n", what, strerrorname_np(errno));
	else
		printf("%s: %ld\n", what, result);
}

static aio_context_t context;

static long submit(long count, struct iocb **operations)
{
	return syscall(SYS_io_submit, context, count, operations);
}

static long events(long least, long most, struct io_event *to, struct timespec *time)
{
	return syscall(SYS_io_getevents, context, least, most, to, time);
}

static void operations(void)
{
	static char text[] = "one two three", back[20];
	struct iovec parts[2] = {{back, 4}, {back + 4, 9}};
	struct timespec none = {0, 0}, short_time = {0, 10000000};
	struct io_event seen[4];
	int file = open("/tmp/submission", O_RDWR | O_CREAT | O_TRUNC, 0600);
	int reader = open("/tmp/submission", O_RDONLY), counter = eventfd(0, 0);
	struct iocb write_of = {.aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = file, .aio_data = 7,
				.aio_buf = (uintptr_t)text, .aio_nbytes = 13, .aio_offset = 2};
	struct iocb read_of = {.aio_lio_opcode = IOCB_CMD_PREADV, .aio_fildes = reader, .aio_data = 8,
			       .aio_buf = (uintptr_t)parts, .aio_nbytes = 2, .aio_offset = 2,
			       .aio_flags = IOCB_FLAG_RESFD, .aio_resfd = counter};
	struct iocb sync_of = {.aio_lio_opcode = IOCB_CMD_FSYNC, .aio_fildes = file};
	struct iocb *all[] = {&write_of, &read_of, &sync_of}, *one[1];
	uint64_t count = 0;

	report("no room for an address", syscall(SYS_io_setup, 1, NULL));
	report("no events", syscall(SYS_io_setup, 0, &context));
	report("too many events", syscall(SYS_io_setup, 70000, &context));
	report("far too many events", syscall(SYS_io_setup, -1, &context));
	report("set up", syscall(SYS_io_setup, 16, &context));
	report("set up twice", syscall(SYS_io_setup, 16, &context));
	report("nothing submitted", submit(0, NULL));
	report("three", submit(3, all));
	report("more than there are at least", events(5, 4, seen, &none));
	report("three of them", events(1, 4, seen, NULL));
	for (int i = 0; i < 3; i++)
		printf("%d: %llu %lld %d\n", i, seen[i].data, seen[i].res, seen[i].obj == (uintptr_t)all[i]);
	printf("read: %.13s\n", back);
	printf("counter: %ld %lu\n", (long)read(counter, &count, 8), count);
	report("none after a time", events(1, 1, seen, &short_time));
	report("no memory for events", (submit(1, all), events(1, 1, NONE, &none)));
	report("one is there still", events(0, 4, seen, &none));

	one[0] = &read_of;
	read_of.aio_fildes = -1;
	report("no descriptor", submit(1, one));
	read_of.aio_fildes = reader;
	read_of.aio_lio_opcode = IOCB_CMD_PWRITEV;
	report("for reading alone", submit(1, one));
	read_of.aio_lio_opcode = 77;
	report("no operation", submit(1, one));
	read_of.aio_lio_opcode = IOCB_CMD_PREADV;
	read_of.aio_resfd = file;
	report("no counter", submit(1, one));
	read_of.aio_flags = 0;
	read_of.aio_reserved2 = 1;
	report("reserved", submit(1, one));
	report("at no address", submit(1, NONE));
	one[0] = NULL;
	report("no operation at all", submit(1, one));
	report("less than none", submit(-1, one));
	write_of.aio_buf = (uintptr_t)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	one[0] = &write_of;
	report("bytes of no memory", submit(1, one));
	report("its event", events(1, 1, seen, &none));
	printf("is an error: %d\n", seen[0].res == -EFAULT);
	report("cancel", syscall(SYS_io_cancel, context, one[0], seen));
	pid_t child = fork();
	if (child == 0)
		_exit(events(0, 1, seen, &none) < 0 && errno == EINVAL);
	int status;
	waitpid(child, &status, 0);
	printf("a child has it not: %d\n", WEXITSTATUS(status));
	report("destroy", syscall(SYS_io_destroy, context));
	report("destroy again", syscall(SYS_io_destroy, context));
	report("submit to nothing", submit(0, NULL));
	close(file);
	close(reader);
	close(counter);
	unlink("/tmp/submission");
}

struct word {
	uint64_t value, address;
	uint32_t flags, reserved;
};

enum { words = 40 };
static uint32_t values[words];
static struct word vector[words];

static long wait_for(struct word *from, unsigned count, unsigned flags, struct timespec *until, int clock)
{
	return syscall(449, from, count, flags, until, clock);
}

static void *waker(void *index)
{
	while (syscall(SYS_futex, &values[(long)index], 1 | 128, 1, NULL, NULL, 0) == 0)
		usleep(1000);
	return NULL;
}

static void vectors(void)
{
	struct timespec until;
	pthread_t thread;

	for (int i = 0; i < words; i++)
		vector[i] = (struct word){0, (uintptr_t)&values[i], 2 | 128, 0};
	clock_gettime(CLOCK_MONOTONIC, &until);
	report("in the past", wait_for(vector, words, 0, &until, CLOCK_MONOTONIC));
	clock_gettime(CLOCK_REALTIME, &until);
	report("a date in the past", wait_for(vector, words, 0, &until, CLOCK_REALTIME));
	report("another clock", wait_for(vector, words, 0, &until, CLOCK_BOOTTIME));
	report("no words", wait_for(vector, 0, 0, NULL, 0));
	report("too many words", wait_for(vector, 129, 0, NULL, 0));
	report("flags", wait_for(vector, 1, 1, NULL, 0));
	report("no vector", wait_for(NULL, 1, 0, NULL, 0));
	report("a vector of no memory", wait_for(NONE, 1, 0, NULL, 0));
	vector[3].reserved = 1;
	report("reserved", wait_for(vector, words, 0, NULL, 0));
	vector[3].reserved = 0;
	vector[3].address++;
	report("not aligned", wait_for(vector, words, 0, NULL, 0));
	vector[3].address--;
	vector[5].value = 1;
	report("another value", wait_for(vector, words, 0, NULL, 0));
	vector[5].value = 0;
	pthread_create(&thread, NULL, waker, (void *)33L);
	report("woken by the word", wait_for(vector, words, 0, NULL, 0));
	pthread_join(thread, NULL);
	report("nothing waits any more", syscall(SYS_futex, &values[7], 1 | 128, 1, NULL, NULL, 0));
	report("less than none moved", syscall(SYS_futex, &values[7], 4 | 128, 1, -1L, &values[8], 0));
}

/* Kilobytes of a line of a file of the process. */
static long field(const char *path, const char *name, unsigned long from)
{
	FILE *file = fopen(path, "r");
	char line[256];
	unsigned long start, end;
	int found = from == 0;
	long value = -1;

	while (file && fgets(line, sizeof(line), file)) {
		if (from && sscanf(line, "%lx-%lx ", &start, &end) == 2)
			found = start <= from && from < end;
		if (found && !strncmp(line, name, strlen(name))) {
			sscanf(line + strlen(name), ": %ld", &value);
			break;
		}
	}
	if (file)
		fclose(file);
	return value;
}

static long locked(void)
{
	return field("/proc/self/status", "VmLck", 0);
}

static void locks(void)
{
	size_t page = 4096, size = 64 * page;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status;

	report("locked", locked());
	report("lock", mlock(memory + 8 * page, 16 * page));
	report("locked", locked());
	report("lock again", mlock(memory + 16 * page, 16 * page));
	report("locked", locked());
	report("resident", field("/proc/self/smaps", "Rss", (uintptr_t)memory + 8 * page));
	report("locked in it", field("/proc/self/smaps", "Locked", (uintptr_t)memory + 8 * page));
	report("discard what is locked", madvise(memory, size, MADV_DONTNEED));
	report("invalidate what is locked", msync(memory, size, MS_INVALIDATE));
	report("unlock a part", munlock(memory + 12 * page, 4 * page));
	report("locked", locked());
	pid_t child = fork();
	if (child == 0)
		_exit(locked());
	waitpid(child, &status, 0);
	printf("a child has locked: %d\n", WEXITSTATUS(status));
	report("lock when it is accessed", syscall(SYS_mlock2, memory + 40 * page, 8 * page, 1));
	report("locked", locked());
	report("unmap a part", munmap(memory + 40 * page, 4 * page));
	report("locked", locked());
	report("unlock all", munlockall());
	report("locked", locked());
	report("lock what is mapped from now on", mlockall(MCL_FUTURE));
	char *more = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	report("locked", locked());
	report("unlock all", munlockall());
	munmap(more, 4 * page);
	more = mmap(NULL, 4 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0);
	report("locked", locked());
	munmap(more, 4 * page);
	report("locked", locked());
	report("a closed file of no size", (long)mmap(NULL, 0, PROT_READ, MAP_SHARED, 77, 0));

	struct rlimit limit = {8 * page, 8 * page};
	setrlimit(RLIMIT_MEMLOCK, &limit);
	if (setuid(1000))
		return;
	report("within the limit", mlock(memory, 6 * page));
	report("beyond it", mlock(memory + 8 * page, 6 * page));
	report("of what is locked", mlock(memory, 6 * page));
	report("a mapping beyond it",
	       (long)mmap(NULL, 4 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0));
	report("locked", locked());
	munmap(memory, size);
}

/* A page that a child has in common with its parent, until it writes to it. */
static void copied_page(void)
{
	size_t page = 4096;
	char *memory = mmap(NULL, 3 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile char *own = memory + page;

	report("a page between others", mprotect(memory + page, page, PROT_READ | PROT_WRITE));
	*own = 1;
	report("private", field("/proc/self/smaps", "Private_Dirty", (uintptr_t)own));
	if (fork() == 0) {
		report("shared", field("/proc/self/smaps", "Shared_Dirty", (uintptr_t)own));
		*own = 2;
		report("no longer", field("/proc/self/smaps", "Shared_Dirty", (uintptr_t)own));
		report("private", field("/proc/self/smaps", "Private_Dirty", (uintptr_t)own));
		_exit(0);
	}
	wait(NULL);
	report("clean", field("/proc/self/smaps", "Private_Clean", (uintptr_t)own));
	munmap(memory, 3 * page);
}

static void segments(void)
{
	int segment = shmget(IPC_PRIVATE, 5000, IPC_CREAT | 0600);
	struct shmid_ds status;

	report("lock a segment", shmctl(segment, SHM_LOCK, NULL));
	shmctl(segment, IPC_STAT, &status);
	printf("mode: %o\n", status.shm_perm.mode);
	report("unlock it", shmctl(segment, SHM_UNLOCK, NULL));
	report("by its place", shmctl(segment, SHM_STAT, &status) == segment);
	FILE *file = fopen("/proc/sysvipc/shm", "r");
	char line[300] = "";
	int key, id = -1;
	unsigned mode = 0;
	unsigned long size = 0;
	fgets(line, sizeof(line), file);
	printf("%s", line);
	while (id != segment && fgets(line, sizeof(line), file))
		sscanf(line, "%d %d %o %lu", &key, &id, &mode, &size);
	printf("%o %lu %zu\n", mode, size, strlen(line));
	fclose(file);
	shmctl(segment, IPC_RMID, NULL);
}

static long remap(char *at, size_t size, int protection, size_t page)
{
	return syscall(SYS_remap_file_pages, at, size, protection, page, 0);
}

/* Pages of a file in another order, and what a mapping of zeros permits. */
static void pages(void)
{
	size_t page = 4096;
	int file = open("/tmp/pages", O_RDWR | O_CREAT | O_TRUNC, 0600), zero = open("/dev/zero", O_RDONLY);

	ftruncate(file, 8 * page);
	char *shared = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	char *own = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 8; i++)
		shared[i * page] = 'a' + i;
	report("another page", remap(shared, page, 0, 5));
	report("two pages", remap(shared + 2 * page, 2 * page, 0, 0));
	report("as it was", remap(shared, page, 0, 0));
	for (int i = 0; i < 8; i++)
		printf("%c", shared[i * page]);
	printf("\n");
	report("a protection", remap(shared, page, PROT_READ, 0));
	report("no size", remap(shared, 0, 0, 0));
	report("no pages of that number", remap(shared, page, 0, -1));
	report("private memory", remap(own, page, 0, 0));
	munmap(shared + 6 * page, 2 * page);
	report("beyond the mapping", remap(shared, 8 * page, 0, 0));
	munmap(shared, 6 * page);
	munmap(own, page);
	char *zeros = mmap(NULL, page, PROT_READ, MAP_SHARED, zero, 0);
	report("stores to zeros opened for reading", mprotect(zeros, page, PROT_WRITE));
	report("mapped so", (long)mmap(NULL, page, PROT_WRITE, MAP_SHARED, zero, 0));
	munmap(zeros, page);

	int ends[2];
	struct iovec part = {.iov_len = 50 * page};
	pipe(ends);
	part.iov_base = mmap(NULL, 50 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	report("more than a pipe has room for", vmsplice(ends[1], &part, 1, 0));
	report("without room", vmsplice(ends[1], &part, 1, SPLICE_F_NONBLOCK));
	report("far too large a pipe", fcntl(ends[1], F_SETPIPE_SZ, 0x80000001));
	munmap(part.iov_base, 50 * page);
	close(ends[0]);
	close(ends[1]);
	close(file);
	close(zero);
	unlink("/tmp/pages");
}

/* A timer by the date expires at its instant, also once the date is set. */
static void dates(void)
{
	struct timespec date = {1000000000, 0}, before;
	struct itimerspec time = {0};
	struct pollfd ready = {.events = POLLIN};

	clock_gettime(CLOCK_REALTIME, &before);
	report("set the date", clock_settime(CLOCK_REALTIME, &date));
	ready.fd = timerfd_create(CLOCK_REALTIME, 0);
	time.it_value = (struct timespec){1000000000, 500000000};
	timerfd_settime(ready.fd, TFD_TIMER_ABSTIME, &time, NULL);
	report("ready before", poll(&ready, 1, 0));
	report("ready then", poll(&ready, 1, 2000));
	clock_gettime(CLOCK_REALTIME, &date);
	printf("at its instant: %d\n", date.tv_sec == 1000000000 && date.tv_nsec >= 500000000);
	close(ready.fd);
	clock_settime(CLOCK_REALTIME, &before);
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	operations();
	vectors();
	segments();
	pages();
	dates();
	copied_page();
	locks();
	return 0;
}
