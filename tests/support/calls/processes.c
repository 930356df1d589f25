/* Files of /proc, by their shape and by what is the same on each kernel. */
#define _GNU_SOURCE
#include "check.h"
#include <dirent.h>
#include <pthread.h>

static char text[65536];

/* Reads a file by parts. */
static long get(const char *path)
{
	long size = 0, count;
	int file = open(path, O_RDONLY);

	text[0] = 0;
	if (file < 0) {
		show(path, -1);
		return -1;
	}
	while ((count = read(file, text + size, 100)) > 0)
		size += count;
	if (count < 0)
		show(path, -1);
	text[size] = 0;
	close(file);
	return size;
}

/* Prints a line that begins with a word. */
static void line(const char *word)
{
	char *at = strstr(text, word), *end;

	if (at == NULL) {
		printf("%s is missing\n", word);
		return;
	}
	end = strchr(at, '\n');
	printf("%.*s\n", (int)(end - at), at);
}

static int words(const char *from)
{
	int count = 0;

	for (; *from && *from != '\n'; from++)
		count += (*from != ' ' && *from != '\t') && (from[1] == ' ' || from[1] == '\t' || from[1] == '\n');
	return count;
}

static void link_of(const char *path)
{
	char target[256];
	long size = readlink(path, target, sizeof(target) - 1);
	char *digit;

	if (size < 0) {
		show(path, -1);
		return;
	}
	target[size] = 0;
	digit = strchr(target, '[');
	if (digit)
		digit[1] = 0;
	printf("%s -> %s\n", path, target);
}

static void exists(const char *path)
{
	struct stat status;

	if (lstat(path, &status) < 0)
		show(path, -1);
	else
		printf("%s: %o\n", path, status.st_mode);
}

static int entries(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	int count = 0;

	if (directory == NULL)
		return -1;
	while ((entry = readdir(directory)) != NULL)
		count += entry->d_name[0] != '.';
	closedir(directory);
	return count;
}

static void *wait_for(void *end)
{
	char byte;

	return (void *)read(*(int *)end, &byte, 1);
}

/* The letters of the states of a thread that reads, and of the first one, which waits for it. */
static void *show_states(void *sleeper)
{
	char name[64];

	for (int turn = 0; turn < 3; turn++) {
		int number = turn == 0 ? *(int *)sleeper : turn == 1 ? gettid() : getpid();

		snprintf(name, sizeof(name), "/proc/self/task/%d/stat", number);
		do
			get(name);
		while (turn != 1 && strstr(text, ") S") == NULL);
		printf("state %.3s\n", strrchr(text, ')'));
	}
	get("/proc/self/stat");
	printf("state %.3s\n", strrchr(text, ')'));
	return NULL;
}

static void *sleeps(void *number)
{
	*(int *)number = gettid();
	pause();
	return NULL;
}

/* Each thread has a state of its own; that of a process is the state of its first thread. */
static void states(void)
{
	volatile int number = 0;
	pthread_t sleeper, reader;

	pthread_create(&sleeper, NULL, sleeps, (void *)&number);
	while (number == 0)
		sched_yield();
	pthread_create(&reader, NULL, show_states, (void *)&number);
	pthread_join(reader, NULL);
	pthread_cancel(sleeper);
	pthread_join(sleeper, NULL);
}

static void own(void)
{
	char expected[64], name[64];
	int file, ends[2], number;
	pthread_t thread;
	long size;

	show("chdir", chdir("/"));
	get("/proc/self/stat");
	snprintf(expected, sizeof(expected), "%d (processes) R %d %d %d ", getpid(), getppid(), getpgrp(),
		 getsid(0));
	printf("stat %d, %d words\n", strncmp(text, expected, strlen(expected)), words(text));
	get("/proc/self/status");
	line("Name:");
	line("Umask:");
	line("State:");
	line("TracerPid:");
	line("Uid:");
	line("Gid:");
	line("Threads:");
	line("CapEff:");
	line("NoNewPrivs:");
	get("/proc/self/statm");
	printf("statm %d words\n", words(text));
	get("/proc/self/maps");
	printf("maps %d %d %d\n", strstr(text, "r-xp 0000") != NULL, strstr(text, "[stack]\n") != NULL,
	       strstr(text, "/processes\n") != NULL);
	show("malloc", malloc(100) == NULL);
	get("/proc/self/maps");
	printf("heap %d\n", strstr(text, "[heap]\n") != NULL);
	size = get("/proc/self/cmdline");
	printf("cmdline %ld %s\n", size, text);
	get("/proc/self/environ");
	printf("environ %d\n", strstr(text, "PATH=") == text || getenv("PATH") != NULL);
	get("/proc/self/comm");
	printf("comm %s", text);
	file = open("/proc/self/comm", O_WRONLY);
	show("write", write(file, "renamed\n", 8));
	close(file);
	get("/proc/self/comm");
	printf("comm %s", text);
	get("/proc/self/limits");
	line("Limit");
	line("Max stack size");
	line("Max core file size");
	get("/proc/self/mounts");
	line("proc /proc proc rw");
	link_of("/proc/self/cwd");
	link_of("/proc/self/root");
	link_of("/proc/self/exe");
	link_of("/proc/self/fd/9");
	file = open("/etc/start", O_RDONLY | O_CLOEXEC);
	lseek(file, 5, SEEK_SET);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", file);
	dup2(file, 9);
	link_of("/proc/self/fd/9");
	exists("/proc/self/fd/9");
	get("/proc/self/fdinfo/9");
	line("pos:");
	line("flags:");
	number = open("/proc/self/fd/9", O_RDONLY);
	show("reopened at its start", lseek(number, 0, SEEK_CUR));
	show("pipe", pipe(ends));
	dup2(ends[0], 8);
	link_of("/proc/self/fd/8");
	dup2(ends[1], 7);
	number = open("/proc/self/fd/7", O_WRONLY);
	show("write to the pipe", write(number, "x", 1));
	show("read it", read(8, name, 1));
	printf("fd %d\n", entries("/proc/self/fd") >= 8);
	printf("task %d\n", entries("/proc/self/task"));
	pthread_create(&thread, NULL, wait_for, ends);
	printf("task %d\n", entries("/proc/self/task"));
	get("/proc/self/status");
	line("Threads:");
	show("end", write(ends[1], "x", 1));
	pthread_join(thread, NULL);
	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", getpid());
	printf("thread %d\n", get(name) > 0);
	show("directory", chdir("/proc/self"));
	printf("relative %ld\n", get("comm"));
	show("up", chdir(".."));
	printf("relative %ld\n", get("self/comm"));
	chdir("/");
	for (int i = 3; i < 32; i++)
		close(i);
}

static void others(void)
{
	char name[64];
	int child, file, ends[2], directory;

	show("pipe", pipe(ends));
	child = fork();
	if (child == 0)
		_exit(read(ends[0], name, 1));
	usleep(20000);
	snprintf(name, sizeof(name), "/proc/%d/stat", child);
	get(name);
	printf("sleeps %d\n", strstr(text, ") S ") != NULL);
	file = open(name, O_RDONLY);
	name[strlen(name) - 5] = 0;
	directory = open(name, O_RDONLY | O_DIRECTORY);
	show("opened", file < 0 || directory < 0);
	write(ends[1], "x", 1);
	usleep(20000);
	lseek(file, 0, SEEK_SET);
	show("a zombie is read", read(file, text, 100) > 0);
	strcat(name, "/status");
	get(name);
	line("State:");
	show("wait", wait(NULL) == child);
	show("its file", open(name, O_RDONLY));
	lseek(file, 0, SEEK_SET);
	show("read after its end", read(file, text, 100));
	show("in its directory", openat(directory, "stat", O_RDONLY));
	close(file);
	close(directory);
	close(ends[0]);
	close(ends[1]);
}

static void system_files(void)
{
	int file, again;
	char byte[2];

	get("/proc/uptime");
	printf("uptime %d words\n", words(text));
	get("/proc/loadavg");
	printf("loadavg %d words\n", words(text));
	get("/proc/meminfo");
	for (int i = 0; i < 3; i++)
		printf("%s %d\n", (char *[]){ "MemTotal:", "MemFree:", "SwapTotal:" }[i],
		       strstr(text, (char *[]){ "MemTotal:", "MemFree:", "SwapTotal:" }[i]) != NULL);
	get("/proc/stat");
	printf("cpu %d, %d\n", strncmp(text, "cpu  ", 5), words(text));
	printf("btime %d\n", strstr(text, "\nbtime ") != NULL);
	get("/proc/cpuinfo");
	printf("processor %d\n", strncmp(text, "processor\t: 0\n", 14));
	get("/proc/version");
	printf("version %d\n", strncmp(text, "Linux version ", 14));
	get("/proc/filesystems");
	line("nodev\tproc");
	get("/proc/sys/kernel/ostype");
	printf("%s", text);
	get("/proc/sys/kernel/pid_max");
	printf("pid_max %d\n", atoi(text) >= 32768);
	printf("uuid %ld\n", get("/proc/sys/kernel/random/uuid"));
	printf("boot_id %ld\n", get("/proc/sys/kernel/random/boot_id"));
	get("/proc/sys/kernel/random/entropy_avail");
	printf("entropy %s", text);
	file = open("/proc/sys/kernel/hostname", O_WRONLY | O_TRUNC);
	show("set the name", write(file, "plant\n", 6));
	close(file);
	get("/proc/sys/kernel/hostname");
	printf("%s", text);
	link_of("/proc/mounts");
	exists("/proc");
	exists("/proc/self");
	exists("/proc/stat");
	exists("/proc/none");
	exists("/proc/999999");
	exists("/proc/self/fd");
	exists("/proc/self/environ");
	show("create", open("/proc/new", O_WRONLY | O_CREAT, 0600));
	show("mkdir", mkdir("/proc/new", 0700));
	show("remove", unlink("/proc/self/stat"));
	show("rename", rename("/proc/self/stat", "/proc/self/new"));
	/* Each description has a content of its own. */
	file = open("/proc/self/comm", O_RDONLY);
	again = open("/proc/self/comm", O_RDONLY);
	read(file, byte, 2);
	read(again, byte, 1);
	show("a byte", byte[0]);
	read(file, byte, 1);
	show("the third one", byte[0]);
	show("from an offset", pread(again, byte, 1, 1));
	show("it is", byte[0]);
	close(file);
	close(again);
	if (fork() == 0) {
		setuid(1000);
		show("another's environment", open("/proc/1/environ", O_RDONLY));
		show("another's descriptors", open("/proc/1/fd", O_RDONLY));
		show("another's state", open("/proc/1/stat", O_RDONLY) < 0 ? -1 : 0);
		show("the name", open("/proc/sys/kernel/hostname", O_WRONLY));
		_exit(0);
	}
	wait(NULL);
}

int main(void)
{
	own();
	states();
	others();
	system_files();
	return 0;
}
