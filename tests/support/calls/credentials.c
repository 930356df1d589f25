/* Users, groups, capabilities and permissions of files. */
#define _GNU_SOURCE
#include "check.h"
#include <grp.h>
#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>

static void show_ids(void)
{
	unsigned r = 9, e = 9, s = 9;

	syscall(SYS_getresuid, &r, &e, &s);
	printf("users %d %d %d", (int)r, (int)e, (int)s);
	syscall(SYS_getresgid, &r, &e, &s);
	printf(" groups %d %d %d, %d %d %d %d\n", (int)r, (int)e, (int)s, getuid(), geteuid(), getgid(),
	       getegid());
}

static void show_capabilities(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	show("capget", syscall(SYS_capget, &header, data));
	for (int i = 0; i < 2; i++)
		printf("%x %x %x\n", data[i].effective, data[i].permitted, data[i].inheritable);
}

static void users(void)
{
	show_ids();
	show("setresuid", setresuid(-1, 1000, -1));
	show_ids();
	show_capabilities();
	show("setuid 5", setuid(5));
	show("setresuid back", setresuid(-1, 0, -1));
	show_capabilities();
	show("setreuid", setreuid(1000, 1001));
	show_ids();
	show("setreuid swap", setreuid(1001, 1000));
	show_ids();
	show("setuid 0", setuid(0));
	show("setuid 1001", setuid(1001));
	show("setresuid all", setresuid(1000, 1000, 1000));
	show_ids();
	show("setuid 1001 again", setuid(1001));
	show("setgroups", setgroups(0, NULL));
	show("setgid", setgid(7));
	show("setuid -1", setuid(-1));
}

static void groups(void)
{
	gid_t list[3] = { 30, 10, 20 };

	show("getgroups", getgroups(0, NULL));
	show("setgroups", setgroups(3, list));
	show("too small", getgroups(2, list));
	show("getgroups", getgroups(3, list));
	printf("%d %d %d\n", list[0], list[1], list[2]);
	show("negative", syscall(SYS_getgroups, -1, list));
	show("setregid", setregid(5, 6));
	show_ids();
	show("setfsgid", setfsgid(9));
	show("setfsgid again", setfsgid(6));
	show("setfsuid", setfsuid(77));
	show("setfsuid again", setfsuid(77));
	show("setresgid", setresgid(1, 2, 3));
	show("setuid", setuid(500));
	show("setresgid order", setresgid(2, 3, 1));
	show("setresgid other", setresgid(4, -1, -1));
	show("setgid saved", setgid(1));
	show_ids();
}

static void keep(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { { 1 << CAP_CHOWN, 1 << CAP_CHOWN, 0 } };

	show("keep", prctl(PR_SET_KEEPCAPS, 1));
	show("kept", prctl(PR_GET_KEEPCAPS));
	show("setuid", setuid(1000));
	show_capabilities();
	show("capset", syscall(SYS_capset, &header, data));
	show_capabilities();
	data[0].permitted |= 1 << CAP_KILL;
	show("capset more", syscall(SYS_capset, &header, data));
	header.pid = 1;
	show("capset of another", syscall(SYS_capset, &header, data));
	header.version = 1;
	show("capget of no version", syscall(SYS_capget, &header, data));
	printf("version %x\n", header.version);
	show("bounding", prctl(PR_CAPBSET_READ, CAP_CHOWN));
	show("drop", prctl(PR_CAPBSET_DROP, CAP_CHOWN));
	show("bounding 99", prctl(PR_CAPBSET_READ, 99));
	show("ambient", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0));
	show("dumpable", prctl(PR_GET_DUMPABLE));
	show("no new", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	show("set no new", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	show("no new", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	show("unknown", prctl(12345));
}

static void own(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		show(path, -1);
	else
		printf("%s: %o %d %d\n", path, status.st_mode, status.st_uid, status.st_gid);
}

static void files(void)
{
	int file;

	show("mkdir", mkdir("/tmp/c", 0777));
	chmod("/tmp/c", 0777);
	show("mkdir", mkdir("/tmp/c/private", 0700));
	show("mkdir", mkdir("/tmp/c/sticky", 0777));
	chmod("/tmp/c/sticky", 01777);
	show("mkdir", mkdir("/tmp/c/group", 0777));
	show("chown", chown("/tmp/c/group", 0, 55));
	show("chmod", chmod("/tmp/c/group", 02777));
	close(open("/tmp/c/root", O_WRONLY | O_CREAT, 0644));
	close(open("/tmp/c/secret", O_WRONLY | O_CREAT, 0600));
	close(open("/tmp/c/private/x", O_WRONLY | O_CREAT, 0666));
	close(open("/tmp/c/sticky/root", O_WRONLY | O_CREAT, 0666));
	close(open("/tmp/c/bits", O_WRONLY | O_CREAT, 0755));
	chmod("/tmp/c/bits", 06755);
	own("/tmp/c/bits");
	show("chown", chown("/tmp/c/bits", 1, 1));
	own("/tmp/c/bits");
	show("setgid", setgid(100));
	show("setuid", setuid(1000));
	file = open("/tmp/c/mine", O_RDWR | O_CREAT, 0640);
	show("create", file < 0 ? -1 : 0);
	own("/tmp/c/mine");
	show("fchmod", fchmod(file, 0400));
	show("reopen", open("/tmp/c/mine", O_RDWR));
	show("write still", write(file, "x", 1));
	show("chown away", chown("/tmp/c/mine", 0, -1));
	show("chgrp away", chown("/tmp/c/mine", -1, 5));
	show("chgrp own", chown("/tmp/c/mine", -1, 100));
	show("chmod other's", chmod("/tmp/c/root", 0777));
	show("read other's", open("/tmp/c/root", O_RDONLY) < 0 ? -1 : 0);
	show("write other's", open("/tmp/c/root", O_WRONLY));
	show("truncate other's", truncate("/tmp/c/root", 0));
	show("open with truncation", open("/tmp/c/root", O_RDONLY | O_TRUNC));
	show("read secret", open("/tmp/c/secret", O_RDONLY));
	show("private", open("/tmp/c/private/x", O_RDONLY));
	own("/tmp/c/private/x");
	show("chdir private", chdir("/tmp/c/private"));
	show("unlink in private", unlink("/tmp/c/private/x"));
	show("unlink sticky", unlink("/tmp/c/sticky/root"));
	show("rename sticky", rename("/tmp/c/sticky/root", "/tmp/c/sticky/r"));
	show("unlink", unlink("/tmp/c/root"));
	show("access secret", access("/tmp/c/secret", R_OK));
	show("access exists", access("/tmp/c/secret", F_OK));
	show("access mine", access("/tmp/c/mine", W_OK));
	show("access bad", access("/tmp/c/mine", 077));
	show("mknod", mknod("/tmp/c/null", S_IFCHR | 0666, 0x103));
	show("mkdir in group", mkdir("/tmp/c/group/d", 0755));
	own("/tmp/c/group/d");
	show("touch now", utimensat(AT_FDCWD, "/tmp/c/secret", NULL, 0));
	show("mkdir in root", mkdir("/etc/none", 0777));
	show("link", link("/tmp/c/mine", "/tmp/c/hard"));
	show("execute", execl("/tmp/c/mine", "mine", NULL));
	show("hostname", sethostname("x", 1));
	show("chroot-like", setgroups(0, NULL));
	umask(027);
	close(open("/tmp/c/masked", O_WRONLY | O_CREAT, 0666));
	own("/tmp/c/masked");
}

static int own_user;

static void note_user(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	own_user = info->si_uid;
}

/* A child of a user, which waits. */
static pid_t start(int user)
{
	int ready[2];
	char byte;
	pid_t child;

	pipe(ready);
	child = fork();
	if (child == 0) {
		setuid(user);
		write(ready[1], "", 1);
		for (;;)
			pause();
	}
	read(ready[0], &byte, 1);
	return child;
}

/* Signals of a process without privileges to processes of others. */
static void send_signals(void)
{
	struct sigaction action = { .sa_sigaction = note_user, .sa_flags = SA_SIGINFO };
	pid_t root = start(0), other = start(1001), same = start(1000);
	union sigval value = { 0 };

	sigaction(SIGUSR1, &action, NULL);
	setresuid(1000, 1002, 1002);
	show("to user 0", kill(root, 0));
	show("to the first", kill(1, SIGTERM));
	show("to another", kill(other, SIGKILL));
	show("to its thread", syscall(SYS_tgkill, other, other, SIGKILL));
	show("to a thread", syscall(SYS_tkill, root, SIGTERM));
	show("queued", sigqueue(other, SIGTERM, value));
	show("to continue", kill(other, SIGCONT));
	show("to none", kill(4000000, 0));
	show("to its group", kill(0, 0));
	show("to its own", kill(same, SIGTERM));
	show("to itself", kill(getpid(), SIGUSR1));
	printf("of %d\n", own_user);
	printf("ended %d, %x\n", waitpid(-1, &own_user, 0) == same, own_user);
	setresuid(1002, 1002, 1002);
	show("to all", kill(-1, SIGKILL));
}

/* Ends what the part before has started. */
static void send_signals_and_end(void)
{
	setpgid(0, 0);
	run_part(send_signals);
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	kill(0, SIGCONT);
}

int main(void)
{
	mkdir("/tmp", 01777);
	umask(022);
	apart("users", users);
	apart("groups", groups);
	apart("keep", keep);
	apart("files", files);
	apart("signals", send_signals_and_end);
	return system("/bin/busybox rm -r /tmp/c");
}
