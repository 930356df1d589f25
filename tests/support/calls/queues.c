/* Message queues of POSIX. */
#define _GNU_SOURCE
#include "check.h"

#include <mqueue.h>
#include <poll.h>
#include <sys/resource.h>
#include <time.h>

static void pause_for(long milliseconds)
{
	struct timespec time = { 0, milliseconds * 1000000 };

	nanosleep(&time, NULL);
}

static long open_queue(const char *name, int flags, int mode, const struct mq_attr *attributes)
{
	return syscall(SYS_mq_open, name, flags, mode, attributes);
}

static void names(void)
{
	static char name[300];
	struct mq_attr few = { .mq_maxmsg = 2, .mq_msgsize = 8 };
	struct mq_attr none = { .mq_maxmsg = 0, .mq_msgsize = 8 };
	struct mq_attr empty = { .mq_maxmsg = 2, .mq_msgsize = 0 };
	struct mq_attr large = { .mq_maxmsg = 10, .mq_msgsize = 8192 };
	long queue;
	int count;

	show("no queue", open_queue("none", O_RDWR, 0, NULL));
	show("no name", open_queue("", O_RDWR | O_CREAT, 0600, NULL));
	show("slash", open_queue("a/b", O_RDWR | O_CREAT, 0600, NULL));
	show("dot", open_queue(".", O_RDWR, 0600, NULL));
	show("dots", open_queue("..", O_RDWR | O_CREAT, 0600, NULL));
	memset(name, 'n', 255);
	queue = open_queue(name, O_RDWR | O_CREAT, 0600, &few);
	show("long", queue >= 0);
	show("close", close(queue));
	show("remove", mq_unlink("/none"));
	show("remove long", syscall(SYS_mq_unlink, name));
	name[255] = 'n';
	show("too long", open_queue(name, O_RDWR | O_CREAT, 0600, &few));
	show("no messages", open_queue("q", O_RDWR | O_CREAT, 0600, &none));
	show("no bytes", open_queue("q", O_RDWR | O_CREAT, 0600, &empty));
	show("far name", open_queue((char *)8, O_RDWR, 0, NULL));
	show("far attributes", open_queue("q", O_RDWR, 0, (void *)8));
	queue = open_queue("q", O_RDWR | O_CREAT | O_EXCL, 0600, &few);
	show("new", queue >= 0);
	show("closes at execve", fcntl(queue, F_GETFD));
	show("again", open_queue("q", O_RDWR | O_CREAT | O_EXCL, 0600, &few));
	show("any access", open_queue("q", 3, 0, NULL));
	show("remove", mq_unlink("/q"));
	show("remove again", mq_unlink("/q"));
	show("gone", open_queue("q", O_RDWR, 0, NULL));
	show("still open", mq_send(queue, "a", 1, 0));
	show("close", close(queue));
	for (count = 0; count < 20; count++) {
		snprintf(name, sizeof(name), "q%d", count);
		if (open_queue(name, O_RDWR | O_CREAT, 0600, &large) < 0)
			break;
	}
	show("next", open_queue("next", O_RDWR | O_CREAT, 0600, &large));
	show("queues", count);
	while (count-- > 0) {
		snprintf(name, sizeof(name), "q%d", count);
		syscall(SYS_mq_unlink, name);
	}
}

static void permissions(void)
{
	struct mq_attr many = { .mq_maxmsg = 11, .mq_msgsize = 8 };
	struct mq_attr long_ones = { .mq_maxmsg = 2, .mq_msgsize = 8193 };

	show("of root", open_queue("r", O_RDWR | O_CREAT, 0604, &many) >= 0);
	show("user", setuid(1000));
	show("write", open_queue("r", O_WRONLY, 0, NULL));
	show("read", open_queue("r", O_RDONLY, 0, NULL) >= 0);
	show("remove", syscall(SYS_mq_unlink, "r"));
	show("many", open_queue("u", O_RDWR | O_CREAT, 0600, &many));
	show("long", open_queue("u", O_RDWR | O_CREAT, 0600, &long_ones));
	show("own", open_queue("u", O_RDWR | O_CREAT, 0, NULL) >= 0);
	show("not permitted", open_queue("u", O_RDONLY, 0, NULL));
	show("remove", syscall(SYS_mq_unlink, "u"));
}

static void show_message(long queue)
{
	char bytes[16] = "";
	unsigned priority = 99;
	long length = mq_receive(queue, bytes, 16, &priority);

	show("receive", length);
	printf("%.16s, priority %u\n", bytes, priority);
}

static void show_attributes(long queue)
{
	struct mq_attr now;

	show("attributes", mq_getattr(queue, &now));
	printf("flags %lo, %ld of %ld messages of %ld\n", now.mq_flags, now.mq_curmsgs, now.mq_maxmsg,
	       now.mq_msgsize);
}

static void messages(void)
{
	struct mq_attr attributes = { .mq_maxmsg = 4, .mq_msgsize = 16 };
	struct timespec past = { 1, 0 }, invalid = { 1, 1000000000 }, soon;
	char bytes[32];
	long queue, reader, writer;
	struct pollfd poll_one;
	pid_t child;
	int code;

	queue = open_queue("m", O_RDWR | O_CREAT, 0600, &attributes);
	reader = open_queue("m", O_RDONLY | O_NONBLOCK, 0, NULL);
	writer = open_queue("m", O_WRONLY | O_NONBLOCK, 0, NULL);
	poll_one = (struct pollfd){ queue, POLLIN | POLLOUT, 0 };
	show("send", mq_send(queue, "low", 4, 1));
	show("send", mq_send(queue, "high", 5, 7));
	show("send", mq_send(queue, "low too", 8, 1));
	show("poll", poll(&poll_one, 1, 0));
	printf("events %x\n", poll_one.revents & (POLLIN | POLLOUT));
	show("send", mq_send(queue, "", 0, 32767));
	show("poll", poll(&poll_one, 1, 0));
	printf("events %x\n", poll_one.revents & (POLLIN | POLLOUT));
	show("too high", mq_send(queue, "x", 1, 32768));
	show("too long", mq_send(queue, bytes, 17, 0));
	show("far", mq_send(queue, (char *)8, 4, 0));
	show("full", mq_send(writer, "x", 1, 0));
	show("full, past", mq_timedsend(queue, "x", 1, 0, &past));
	show("full, invalid", mq_timedsend(queue, "x", 1, 0, &invalid));
	show("far time", mq_timedsend(queue, "x", 1, 0, (void *)8));
	show_attributes(queue);
	show_attributes(reader);
	show("too short", mq_receive(queue, bytes, 15, NULL));
	show("write only", mq_receive(writer, bytes, 32, NULL));
	show("read only", mq_send(reader, "x", 1, 0));
	show("no queue", mq_send(0, "x", 1, 0));
	show("no descriptor", mq_send(99, "x", 1, 0));
	for (int index = 0; index < 4; index++)
		show_message(queue);
	show("empty", mq_receive(reader, bytes, 16, NULL));
	show("empty, past", mq_timedreceive(queue, bytes, 16, NULL, &past));
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_nsec += 20000000;
	soon.tv_sec += soon.tv_nsec / 1000000000;
	soon.tv_nsec %= 1000000000;
	show("empty, soon", mq_timedreceive(queue, bytes, 16, NULL, &soon));
	show("far receipt", mq_send(queue, "x", 1, 0));
	show("far", mq_receive(queue, (char *)8, 16, NULL));
	show_attributes(queue);
	attributes.mq_flags = O_NONBLOCK;
	show("set", mq_setattr(queue, &attributes, NULL));
	show_attributes(queue);
	show("empty", mq_receive(queue, bytes, 16, NULL));
	attributes.mq_flags = O_APPEND;
	show("set others", mq_setattr(queue, &attributes, NULL));
	attributes.mq_flags = 0;
	mq_setattr(queue, &attributes, NULL);
	child = fork();
	if (child == 0) {
		show_message(queue);
		for (int index = 0; index < 5; index++)
			show("send", mq_send(queue, "many", 5, 0));
		_exit(3);
	}
	pause_for(20);
	show("send", mq_send(queue, "to a child", 11, 0));
	pause_for(50);
	for (int index = 0; index < 5; index++)
		mq_receive(queue, bytes, 16, NULL);
	waitpid(child, &code, 0);
	printf("child %d\n", WEXITSTATUS(code));
	show("remove", mq_unlink("/m"));
}

static volatile int signals;

static void counts(int signal)
{
	(void)signal;
	signals++;
}

static void interrupted(void)
{
	struct sigaction action = { .sa_handler = counts };
	struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = 16 };
	long queue = open_queue("i", O_RDWR | O_CREAT, 0600, &attributes);
	char bytes[16];

	sigaction(SIGALRM, &action, NULL);
	ualarm(20000, 0);
	show("interrupted", mq_receive(queue, bytes, 16, NULL));
	mq_send(queue, "x", 1, 0);
	ualarm(20000, 0);
	show("interrupted", mq_send(queue, "x", 1, 0));
	show("remove", mq_unlink("/i"));
}

static void notices(void)
{
	struct mq_attr attributes = { .mq_maxmsg = 4, .mq_msgsize = 16 };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct sigevent none = { .sigev_notify = SIGEV_NONE };
	struct timespec time = { 0, 20000000 };
	siginfo_t info = { 0 };
	sigset_t set;
	pid_t child;
	long queue, other;
	char bytes[16];
	int ends[2];

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	queue = open_queue("n", O_RDWR | O_CREAT, 0600, &attributes);
	other = open_queue("n", O_RDWR, 0, NULL);
	event.sigev_value.sival_int = 77;
	show("notify", mq_notify(queue, &event));
	show("busy", mq_notify(queue, &event));
	show("busy", mq_notify(other, &none));
	child = fork();
	if (child == 0) {
		show("not the child's", mq_notify(queue, NULL));
		mq_send(queue, "x", 1, 0);
		mq_send(queue, "x", 1, 0);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	show("signal", sigtimedwait(&set, &info, &time));
	printf("code %d, value %d, of the child %d\n", info.si_code, info.si_value.sival_int,
	       info.si_pid == child);
	show("once", sigtimedwait(&set, &info, &time));
	show("notify", mq_notify(queue, &event));
	mq_send(queue, "x", 1, 0);
	show("not empty", sigtimedwait(&set, &info, &time));
	for (int index = 0; index < 3; index++)
		mq_receive(queue, bytes, 16, NULL);
	show("still", mq_notify(queue, &event));
	show("end", mq_notify(queue, NULL));
	show("end again", mq_notify(queue, NULL));
	show("without a signal", mq_notify(queue, &none));
	mq_send(queue, "x", 1, 0);
	show("free again", mq_notify(queue, &event));
	mq_receive(queue, bytes, 16, NULL);
	child = fork();
	if (child == 0) {
		mq_receive(queue, bytes, 16, NULL);
		_exit(0);
	}
	pause_for(20);
	mq_send(queue, "x", 1, 0);
	waitpid(child, NULL, 0);
	show("to a receiver", sigtimedwait(&set, &info, &time));
	show("busy", mq_notify(other, &event));
	show("close", close(queue));
	show("free again", mq_notify(other, &event));
	mq_notify(other, NULL);
	child = fork();
	if (child == 0)
		_exit(mq_notify(other, &event));
	waitpid(child, NULL, 0);
	show("its process has ended", mq_notify(other, &event));
	queue = open_queue("n", O_RDWR, 0, NULL);
	show("notify", mq_notify(queue, &event));
	show("close another", close(other));
	show("free again", mq_notify(queue, &event));
	other = dup(queue);
	show("close a copy", close(queue));
	show("free again", mq_notify(other, &event));
	child = fork();
	if (child == 0)
		_exit(close(other));
	waitpid(child, NULL, 0);
	show("closed by a child", mq_notify(other, &event));
	mq_notify(other, NULL);
	pipe(ends);
	child = fork();
	if (child == 0) {
		mq_notify(other, &event);
		dup2(ends[1], 50);
		execl("/proc/self/exe", "queues", "waits", NULL);
	}
	read(ends[0], bytes, 1);
	show("another program", mq_notify(other, &event));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	event.sigev_signo = 65;
	show("no signal", mq_notify(other, &event));
	event.sigev_notify = 9;
	show("no kind", mq_notify(other, &event));
	show("no queue", mq_notify(0, NULL));
	show("far", syscall(SYS_mq_notify, other, 8));
	show("remove", mq_unlink("/n"));
}

/* A receiver without a place for a message loses it: a sender that waits has the room. */
static void lost(void)
{
	struct mq_attr one = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	long queue = open_queue("f", O_RDWR | O_CREAT, 0600, &one);
	pid_t child;
	int code = 1;

	show("send", mq_send(queue, "a", 1, 0));
	child = fork();
	if (child == 0)
		_exit(mq_send(queue, "b", 1, 0) != 0);
	pause_for(20);
	show("far buffer", syscall(SYS_mq_timedreceive, queue, (void *)8, 8, NULL, NULL));
	show("sender", waitpid(child, &code, 0) == child ? code : -1);
	show_message(queue);
	show("remove", mq_unlink("/f"));
}

int main(int count, char **arguments)
{
	(void)arguments;
	if (count > 1) {
		write(50, "", 1);
		pause();
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	run_part(names);
	run_part(permissions);
	run_part(messages);
	run_part(interrupted);
	run_part(notices);
	run_part(lost);
	mq_unlink("/r");
	return 0;
}
