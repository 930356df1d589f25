/* Creation of processes by flags, what they share, and what they keep of their creator. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NONE ((void *)-1L)

struct arguments {
	uint64_t flags, pidfd, child, parent, signal, stack, size, tls, set, count, group;
};

static void report(const char *what, long result)
{
	if (result < 0)
		printf("%s: %s\n", what, strerrorname_np(errno));
	else
		printf("%s: %ld\n", what, result);
}

static long clone3(struct arguments *arguments, size_t size)
{
	return syscall(SYS_clone3, arguments, size);
}

/* The error of a creation; a child that comes to be ends at once. */
static void refused(const char *what, struct arguments *arguments, size_t size)
{
	long child = clone3(arguments, size);

	if (child == 0)
		_exit(0);
	if (child > 0)
		waitpid(child, NULL, __WALL);
	report(what, child > 0 ? 0 : child);
}

static void flags(const char *user)
{
	static const struct {
		const char *name;
		uint64_t flags, signal;
	} cases[] = {
		{"nothing", 0, SIGCHLD},
		{"handlers without memory", CLONE_SIGHAND, SIGCHLD},
		{"thread without handlers", CLONE_THREAD, 0},
		{"directory and mounts", CLONE_FS | CLONE_NEWNS, SIGCHLD},
		{"directory and users", CLONE_FS | CLONE_NEWUSER, SIGCHLD},
		{"thread and numbers", CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_NEWPID, 0},
		{"thread and descriptor", CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_DETACHED, 0},
		{"descriptor without an address", CLONE_PIDFD, SIGCHLD},
		{"signal of a sibling", CLONE_PARENT, SIGCHLD},
		{"a signal that is none", 0, 65},
		{"a low flag", 1, SIGCHLD},
		{"traced by nothing", CLONE_PTRACE | CLONE_UNTRACED, SIGCHLD},
		{"semaphores", CLONE_SYSVSEM, SIGCHLD},
		{"mounts", CLONE_NEWNS, SIGCHLD},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct arguments arguments = {.flags = cases[i].flags, .signal = cases[i].signal,
					      .pidfd = (uintptr_t)NONE};
		char name[64];

		snprintf(name, sizeof(name), "%s: %s", user, cases[i].name);
		refused(name, &arguments, sizeof(arguments));
	}
}

static void structures(void)
{
	struct {
		struct arguments known;
		uint64_t more;
	} later = {.known = {.signal = SIGCHLD}};
	struct arguments arguments = {.signal = SIGCHLD};
	int number = 1;

	refused("too short", &arguments, 63);
	refused("too long", &arguments, 4097);
	refused("a later structure", &later.known, sizeof(later));
	later.more = 1;
	refused("what is not known", &later.known, sizeof(later));
	refused("no structure", NONE, sizeof(arguments));
	arguments.stack = 4096;
	refused("a stack without a size", &arguments, sizeof(arguments));
	arguments.stack = 0;
	arguments.size = 4096;
	refused("a size without a stack", &arguments, sizeof(arguments));
	arguments.size = 0;
	arguments.count = 1;
	refused("numbers without an address", &arguments, sizeof(arguments));
	arguments.set = (uintptr_t)&number;
	arguments.count = 33;
	refused("numbers of too many levels", &arguments, sizeof(arguments));
	arguments.count = 2;
	refused("numbers of two levels", &arguments, sizeof(arguments));
	arguments.count = 1;
	number = -5;
	refused("a number below zero", &arguments, sizeof(arguments));
}

/* A descriptor names the child, which has none. */
static void descriptors(void)
{
	int descriptor = -1, status;
	struct arguments arguments = {
		.flags = CLONE_PIDFD, .pidfd = (uintptr_t)&descriptor, .signal = SIGCHLD};
	struct pollfd poll_of = {.events = POLLIN};
	siginfo_t info;
	long child = clone3(&arguments, sizeof(arguments));

	if (child == 0) {
		pause();
		_exit(1);
	}
	poll_of.fd = descriptor;
	report("ready while it runs", poll(&poll_of, 1, 0));
	report("signal by the descriptor", syscall(SYS_pidfd_send_signal, descriptor, SIGTERM, NULL, 0));
	report("ready at its end", poll(&poll_of, 1, 5000));
	report("waited for", waitid(P_PIDFD, descriptor, &info, WEXITED));
	printf("it is the child: %d, signal %d\n", info.si_pid == child, info.si_status);
	close(descriptor);

	descriptor = -1;
	child = syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, &descriptor, 0, 0);
	if (child == 0)
		_exit(fcntl(descriptor < 0 ? 3 : descriptor, F_GETFD) < 0 ? 7 : 8);
	waitpid(child, &status, 0);
	printf("the child has it: %d\n", WEXITSTATUS(status));
	printf("closed at execve: %d\n", fcntl(descriptor, F_GETFD));
	close(descriptor);
	report("descriptor and number",
	       syscall(SYS_clone, CLONE_PIDFD | CLONE_PARENT_SETTID | SIGCHLD, 0, &descriptor, 0, 0));
}

/* A sibling is waited for by the common parent, with the signal of its creator's end. */
static void siblings(void)
{
	int ends[2], status, count = 0;
	pid_t parent = getpid(), child, seen[2] = {0}, other = 0;

	if (pipe(ends))
		return;
	child = fork();
	if (child == 0) {
		long sibling = syscall(SYS_clone, CLONE_PARENT | SIGUSR1, 0, 0, 0, 0);

		if (sibling == 0)
			_exit(getppid() == parent ? 5 : 6);
		if (write(ends[1], &sibling, sizeof(sibling)) < 0)
			_exit(1);
		_exit(waitpid(sibling, NULL, __WALL) < 0 && errno == ECHILD ? 3 : 4);
	}
	long sibling = 0;
	if (read(ends[0], &sibling, sizeof(sibling)) < 0)
		return;
	while (count < 2 && (other = waitpid(-1, &status, 0)) > 0) {
		seen[other == child ? 0 : 1] = other;
		printf("%s: %d\n", other == child ? "creator" : "sibling", WEXITSTATUS(status));
		count++;
	}
	printf("both: %d\n", seen[0] == child && seen[1] == sibling);
	close(ends[0]);
	close(ends[1]);
}

static void sharing(const char *user)
{
	static const struct {
		const char *name;
		int flags;
	} cases[] = {
		{"nothing", 0}, {"files", CLONE_FILES}, {"directory", CLONE_FS},
		{"semaphores", CLONE_SYSVSEM}, {"memory", CLONE_VM}, {"thread", CLONE_THREAD},
		{"mounts", CLONE_NEWNS}, {"all", -1}, {"signal", SIGCHLD},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s alone: %s", user, cases[i].name);
		report(name, unshare(cases[i].flags));
	}
	report("namespace of no descriptor", setns(77, 0));
	report("namespace of the console", setns(1, 0));
}

static void io_priorities(void)
{
	enum { process = 1, group, user };
	int best = 2 << 13, status;

	/* Alone in its group. */
	setpgid(0, 0);
	report("default", syscall(SYS_ioprio_get, process, 0));
	report("of the group", syscall(SYS_ioprio_get, group, 0));
	report("set", syscall(SYS_ioprio_set, process, 0, best | 3));
	report("read", syscall(SYS_ioprio_get, process, 0));
	pid_t child = fork();
	if (child == 0)
		_exit(syscall(SYS_ioprio_get, process, 0) == (best | 3));
	waitpid(child, &status, 0);
	printf("a child has it: %d\n", WEXITSTATUS(status));
	report("idle", syscall(SYS_ioprio_set, process, 0, 3 << 13));
	report("of the group", syscall(SYS_ioprio_get, group, 0));
	report("none", syscall(SYS_ioprio_set, process, 0, 0));
	report("none with a level", syscall(SYS_ioprio_set, process, 0, 4));
	report("no class", syscall(SYS_ioprio_set, process, 0, 5 << 13));
	report("nothing of that kind", syscall(SYS_ioprio_set, 4, 0, best));
	report("no process", syscall(SYS_ioprio_get, process, 99999));
	report("real time", syscall(SYS_ioprio_set, process, 0, 1 << 13 | 1));
	report("read", syscall(SYS_ioprio_get, process, 0));
}

static int barrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0);
}

static void barriers(void)
{
	int status;

	report("barrier without a registration", barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
	report("registration", barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED));
	report("barrier", barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
	report("of instructions", barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE));
	pid_t child = fork();
	if (child == 0)
		_exit(barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0);
	waitpid(child, &status, 0);
	printf("a child has it: %d\n", WEXITSTATUS(status));
}

static void lists(void)
{
	void *head;
	size_t size;

	report("list of a process that is none", syscall(SYS_get_robust_list, 99999, &head, &size));
	report("list without a place", syscall(SYS_get_robust_list, 0, NULL, &size));
	report("list of the parent", syscall(SYS_get_robust_list, getppid(), &head, &size));
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	flags("root");
	structures();
	descriptors();
	siblings();
	sharing("root");
	io_priorities();
	barriers();
	lists();

	struct timeval now;
	report("time zone", syscall(SYS_gettimeofday, &now, NONE));
	int ids[1] = {0};
	report("groups at no address", syscall(SYS_setgroups, 65536, NONE));
	report("too many groups", syscall(SYS_setgroups, 65537, ids));
	if (setuid(1000))
		return 1;
	prctl(PR_SET_DUMPABLE, 1);
	flags("user");
	sharing("user");
	lists();
	report("real time", syscall(SYS_ioprio_set, 1, 0, 1 << 13));
	report("another's", syscall(SYS_ioprio_set, 1, 1, 2 << 13));
	struct rlimit none = {0, 0};
	report("no queued signals", setrlimit(RLIMIT_SIGPENDING, &none));
	sigset_t set;
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	report("a real-time signal", syscall(SYS_tgkill, getpid(), getpid(), SIGRTMIN));
	report("a standard one", syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1));
	return 0;
}
