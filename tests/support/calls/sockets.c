/* Local sockets: streams, datagrams, sequenced packets, names, options, and what goes with messages. */
#define _GNU_SOURCE
#include "check.h"

#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>

static char bytes[300000];

static void events_of(const char *what, int fd)
{
	struct pollfd one = { fd, 0x3fff, 0 };

	poll(&one, 1, 0);
	printf("%s: events %x\n", what, one.revents);
}

static socklen_t name(struct sockaddr_un *address, const char *path)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	strcpy(address->sun_path, path);
	return offsetof(struct sockaddr_un, sun_path) + strlen(path) + 1;
}

/* An abstract name has a NUL in front, and none behind it. */
static socklen_t hidden(struct sockaddr_un *address, const char *path)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	strcpy(address->sun_path + 1, path);
	return offsetof(struct sockaddr_un, sun_path) + strlen(path) + 1;
}

static void show_name(const char *what, long result, struct sockaddr_un *address, socklen_t length)
{
	show(what, result);
	printf("  %d:", (int)length);
	if (length > 2 && length <= sizeof(*address) + 1)
		printf(" %d %s", address->sun_family, address->sun_path + !address->sun_path[0]);
	printf("\n");
}

static void show_names(int fd)
{
	struct sockaddr_un address = { 0 };
	socklen_t length = sizeof(address);
	long result = getsockname(fd, (void *)&address, &length);

	show_name("own name", result, &address, length);
	memset(&address, 0, sizeof(address));
	length = sizeof(address);
	result = getpeername(fd, (void *)&address, &length);
	if (result < 0)
		show("peer name", result);
	else
		show_name("peer name", result, &address, length);
}

static void show_option(const char *what, int fd, int option)
{
	int value = -1;
	socklen_t length = sizeof(value);

	show(what, getsockopt(fd, SOL_SOCKET, option, &value, &length));
	printf("  %d of %d\n", value, (int)length);
}

static void use_arguments(void)
{
	int pair[2];
	int fd;

	show("family", socket(AF_APPLETALK, SOCK_STREAM, 0));
	show("type", socket(AF_UNIX, 9, 0));
	show("protocol", socket(AF_UNIX, SOCK_STREAM, 5));
	show("flags", socket(AF_UNIX, SOCK_STREAM | 0x100000, 0));
	show("pair", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	printf("cloexec %d\n", fcntl(pair[0], F_GETFD));
	show("bad pair", syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, 8));
	show("no socket", listen(1, 1));
	show("nothing", listen(99, 1));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	printf("flags %x\n", fcntl(fd, F_GETFL));
	show("listen", listen(fd, 1));
	show("accept", accept(fd, NULL, NULL));
	show("send", send(fd, "a", 1, 0));
	show("receive", recv(fd, bytes, 1, 0));
	show("shutdown", shutdown(fd, 9));
	show("seek", lseek(fd, 0, SEEK_SET));
	show_option("type", fd, SO_TYPE);
	show_option("domain", fd, SO_DOMAIN);
	show_option("accepts", fd, SO_ACCEPTCONN);
	show_option("error", fd, SO_ERROR);
	show_option("send buffer", fd, SO_SNDBUF);
	show_option("receive buffer", fd, SO_RCVBUF);
	show_option("none", fd, 9999);
	events_of("fresh", fd);
	show_names(fd);
	fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	show("listen", listen(fd, 1));
	show("accept", accept(fd, NULL, NULL));
	show("send", send(fd, "a", 1, 0));
	events_of("fresh datagrams", fd);
	fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	show("send", send(fd, "a", 1, 0));
	show("receive", recv(fd, bytes, 1, 0));
}

static void use_stream(void)
{
	int pair[2], available;
	long sum = 0, count;
	struct stat status;
	struct iovec parts[2] = { { bytes, 2 }, { bytes + 10, 100 } };

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	fstat(pair[0], &status);
	printf("mode %o\n", status.st_mode);
	show_names(pair[0]);
	events_of("empty", pair[0]);
	show("write", write(pair[0], "hello", 5));
	show("send", send(pair[0], " world", 6, 0));
	events_of("full", pair[1]);
	show("available", ioctl(pair[1], FIONREAD, &available));
	printf("  %d\n", available);
	show("peek", recv(pair[1], bytes, 4, MSG_PEEK));
	show("read", read(pair[1], bytes, 3));
	show("readv", readv(pair[1], parts, 2));
	printf("  %.2s %.6s\n", bytes, bytes + 10);
	show("none", recv(pair[1], bytes, 4, MSG_DONTWAIT));
	show("out of band", recv(pair[1], bytes, 1, MSG_OOB));
	show("nothing", write(pair[0], "", 0));
	available = 1;
	show("does not wait", ioctl(pair[1], FIONBIO, &available));
	show("at once", read(pair[1], bytes, 1));
	available = 0;
	show("waits again", ioctl(pair[1], FIONBIO, &available));
	printf("  %o\n", fcntl(pair[1], F_GETFL) & O_NONBLOCK);
	show("closed by a program", ioctl(pair[1], FIOCLEX));
	printf("  %d\n", fcntl(pair[1], F_GETFD));
	show("kept by a program", ioctl(pair[1], FIONCLEX));
	printf("  %d\n", fcntl(pair[1], F_GETFD));
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	while ((count = write(pair[0], bytes, sizeof(bytes))) > 0)
		sum += count;
	show("until full", count);
	printf("much: %d\n", sum > 50000);
	events_of("no room", pair[0]);
	while (sum > 0 && (count = recv(pair[1], bytes, sizeof(bytes), 0)) > 0)
		sum -= count;
	printf("rest: %ld\n", sum);
	events_of("room", pair[0]);
	show("shutdown", shutdown(pair[0], SHUT_WR));
	events_of("ended", pair[0]);
	events_of("end", pair[1]);
	show("end", read(pair[1], bytes, 1));
	show("write", write(pair[0], "a", 1));
	show("other way", write(pair[1], "b", 1));
	close(pair[0]);
	show("closed", write(pair[1], "a", 1));
	show("reset", read(pair[1], bytes, 1));
	show("read", read(pair[1], bytes, 1));
	events_of("closed", pair[1]);
	show_option("error", pair[1], SO_ERROR);
}

static void *write_much(void *fd)
{
	long done = 0;

	while (done < 1000000) {
		long count = write((long)fd, bytes, sizeof(bytes));

		if (count <= 0)
			break;
		done += count;
	}
	shutdown((long)fd, SHUT_WR);
	return (void *)done;
}

static void wait_with_streams(void)
{
	int pair[2];
	pthread_t thread;
	void *written;
	long sum = 0, count;
	struct timeval time = { 0, 20000 };

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	pthread_create(&thread, NULL, write_much, (void *)(long)pair[0]);
	show("all", recv(pair[1], bytes, 200000, MSG_WAITALL));
	while ((count = read(pair[1], bytes, 7777)) > 0)
		sum += count;
	pthread_join(thread, &written);
	printf("written %ld, read %ld\n", (long)written, sum + 200000);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	show("timeout", setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)));
	show("read", read(pair[0], bytes, 1));
	show("receive", recv(pair[0], bytes, 1, 0));
	time.tv_usec = 1000000;
	show("timeout", setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)));
}

static void use_names(void)
{
	struct sockaddr_un address, from;
	socklen_t length = name(&address, "/tmp/listener"), other;
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	int client, server, third;
	struct ucred user;
	struct stat status;

	show("connect to none", connect(listener, (void *)&address, length));
	show("bind", bind(listener, (void *)&address, length));
	show("bind again", bind(listener, (void *)&address, length));
	stat("/tmp/listener", &status);
	printf("mode %o\n", status.st_mode & S_IFMT);
	show("open", open("/tmp/listener", O_RDWR));
	client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	show("bind too", bind(client, (void *)&address, length));
	show("not listening", connect(client, (void *)&address, length));
	show("listen", listen(listener, 0));
	events_of("listening", listener);
	show("accept none", accept(listener, NULL, NULL));
	show("connect", connect(client, (void *)&address, length));
	show("connect again", connect(client, (void *)&address, length));
	events_of("connected", client);
	events_of("pending", listener);
	third = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	show("no room", connect(third, (void *)&address, length));
	show("early", write(client, "early", 5));
	other = sizeof(from);
	server = accept4(listener, (void *)&from, &other, SOCK_CLOEXEC);
	printf("accepted %d, length %d\n", server > 0, (int)other);
	show("room", connect(third, (void *)&address, length));
	show("read", read(server, bytes, 10));
	show_names(server);
	show_names(client);
	other = sizeof(user);
	show("peer", getsockopt(server, SOL_SOCKET, SO_PEERCRED, &user, &other));
	printf("  %d %d\n", user.pid == getpid(), user.uid);
	show("wrong type", connect(socket(AF_UNIX, SOCK_DGRAM, 0), (void *)&address, length));
	show("a file", (name(&address, "/etc/start"),
	     connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&address, sizeof(address))));
	close(listener);
	show("reset", read(third, bytes, 1));
	show("end", read(third, bytes, 1));
	show("unlink", unlink("/tmp/listener"));
	listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	length = hidden(&address, "hidden");
	show("bind", bind(listener, (void *)&address, length));
	show("listen", listen(listener, 5));
	client = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	show("connect", connect(client, (void *)&address, length));
	server = accept(listener, NULL, NULL);
	show_names(server);
	show_names(client);
	show("packet", send(client, "one", 3, 0));
	show("packet", send(client, "three", 5, 0));
	show("part", recv(server, bytes, 2, 0));
	show("whole", recv(server, bytes, 2, MSG_TRUNC));
	close(client);
	show("end", recv(server, bytes, 2, 0));
	close(listener);
	show("free again", bind(socket(AF_UNIX, SOCK_DGRAM, 0), (void *)&address, length));
	show("short", bind(socket(AF_UNIX, SOCK_DGRAM, 0), (void *)&address, 1));
	show("long", bind(socket(AF_UNIX, SOCK_DGRAM, 0), (void *)&address, 200));
	client = socket(AF_UNIX, SOCK_DGRAM, 0);
	show("any", bind(client, (void *)&address, 2));
	other = sizeof(from);
	getsockname(client, (void *)&from, &other);
	printf("length %d\n", (int)other);
}

static void use_datagrams(void)
{
	struct sockaddr_un address, from;
	socklen_t length = hidden(&address, "receiver"), other;
	int receiver = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	int pair[2], available, count = 0;

	show("no receiver", sendto(sender, "a", 1, 0, (void *)&address, length));
	bind(receiver, (void *)&address, length);
	show("unnamed", sendto(socket(AF_UNIX, SOCK_DGRAM, 0), "first", 5, 0, (void *)&address, length));
	hidden(&from, "sender");
	bind(sender, (void *)&from, length - 2);
	show("named", sendto(sender, "second", 6, 0, (void *)&address, length));
	show("empty", sendto(sender, "", 0, 0, (void *)&address, length));
	ioctl(receiver, FIONREAD, &available);
	printf("available %d\n", available);
	other = sizeof(from);
	memset(&from, 0, sizeof(from));
	show("receive", recvfrom(receiver, bytes, 99, 0, (void *)&from, &other));
	printf("  from %d bytes\n", (int)other);
	other = sizeof(from);
	long result = recvfrom(receiver, bytes, 3, MSG_TRUNC, (void *)&from, &other);
	show_name("receive", result, &from, other);
	show("receive", recv(receiver, bytes, 3, 0));
	show("receive", recv(receiver, bytes, 3, 0));
	show("connect", connect(sender, (void *)&address, length));
	show_names(sender);
	while (send(sender, "x", 1, 0) == 1)
		count++;
	show("full", send(sender, "x", 1, 0));
	printf("queue %d\n", count);
	events_of("no room", sender);
	recv(receiver, bytes, 1, 0);
	events_of("room", sender);
	show("too long", send(sender, bytes, 250000, 0));
	close(receiver);
	show("refused", send(sender, "x", 1, 0));
	show("no receiver", send(sender, "x", 1, 0));
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	show("pair", write(pair[0], "abc", 3));
	show("other", sendto(sender, "x", 1, 0, (void *)&from, 2));
	show("read", read(pair[1], bytes, 10));
	shutdown(pair[0], SHUT_RDWR);
	show("shut", write(pair[0], "abc", 3));
	show("shut", read(pair[0], bytes, 3));
	show("peer", write(pair[1], "abc", 3));
	close(pair[0]);
	show("closed", write(pair[1], "abc", 3));
	show("closed", write(pair[1], "abc", 3));
}

static char space[512] __attribute__((aligned(8)));

/* Sends bytes with descriptors and credentials, if stated. */
static void give(const char *what, int fd, const char *text, int *fds, int count, int credentials)
{
	struct iovec part = { (char *)text, strlen(text) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = space };
	struct cmsghdr *control = (void *)space;

	if (count > 0) {
		control->cmsg_level = SOL_SOCKET;
		control->cmsg_type = SCM_RIGHTS;
		control->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(control), fds, count * sizeof(int));
		message.msg_controllen += CMSG_SPACE(count * sizeof(int));
		control = (void *)(space + message.msg_controllen);
	}
	if (credentials != 0) {
		struct ucred user = { credentials, 0, 0 };

		control->cmsg_level = SOL_SOCKET;
		control->cmsg_type = SCM_CREDENTIALS;
		control->cmsg_len = CMSG_LEN(sizeof(user));
		memcpy(CMSG_DATA(control), &user, sizeof(user));
		message.msg_controllen += CMSG_SPACE(sizeof(user));
	}
	show(what, sendmsg(fd, &message, 0));
}

/* Receives, and shows what came with the bytes; returns the first descriptor. */
static int take(const char *what, int fd, int size, int room, int flags)
{
	struct iovec part = { bytes, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = space,
				  .msg_controllen = room };
	int first = -1;

	memset(space, 0, sizeof(space));
	long result = recvmsg(fd, &message, flags);

	show(what, result);
	if (result < 0)
		return -1;
	printf("  flags %x, control %d\n", message.msg_flags, (int)message.msg_controllen);
	for (struct cmsghdr *control = CMSG_FIRSTHDR(&message); control != NULL;
	     control = CMSG_NXTHDR(&message, control)) {
		int count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		int fds[64];

		memcpy(fds, CMSG_DATA(control), control->cmsg_len - CMSG_LEN(0));
		if (control->cmsg_type == SCM_RIGHTS) {
			printf("  descriptors %d, flags %d\n", count, fcntl(fds[0], F_GETFD));
			first = fds[0];
		} else {
			printf("  credentials %d %d\n", fds[0] == getpid() ? 1 : fds[0], fds[1]);
		}
	}
	return first;
}

static void pass(void)
{
	int pair[2], other[2], fds[3], got, on = 1;

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	pipe(other);
	write(other[1], "through", 7);
	fds[0] = other[0];
	fds[1] = other[1];
	fds[2] = pair[0];
	give("pass", pair[0], "with", fds, 1, 0);
	give("plain", pair[0], " and without", NULL, 0, 0);
	close(other[0]);
	got = take("take", pair[1], 100, sizeof(space), MSG_CMSG_CLOEXEC);
	show("use", read(got, bytes, 10));
	take("rest", pair[1], 100, sizeof(space), 0);
	fds[0] = got;
	give("plain", pair[0], "plain", NULL, 0, 0);
	give("three", pair[0], "abc", fds, 3, 0);
	give("one", pair[0], "def", fds, 1, 0);
	take("peek", pair[1], 100, sizeof(space), MSG_PEEK);
	take("room for one", pair[1], 100, CMSG_LEN(sizeof(int)), 0);
	take("no room", pair[1], 100, 0, 0);
	fds[1] = 99;
	give("bad", pair[0], "bad", fds, 2, 0);
	show("nothing", recv(pair[1], bytes, 9, MSG_DONTWAIT));
	give("dropped", pair[0], "dropped", fds, 1, 0);
	show("read", read(pair[1], bytes, 20));
	show("pass credentials", setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)));
	give("own", pair[0], "own", NULL, 0, 0);
	give("stated", pair[0], "stated", fds, 1, getpid());
	take("credentials", pair[1], 100, sizeof(space), 0);
	take("more", pair[1], 100, sizeof(space), MSG_DONTWAIT);
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	give("datagram", pair[0], "datagram", fds, 1, 0);
	give("another", pair[0], "another", fds, 1, getpid());
	take("part", pair[1], 4, sizeof(space), 0);
	setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	take("another", pair[1], 100, sizeof(space), 0);
	/* A socket in its own messages, and two in each other's. */
	for (int i = 0; i < 100; i++) {
		int both[2];

		socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
		socketpair(AF_UNIX, SOCK_DGRAM, 0, both);
		if (i == 0)
			give("itself", pair[0], "x", pair + 1, 1, 0);
		else
			write(pair[0], "x", 1);
		struct iovec part = { "y", 1 };
		struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1,
					  .msg_control = space, .msg_controllen = CMSG_SPACE(4) };
		struct cmsghdr *control = (void *)space;

		*control = (struct cmsghdr){ CMSG_LEN(4), SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(control), both, 4);
		sendmsg(pair[0], &message, 0);
		memcpy(CMSG_DATA(control), pair + 1, 4);
		sendmsg(both[1], &message, 0);
		close(pair[0]);
		close(pair[1]);
		close(both[0]);
		close(both[1]);
	}
}

static void use_many(void)
{
	int pair[2];
	struct iovec parts[3] = { { "one", 3 }, { "three", 5 }, { "seven", 5 } };
	struct mmsghdr messages[3];

	memset(messages, 0, sizeof(messages));
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	for (int i = 0; i < 3; i++) {
		messages[i].msg_hdr.msg_iov = parts + i;
		messages[i].msg_hdr.msg_iovlen = 1 + (i == 1);
	}
	show("send many", sendmmsg(pair[0], messages, 3, 0));
	printf("  %d %d %d\n", messages[0].msg_len, messages[1].msg_len, messages[2].msg_len);
	for (int i = 0; i < 3; i++) {
		parts[i].iov_base = bytes + 100 * i;
		parts[i].iov_len = 4;
	}
	show("receive many", recvmmsg(pair[1], messages, 3, MSG_WAITFORONE, NULL));
	printf("  %d %d %d %.8s\n", messages[0].msg_len, messages[1].msg_len, messages[2].msg_len,
	       bytes + 100);
}

/* Names, peers and messages of a process that is not user 0. */
static void of_another_user(void)
{
	struct sockaddr_un address;
	struct stat status;
	struct ucred user;
	socklen_t size = sizeof(user);
	int pair[2], own, on = 1;

	mkdir("/tmp/open", 0777);
	chmod("/tmp/open", 0777);
	mkdir("/tmp/private", 0700);
	mkdir("/tmp/closed", 0755);
	name(&address, "/tmp/open/roots");
	own = socket(AF_UNIX, SOCK_DGRAM, 0);
	show("bind", bind(own, (void *)&address, sizeof(address)));
	fflush(stdout);
	if (fork() != 0) {
		wait(NULL);
		return;
	}
	setgid(1001);
	setuid(1000);
	own = socket(AF_UNIX, SOCK_DGRAM, 0);
	show("no permission to write", connect(own, (void *)&address, sizeof(address)));
	show("nor to send", sendto(own, "x", 1, 0, (void *)&address, sizeof(address)));
	name(&address, "/tmp/private/name");
	show("nor to search", bind(own, (void *)&address, sizeof(address)));
	name(&address, "/tmp/closed/name");
	show("nor to create", bind(own, (void *)&address, sizeof(address)));
	name(&address, "/tmp/open/own");
	show("bind", bind(own, (void *)&address, sizeof(address)));
	stat("/tmp/open/own", &status);
	printf("of %d, %d\n", status.st_uid, status.st_gid);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	show("peer", getsockopt(pair[0], SOL_SOCKET, SO_PEERCRED, &user, &size));
	printf("  %d %d\n", user.uid, user.gid);
	show("pass credentials", setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)));
	give("as user 0", pair[0], "stated", NULL, 0, getpid());
	write(pair[0], "written", 7);
	take("written", pair[1], 100, sizeof(space), 0);
	give("own", pair[0], "own", NULL, 0, 0);
	take("own", pair[1], 100, sizeof(space), 0);
	fflush(stdout);
	_exit(0);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	apart("arguments", use_arguments);
	apart("stream", use_stream);
	apart("waits", wait_with_streams);
	apart("names", use_names);
	apart("datagrams", use_datagrams);
	apart("pass", pass);
	apart("another user", of_another_user);
	apart("many", use_many);
	return 0;
}
