#include "common.h"

volatile sig_atomic_t count, last, code, sender, value, order[32], orders;
void *volatile address;
int ready[2];
char stack[65536] __attribute__((aligned(16)));

const char *result(long r)
{
	static char text[4][64];
	static int next;
	char *to = text[next++ % 4];

	if (r < 0)
		snprintf(to, 64, "error %d", errno);
	else
		snprintf(to, 64, "%ld", r);
	return to;
}

void nap(long ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * MS};

	while (nanosleep(&time, &time))
		;
}

void plain(int signal)
{
	count++;
	last = signal;
	if (orders < 32)
		order[orders++] = signal;
}

void informed(int signal, siginfo_t *info, void *context)
{
	(void)context;
	plain(signal);
	code = info->si_code;
	sender = info->si_pid;
	value = info->si_value.sival_int;
	address = info->si_addr;
}

void handle(int signal, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	if (sigaction(signal, &action, NULL))
		printf("sigaction %d: error %d\n", signal, errno);
}

void handle_informed(int signal, int flags)
{
	struct sigaction action = {.sa_sigaction = informed, .sa_flags = flags | SA_SIGINFO};

	sigaction(signal, &action, NULL);
}

void reset(void)
{
	count = last = code = sender = value = orders = 0;
	address = NULL;
}

pid_t child(void (*act)(void))
{
	fflush(stdout);
	pid_t pid = fork();

	if (pid == 0) {
		act();
		fflush(stdout);
		_exit(0);
	}
	return pid;
}

const char *ending(int status)
{
	static char text[4][64];
	static int next;
	char *to = text[next++ % 4];

	if (WIFEXITED(status))
		snprintf(to, 64, "exit %d", WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		snprintf(to, 64, "signal %d", WTERMSIG(status));
	else if (WIFSTOPPED(status))
		snprintf(to, 64, "stopped %d", WSTOPSIG(status));
	else if (WIFCONTINUED(status))
		snprintf(to, 64, "continued");
	else
		snprintf(to, 64, "status %x", status);
	return to;
}

const char *waited(pid_t pid, int options)
{
	int status = 0;
	pid_t found = waitpid(pid, &status, options);

	if (found < 0)
		return result(found);
	return found == 0 ? "none" : ending(status);
}

void forever(void)
{
	for (;;)
		pause();
}
