/* Programs by descriptors, and files that are executed or written. */
#define _GNU_SOURCE
#include "check.h"

static char *const environment[] = { NULL };

static long execute_at(int directory, const char *path, const char *argument, int flags)
{
	char *const arguments[] = { "execution", (char *)argument, NULL };

	return syscall(SYS_execveat, directory, path, arguments, environment, flags);
}

/* The result of the call in a child, or the status of the program. */
static void try_at(const char *what, int directory, const char *path, const char *argument, int flags)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		show(what, execute_at(directory, path, argument, flags));
		_exit(7);
	}
	waitpid(child, &status, 0);
	printf("%s: status %x\n", what, status);
	fflush(stdout);
}

static void copy_self(const char *to)
{
	static char bytes[65536];
	int in = open("/proc/self/exe", O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	ssize_t count;

	while ((count = read(in, bytes, sizeof bytes)) > 0)
		if (write(out, bytes, count) != count)
			perror("copy");
	close(in);
	close(out);
}

static void by_descriptors(void)
{
	int directory = open("/tmp/execution", O_RDONLY | O_DIRECTORY);
	int program = open("/tmp/execution/program", O_PATH);
	int closed = open("/tmp/execution/program", O_RDONLY | O_CLOEXEC);

	try_at("absolute", -1, "/tmp/execution/program", "end", 0);
	try_at("working directory", AT_FDCWD, "/tmp/execution/program", "end", 0);
	try_at("relative", directory, "program", "end", 0);
	try_at("descriptor", program, "", "end", AT_EMPTY_PATH);
	try_at("closed", closed, "", "end", AT_EMPTY_PATH);
	try_at("link", directory, "link", "end", 0);
	try_at("no link", directory, "link", "end", AT_SYMLINK_NOFOLLOW);
	try_at("no path", program, "", "end", 0);
	try_at("no descriptor", -1, "program", "end", 0);
	try_at("no directory", program, "program", "end", 0);
	try_at("a directory", directory, "", "end", AT_EMPTY_PATH);
	try_at("absent", directory, "absent", "end", 0);
	try_at("no program", directory, "text", "end", 0);
	try_at("flags", directory, "program", "end", -1);
	close(directory);
	close(program);
	close(closed);
}

static void busy(void)
{
	int ready[2], status, file;
	char byte = 0;
	pid_t child;

	file = open("/tmp/execution/program", O_WRONLY);
	show("to write", file > 0);
	try_at("written", AT_FDCWD, "/tmp/execution/program", "end", 0);
	close(file);
	file = open("/tmp/execution/program", O_RDONLY);
	try_at("read", AT_FDCWD, "/tmp/execution/program", "end", 0);
	close(file);
	pipe(ready);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		dup2(ready[1], 1);
		execute_at(AT_FDCWD, "/tmp/execution/program", "wait", 0);
		_exit(7);
	}
	show("begun", read(ready[0], &byte, 1));
	show("to write", open("/tmp/execution/program", O_WRONLY));
	show("to read and write", open("/tmp/execution/program", O_RDWR));
	show("to create", open("/tmp/execution/program", O_WRONLY | O_CREAT | O_TRUNC, 0755));
	show("to truncate", open("/tmp/execution/program", O_RDONLY | O_TRUNC));
	show("truncate", truncate("/tmp/execution/program", 1));
	file = open("/tmp/execution/program", O_RDONLY);
	show("to read", file > 0);
	close(file);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	file = open("/tmp/execution/program", O_WRONLY);
	show("after its end", file > 0);
	close(file);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		if (strcmp(argv[1], "wait") == 0) {
			write(1, "", 1);
			pause();
		}
		return 3;
	}
	mkdir("/tmp/execution", 0755);
	copy_self("/tmp/execution/program");
	symlink("program", "/tmp/execution/link");
	close(open("/tmp/execution/text", O_WRONLY | O_CREAT, 0755));
	by_descriptors();
	busy();
	unlink("/tmp/execution/program");
	unlink("/tmp/execution/link");
	unlink("/tmp/execution/text");
	rmdir("/tmp/execution");
	return 0;
}
