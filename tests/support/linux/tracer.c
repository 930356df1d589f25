/* A minimal debugger: stops a running program, inspects it, and finally ends it. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int number, char **arguments)
{
	pid_t it = number > 2 ? atoi(arguments[1]) : 0;
	unsigned long end = number > 2 ? strtoul(arguments[2], NULL, 16) : 0;
	struct user_regs_struct regs;
	struct iovec place = { &regs, sizeof(regs) };
	int status, i;

	for (i = 0; i < 3; i++) {
		if (ptrace(PTRACE_ATTACH, it, 0, 0))
			return perror("attach"), 1;
		waitpid(it, &status, __WALL);
		printf("stopped by %d\n", WSTOPSIG(status));
		ptrace(PTRACE_GETREGSET, it, NT_PRSTATUS, &place);
		/* The program is statically linked: its code is at low addresses, its stack at high ones. */
		printf("%s\n", regs.pc < 0x1000000 && regs.sp > 0xffff00000000 ? "running" : "WRONG");
		if (i == 2)
			ptrace(PTRACE_POKEDATA, it, end, 1);
		ptrace(PTRACE_DETACH, it, 0, 0);
		usleep(50000);
	}
	return 0;
}
