/* Calls of the administrator: the terminal, the log of the kernel. */
#define _GNU_SOURCE
#include "check.h"

static void calls(void)
{
	static char byte;

	show("close", syscall(SYS_syslog, 0, &byte, 0));
	show("open", syscall(SYS_syslog, 1, &byte, 0));
	show("read", syscall(SYS_syslog, 2, &byte, 0));
	show("read all", syscall(SYS_syslog, 3, &byte, 0));
	show("read to nothing", syscall(SYS_syslog, 2, NULL, 1));
	show("read less than nothing", syscall(SYS_syslog, 3, &byte, -1));
	show("level", syscall(SYS_syslog, 8, NULL, 4));
	show("low level", syscall(SYS_syslog, 8, NULL, 0));
	show("high level", syscall(SYS_syslog, 8, NULL, 9));
	show("unknown", syscall(SYS_syslog, 11, NULL, 0));
	show("unknown", syscall(SYS_syslog, -1, NULL, 0));
}

static void hang_up(void)
{
	setsid();
	show("no terminal", syscall(SYS_vhangup));
}

static void of_another_user(void)
{
	setresuid(1000, 1000, 1000);
	show("another user", syscall(SYS_vhangup));
	calls();
}

int main(void)
{
	calls();
	run_part(hang_up);
	run_part(of_another_user);
	return 0;
}
