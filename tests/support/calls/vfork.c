/* Children of vfork, which have the memory of their parent while it waits. */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

static volatile int word;
static char *volatile heap;

/* A part in a process of its own, and what it leaves in the word. */
static void beside(const char *heading, void (*part)(void))
{
	apart(heading, part);
	printf("word %d\n", word);
}

static void collect(pid_t child)
{
	int status = 0;

	printf("child %d, ", waitpid(child, &status, 0) == child);
	printf("status %x, word %d\n", status, word);
}

static void writes(void)
{
	pid_t child = vfork();
	if (child == 0) {
		word = 1;
		_exit(3);
	}
	collect(child);
}

static void grows(void)
{
	char *before = sbrk(0);
	pid_t child = vfork();
	if (child == 0) {
		heap = sbrk(100000);
		memset(heap, 7, 100000);
		_exit(0);
	}
	collect(child);
	printf("heap %d %d %d\n", heap == before, (char *)sbrk(0) == before + 100000, heap[99999]);
	memset(sbrk(5000), 1, 5000);
}

static void maps(void)
{
	static char *volatile page;
	pid_t child = vfork();
	if (child == 0) {
		page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		*page = 5;
		_exit(0);
	}
	collect(child);
	printf("page %d, unmapped %d\n", *page, munmap(page, 4096));
}

static void is_killed(void)
{
	pid_t child = vfork();
	if (child == 0) {
		word = 2;
		kill(getpid(), SIGSEGV);
		_exit(0);
	}
	collect(child);
}

static void executes(void)
{
	pid_t child = vfork();
	if (child == 0) {
		word = 3;
		execl("/none", "none", NULL);
		execl("/bin/busybox", "busybox", "true", NULL);
		_exit(1);
	}
	word += 10;
	collect(child);
}

static void copies(void)
{
	pid_t child = vfork();
	if (child == 0) {
		int status;
		pid_t inner = fork();
		if (inner == 0) {
			word = 100;
			_exit(4);
		}
		word = 4;
		waitpid(inner, &status, 0);
		_exit(status >> 8);
	}
	collect(child);
}

static void nests(void)
{
	pid_t child = vfork();
	if (child == 0) {
		int status;
		pid_t inner = vfork();
		if (inner == 0)
			_exit(6);
		word = 5;
		waitpid(inner, &status, 0);
		_exit(status >> 8);
	}
	collect(child);
}

/* The lender ends, and its child goes on with its memory. */
static void kills_lender(void)
{
	int ends[2];
	char byte = 0;

	if (pipe(ends) < 0)
		return;
	if (fork() == 0) {
		if (vfork() == 0) {
			kill(getppid(), SIGKILL);
			static volatile int i;

			for (i = 0; i < 50; i++) {
				if (fork() == 0)
					_exit(0);
				word++;
			}
			byte = (char)word;
			_exit(write(ends[1], &byte, 1) < 0);
		}
		_exit(0);
	}
	close(ends[1]);
	wait(NULL);
	printf("read %zd, word %d\n", read(ends[0], &byte, 1), byte);
}

static void again(void)
{
	static volatile int i;

	for (i = 0; i < 100; i++) {
		pid_t child = vfork();
		if (child == 0) {
			word++;
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	printf("word %d\n", word);
}

int main(void)
{
	beside("writes", writes);
	beside("grows", grows);
	beside("maps", maps);
	beside("is killed", is_killed);
	beside("executes", executes);
	beside("copies", copies);
	beside("nests", nests);
	beside("kills lender", kills_lender);
	beside("again", again);
	return 0;
}
