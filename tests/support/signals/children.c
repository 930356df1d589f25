#include "common.h"

/* Groups and sessions. */

static void seven(void)
{
	_exit(7);
}

static void in_session(void)
{
	pid_t own = setsid();

	printf("a session: %d %d %d\n", own == getpid(), getpgrp() == own, getsid(0) == own);
	printf("a session twice: %s\n", result(setsid()));
	printf("the leader's group: %s\n", result(setpgid(0, getppid())));
}

static void runs_another(void)
{
	close(ready[0]);
	fcntl(ready[1], F_SETFD, FD_CLOEXEC);
	execl("/bin/busybox", "sleep", "5", NULL);
}

void groups(void)
{
	pid_t pid, other;
	siginfo_t info;
	char byte;

	pid = child(forever);
	printf("a child's group: %d\n", getpgid(pid) == getpgrp());
	printf("a group: %s %d\n", result(setpgid(pid, 0)), getpgid(pid) == pid);
	other = child(forever);
	printf("another in it: %s %d\n", result(setpgid(other, pid)), getpgid(other) == pid);
	printf("no group: %s\n", result(setpgid(other, 1 << 20)));
	printf("below zero: %s\n", result(setpgid(other, -1)));
	printf("no process: %s %s %s\n", result(setpgid(1 << 20, 0)), result(getpgid(1 << 20)),
	       result(getsid(1 << 20)));
	printf("not a child: %s\n", result(setpgid(getppid(), 0)));
	printf("none ended: %s\n", waited(-pid, WNOHANG));
	printf("to the group: %s\n", result(kill(-pid, SIGTERM)));
	printf("of the group: %s %s %s\n", waited(-pid, 0), waited(-pid, 0), waited(-pid, 0));
	printf("no such group: %s\n", result(kill(-pid, 0)));

	pid = child(in_session);
	printf("%s\n", waited(pid, 0));

	pipe(ready);
	pid = child(runs_another);
	close(ready[1]);
	read(ready[0], &byte, 1);
	close(ready[0]);
	printf("after execve: %s\n", result(setpgid(pid, 0)));
	kill(pid, SIGKILL);
	printf("%s\n", waited(pid, 0));

	pid = child(seven);
	memset(&info, 0, sizeof info);
	printf("kept: %s", result(waitid(P_PID, pid, &info, WEXITED | WNOWAIT)));
	printf(" %d %d %d %d\n", info.si_signo, info.si_code, info.si_status, info.si_pid == pid);
	printf("an ended one: %s\n", result(kill(pid, SIGKILL)));
	printf("then: %s, then: %s\n", waited(pid, 0), waited(pid, 0));
	memset(&info, 0, sizeof info);
	pid = child(forever);
	printf("at once: %s", result(waitid(P_ALL, 0, &info, WEXITED | WNOHANG)));
	printf(" %d %d\n", info.si_signo, info.si_pid);
	printf("no options: %s\n", result(waitid(P_ALL, 0, &info, 0)));
	printf("a wrong kind: %s\n", result(waitid(9, 1, &info, WEXITED)));
	printf("wrong options: %s\n", result(waitpid(-1, NULL, 0x40)));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	printf("%s\n", waited(-1, 0));
}

/* Stop and continue. */

static void stops_itself(void)
{
	raise(SIGSTOP);
	_exit(3);
}

void stops(void)
{
	siginfo_t info;
	pid_t pid;

	reset();
	handle_informed(SIGCHLD, SA_RESTART);
	pid = child(stops_itself);
	printf("a stop: %s\n", waited(pid, WUNTRACED));
	printf("by signal: %d %d %d %d\n", count, last == SIGCHLD, code == CLD_STOPPED, sender == pid);
	printf("once: %s\n", waited(pid, WUNTRACED | WNOHANG));
	kill(pid, SIGCONT);
	printf("on: %s\n", waited(pid, WCONTINUED));
	printf("end: %s\n", waited(pid, 0));

	handle(SIGCHLD, SIG_DFL, 0);
	pid = child(forever);
	/* A stop of an orphaned group is ignored, and that of this program may be one. */
	setpgid(pid, pid);
	kill(pid, SIGTSTP);
	memset(&info, 0, sizeof info);
	waitid(P_PID, pid, &info, WSTOPPED);
	printf("by waitid: %d %d\n", info.si_code == CLD_STOPPED, info.si_status);
	kill(pid, SIGTERM);
	printf("still: %s\n", waited(pid, WNOHANG));
	kill(pid, SIGCONT);
	printf("at its end: %s\n", waited(pid, 0));

	pid = child(forever);
	kill(pid, SIGSTOP);
	printf("%s\n", waited(pid, WUNTRACED));
	kill(pid, SIGKILL);
	printf("killed: %s\n", waited(pid, 0));

	reset();
	handle_informed(SIGCHLD, SA_RESTART | SA_NOCLDSTOP);
	pid = child(stops_itself);
	printf("%s", waited(pid, WUNTRACED));
	printf(" without a signal: %d\n", count);
	kill(pid, SIGCONT);
	printf("%s", waited(pid, 0));
	printf(" with one: %d %d\n", count, code == CLD_EXITED);
	handle(SIGCHLD, SIG_DFL, 0);
}

/* Children that are not waited for. */

void children(void)
{
	pid_t pid;

	handle(SIGCHLD, SIG_IGN, 0);
	pid = child(seven);
	printf("ignored: %s\n", waited(pid, 0));
	reset();
	handle(SIGCHLD, plain, SA_NOCLDWAIT | SA_RESTART);
	pid = child(seven);
	printf("without waiting: %s", waited(pid, 0));
	printf(" %d\n", count);
	handle(SIGCHLD, SIG_DFL, 0);
	pid = child(abort);
	printf("abort: %s\n", waited(pid, 0));
}
