/* Who may signal, descriptors of signals and processes, ends of parents, timers and limits of execution. */
#define _GNU_SOURCE
#include "check.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

static volatile sig_atomic_t seen;
static volatile uid_t sender;

static void handle(int signal, siginfo_t *info, void *context)
{
	(void)context;
	seen = signal;
	sender = info->si_uid;
}

static void catch(int signal)
{
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART };

	sigaction(signal, &action, NULL);
}

static sigset_t set_of(int one, int other)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, one);
	if (other)
		sigaddset(&set, other);
	return set;
}

static void block(int one, int other)
{
	sigset_t set = set_of(one, other);

	sigprocmask(SIG_BLOCK, &set, NULL);
}

static void pause_for(long milliseconds)
{
	struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static void permissions(void)
{
	siginfo_t info = { .si_code = SI_QUEUE };
	int other, child;

	catch(SIGUSR1);
	other = fork();
	if (other == 0) {
		setpgid(0, 0);
		for (;;)
			pause();
	}
	pause_for(5);
	child = fork();
	if (child == 0) {
		setgid(100);
		setuid(1000);
		show("kill", kill(other, SIGTERM));
		show("none", kill(other, 0));
		show("group", kill(-other, SIGTERM));
		show("continue", kill(other, SIGCONT));
		show("thread", syscall(SYS_tkill, other, SIGTERM));
		show("thread of", syscall(SYS_tgkill, other, other, SIGTERM));
		show("queue", syscall(SYS_rt_sigqueueinfo, other, SIGTERM, &info));
		show("init", kill(1, SIGTERM));
		show("no process", kill(4000000, SIGTERM));
		setsid();
		show("continue", kill(other, SIGCONT));
		show("own", kill(getpid(), 0));
		child = fork();
		if (child == 0) {
			for (;;)
				pause();
		}
		show("same user", kill(child, SIGTERM));
		wait(NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	child = fork();
	if (child == 0) {
		setresuid(1000, 1000, 0);
		setresuid(-1, 0, -1);
		show("with a capability", kill(getppid(), SIGUSR1));
		_exit(0);
	}
	waitpid(child, NULL, 0);
	show("seen", seen);
	show("of user", sender);
	show("kill", kill(other, SIGKILL));
	waitpid(other, NULL, 0);
}

static void say(const char *what, const struct signalfd_siginfo *info)
{
	printf("%s: %u %d own %d %u value %x %d status %d\n", what, info->ssi_signo, info->ssi_code,
	       info->ssi_pid == (uint32_t)getpid(), info->ssi_uid, (unsigned)info->ssi_ptr, info->ssi_int,
	       info->ssi_status);
}

static void descriptors_of_signals(void)
{
	struct signalfd_siginfo info[3];
	struct epoll_event event = { .events = EPOLLIN };
	struct pollfd entry = { .events = POLLIN };
	sigset_t set = set_of(SIGUSR1, SIGRTMIN), one = set_of(SIGCHLD, 0);
	union sigval value = { .sival_int = 5 };
	int file, poll_file = epoll_create1(0);
	long count;

	show("flags", syscall(SYS_signalfd4, -1, &set, 8, 1));
	show("size", syscall(SYS_signalfd4, -1, &set, 4, 0));
	show("no descriptor", signalfd(99, &set, 0));
	show("none of it", signalfd(0, &set, 0));
	block(SIGUSR1, SIGRTMIN);
	block(SIGCHLD, 0);
	file = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	show("open", file < 0 ? -1 : 0);
	show("flags", fcntl(file, F_GETFD));
	show("nothing", read(file, info, sizeof(info)));
	entry.fd = file;
	show("poll", poll(&entry, 1, 0));
	show("watch", epoll_ctl(poll_file, EPOLL_CTL_ADD, file, &event));
	show("events", epoll_wait(poll_file, &event, 1, 0));
	kill(getpid(), SIGUSR1);
	show("poll", poll(&entry, 1, 0));
	printf("%x\n", entry.revents);
	show("events", epoll_wait(poll_file, &event, 1, 0));
	show("short", read(file, info, 100));
	sigqueue(getpid(), SIGRTMIN, value);
	value.sival_int = 6;
	sigqueue(getpid(), SIGRTMIN, value);
	count = read(file, info, sizeof(info));
	show("read", count);
	for (int i = 0; i < count / (long)sizeof(*info); i++)
		say("signal", info + i);
	show("nothing", read(file, info, sizeof(info)));
	show("poll", poll(&entry, 1, 0));
	show("write", write(file, info, sizeof(info)));
	show("others", signalfd(file, &one, 0) == file);
	kill(getpid(), SIGUSR1);
	show("nothing", read(file, info, sizeof(info)));
	fcntl(file, F_SETFL, 0);
	if (fork() == 0) {
		pause_for(5);
		_exit(3);
	}
	show("wait", read(file, info, sizeof(info)));
	say("child", info);
	wait(NULL);
	show("rest", sigtimedwait(&set, NULL, &(struct timespec){}));
	show("close", close(file));
}

static void descriptors_of_processes(void)
{
	struct pollfd entry = { .events = POLLIN };
	siginfo_t info = {};
	int child = fork(), file, ends[2], other;
	char byte;

	if (child == 0) {
		for (;;)
			pause();
	}
	show("none", syscall(SYS_pidfd_open, 0, 0));
	show("negative", syscall(SYS_pidfd_open, -1, 0));
	show("no process", syscall(SYS_pidfd_open, 4000000, 0));
	show("flags", syscall(SYS_pidfd_open, child, 1));
	file = syscall(SYS_pidfd_open, child, 0);
	show("open", file < 0 ? -1 : 0);
	show("flags", fcntl(file, F_GETFD));
	show("read", read(file, &byte, 1));
	entry.fd = file;
	show("poll", poll(&entry, 1, 0));
	show("signal flags", syscall(SYS_pidfd_send_signal, file, SIGUSR1, NULL, 1));
	show("no signal", syscall(SYS_pidfd_send_signal, file, 99, NULL, 0));
	show("of none", syscall(SYS_pidfd_send_signal, 0, SIGUSR1, NULL, 0));
	show("no descriptor", syscall(SYS_pidfd_send_signal, 99, SIGUSR1, NULL, 0));
	info.si_signo = SIGUSR2;
	show("another signal", syscall(SYS_pidfd_send_signal, file, SIGUSR1, &info, 0));
	show("of the kernel", syscall(SYS_pidfd_send_signal, file, SIGUSR2, &info, 0));
	show("look", syscall(SYS_pidfd_send_signal, file, 0, NULL, 0));
	pipe(ends);
	show("not there", syscall(SYS_pidfd_getfd, file, ends[1], 0));
	other = syscall(SYS_pidfd_open, getpid(), 0);
	other = syscall(SYS_pidfd_getfd, other, ends[1], 0);
	show("get", other < 0 ? -1 : 0);
	show("write", write(other, "x", 1));
	show("read", read(ends[0], &byte, 1));
	show("not ended", waitid(P_PIDFD, file, &info, WEXITED | WNOHANG));
	show("signal", syscall(SYS_pidfd_send_signal, file, SIGTERM, NULL, 0));
	show("poll", poll(&entry, 1, 2000));
	info = (siginfo_t){};
	show("wait", waitid(P_PIDFD, file, &info, WEXITED));
	printf("%d %d %d %d\n", info.si_pid == child, info.si_signo, info.si_code, info.si_status);
	show("again", waitid(P_PIDFD, file, &info, WEXITED));
	show("signal", syscall(SYS_pidfd_send_signal, file, 0, NULL, 0));
	show("poll", poll(&entry, 1, 0));
	show("no descriptor", waitid(P_PIDFD, 99, &info, WEXITED));
	show("another", waitid(P_PIDFD, 0, &info, WEXITED));
}

static void ends_of_parents(void)
{
	int ends[2], signal = 9, adopts = 9, child, number = getpid();
	char byte;

	show("too large", prctl(PR_SET_PDEATHSIG, 65));
	show("set", prctl(PR_SET_PDEATHSIG, SIGUSR1));
	show("get", prctl(PR_GET_PDEATHSIG, &signal));
	show("is", signal);
	pipe(ends);
	show("adopt", prctl(PR_SET_CHILD_SUBREAPER, 1));
	show("adopts", prctl(PR_GET_CHILD_SUBREAPER, &adopts));
	show("is", adopts);
	child = fork();
	if (child == 0) {
		prctl(PR_GET_PDEATHSIG, &signal);
		prctl(PR_GET_CHILD_SUBREAPER, &adopts);
		printf("inherited %d %d\n", signal, adopts);
		fflush(stdout);
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGUSR1);
			catch(SIGUSR1);
			write(ends[1], "x", 1);
			while (!seen)
				pause_for(1);
			show("seen", seen);
			show("adopted", getppid() == number);
			_exit(4);
		}
		read(ends[0], &byte, 1);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	show("collect", wait(&signal) > 0);
	printf("%x\n", signal);
	show("user", setuid(1000));
	prctl(PR_GET_PDEATHSIG, &signal);
	show("is", signal);
	show("slack", prctl(PR_SET_TIMERSLACK, 70000));
	show("slack", prctl(PR_GET_TIMERSLACK));
	show("initial", prctl(PR_SET_TIMERSLACK, 0));
	show("slack", prctl(PR_GET_TIMERSLACK));
	show("timing", prctl(PR_SET_TIMING, 1));
	show("timing", prctl(PR_GET_TIMING));
	show("secure", prctl(PR_SET_SECUREBITS, 0));
}

/* Nearly all of it is time of the program, none that of calls. */
static void spin(long milliseconds)
{
	struct timespec start, now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < milliseconds);
}

static void execution(void)
{
	struct itimerval timer = { { 0, 0 }, { 0, 20000 } }, before;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
	struct itimerspec setting = { { 0, 0 }, { 0, 20000000 } };
	struct rlimit limit = { 0, 1 };
	timer_t number;

	catch(SIGVTALRM);
	catch(SIGPROF);
	catch(SIGUSR2);
	show("which", setitimer(3, &timer, NULL));
	show("virtual", setitimer(ITIMER_VIRTUAL, &timer, NULL));
	pause_for(30);
	show("asleep", seen);
	spin(50);
	show("awake", seen);
	show("over", getitimer(ITIMER_VIRTUAL, &before));
	printf("%ld %ld\n", (long)before.it_value.tv_sec, (long)before.it_value.tv_usec);
	timer.it_value.tv_sec = 5;
	show("profile", setitimer(ITIMER_PROF, &timer, NULL));
	timer.it_value.tv_sec = timer.it_value.tv_usec = 0;
	show("end", setitimer(ITIMER_PROF, &timer, &before));
	printf("%ld\n", (long)before.it_value.tv_sec);
	timer.it_value.tv_usec = 20000;
	show("profile", setitimer(ITIMER_PROF, &timer, NULL));
	spin(50);
	show("awake", seen);
	show("of the process", timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &number));
	show("set", timer_settime(number, 0, &setting, NULL));
	pause_for(30);
	show("asleep", seen);
	spin(50);
	show("awake", seen);
	show("of the thread", timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &number));
	show("delete", timer_delete(number));
	show("of none", timer_create((~4000000U) << 3 | 2, &event, &number));
	catch(SIGXCPU);
	show("limit", setrlimit(RLIMIT_CPU, &limit));
	while (seen != SIGXCPU)
		spin(1);
	getrlimit(RLIMIT_CPU, &limit);
	printf("%ld %ld\n", (long)limit.rlim_cur, (long)limit.rlim_max);
}

/* The signal of a timer that was deleted is pending while another one has its number. */
static void successors(void)
{
	struct itimerspec soon = { { 0, 0 }, { 0, 1000000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	struct timespec time = { 0, 0 };
	sigset_t set = set_of(SIGRTMIN, 0);
	siginfo_t info = { 0 };
	timer_t number;

	block(SIGRTMIN, 0);
	for (int value = 1; value <= 3; value++) {
		event.sigev_value.sival_int = value;
		show("create", timer_create(CLOCK_MONOTONIC, &event, &number));
		show("set", timer_settime(number, 0, &soon, NULL));
		pause_for(20);
		show("overrun", timer_getoverrun(number));
		show("delete", timer_delete(number));
	}
	while (sigtimedwait(&set, &info, &time) > 0)
		printf("code %d, value %d, overrun %d\n", info.si_code, info.si_value.sival_int,
		       info.si_overrun);
	show("nothing", -1);
}

static void execution_ends(void)
{
	struct rlimit limit = { 0, 0 };

	show("limit", setrlimit(RLIMIT_CPU, &limit));
	for (;;)
		spin(1);
}

static void sizes(void)
{
	struct rlimit limit = { 10, 10 };
	int file = open("/tmp/limited", O_RDWR | O_CREAT | O_TRUNC, 0600);
	void *end = sbrk(0);

	catch(SIGXFSZ);
	show("limit", setrlimit(RLIMIT_FSIZE, &limit));
	show("write", write(file, "0123456", 7));
	show("cut", write(file, "0123456", 7));
	show("seen", seen);
	show("beyond", write(file, "0123456", 7));
	show("seen", seen);
	seen = 0;
	show("at", pwrite(file, "0123456", 7, 100));
	show("seen", seen);
	seen = 0;
	show("nothing", write(file, "", 0));
	show("truncate", ftruncate(file, 10));
	show("truncate", ftruncate(file, 11));
	show("truncate", truncate("/tmp/limited", 11));
	show("seen", seen);
	unlink("/tmp/limited");
	limit.rlim_cur = limit.rlim_max = 1 << 20;
	show("heap", setrlimit(RLIMIT_DATA, &limit));
	show("grow", sbrk(2 << 20) == (void *)-1 ? -1 : 0);
	show("as before", sbrk(0) == end);
	limit.rlim_cur = limit.rlim_max = 64 << 20;
	show("addresses", setrlimit(RLIMIT_AS, &limit));
	limit.rlim_cur = limit.rlim_max = RLIM_INFINITY;
	show("more", setrlimit(RLIMIT_DATA, &limit));
}

static void masks(void)
{
	struct epoll_event event;
	sigset_t none, set = set_of(SIGUSR1, 0);
	int file = epoll_create1(0);

	sigemptyset(&none);
	catch(SIGUSR1);
	block(SIGUSR1, 0);
	kill(getpid(), SIGUSR1);
	show("blocked", epoll_wait(file, &event, 1, 1));
	show("seen", seen);
	show("not blocked", epoll_pwait(file, &event, 1, 1000, &none));
	show("seen", seen);
	seen = 0;
	kill(getpid(), SIGUSR1);
	show("blocked", epoll_pwait(file, &event, 1, 1, &set));
	show("seen", seen);
	show("size", syscall(SYS_epoll_pwait, file, &event, 1, 1, &none, 4));
	show("address", syscall(SYS_epoll_pwait, file, &event, 1, 1, 8, 8));
}

static void credentials(void)
{
	struct ucred own = { getpid(), 0, 0 };
	char byte = 'x', space[CMSG_SPACE(sizeof(own))] = "";
	struct iovec piece = { &byte, 1 };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1, .msg_control = space,
				  .msg_controllen = sizeof(space) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int ends[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_CREDENTIALS;
	header->cmsg_len = CMSG_LEN(sizeof(own));
	memcpy(CMSG_DATA(header), &own, sizeof(own));
	show("own", sendmsg(ends[0], &message, 0));
	own.uid = 7;
	memcpy(CMSG_DATA(header), &own, sizeof(own));
	show("any user", sendmsg(ends[0], &message, 0));
	own.pid = getppid();
	memcpy(CMSG_DATA(header), &own, sizeof(own));
	show("any process", sendmsg(ends[0], &message, 0));
	own.pid = 4000000;
	memcpy(CMSG_DATA(header), &own, sizeof(own));
	show("none", sendmsg(ends[0], &message, 0));
	setgid(100);
	setuid(1000);
	own = (struct ucred){ getpid(), 1000, 100 };
	memcpy(CMSG_DATA(header), &own, sizeof(own));
	show("own", sendmsg(ends[0], &message, 0));
	own.uid = 0;
	memcpy(CMSG_DATA(header), &own, sizeof(own));
	show("another user", sendmsg(ends[0], &message, 0));
	own = (struct ucred){ getppid(), 1000, 100 };
	memcpy(CMSG_DATA(header), &own, sizeof(own));
	show("another process", sendmsg(ends[0], &message, 0));
}

int main(void)
{
	mkdir("/tmp", 01777);
	apart("permissions", permissions);
	apart("descriptors of signals", descriptors_of_signals);
	apart("descriptors of processes", descriptors_of_processes);
	apart("ends of parents", ends_of_parents);
	apart("masks", masks);
	apart("credentials", credentials);
	apart("sizes", sizes);
	apart("execution", execution);
	apart("end of execution", execution_ends);
	apart("successors of timers", successors);
	return 0;
}
