/* Sockets of IPv4 at 127.0.0.1: streams, datagrams, options, errors. */
#define _GNU_SOURCE
#include "check.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

static char bytes[300000];

static struct sockaddr_in at(const char *host, int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };

	inet_pton(AF_INET, host, &address.sin_addr);
	return address;
}

static struct sockaddr_in here(int port)
{
	return at("127.0.0.1", port);
}

static int bind_to(int fd, int port)
{
	struct sockaddr_in address = here(port);

	return bind(fd, (void *)&address, sizeof(address));
}

static int connect_to(int fd, int port)
{
	struct sockaddr_in address = here(port);

	return connect(fd, (void *)&address, sizeof(address));
}

/* What has happened at a socket, once something has or after two seconds. */
static void events_of(const char *what, int fd, int wanted)
{
	struct pollfd one = { fd, wanted, 0 };

	poll(&one, 1, 2000);
	one.events = 0x3fff;
	poll(&one, 1, 0);
	printf("%s: events %x\n", what, one.revents);
}

static void show_name(const char *what, long result, struct sockaddr_in *address, socklen_t length)
{
	show(what, result);
	if (result == 0)
		printf("  %d: %d %s\n", (int)length, address->sin_family, inet_ntoa(address->sin_addr));
}

static void show_names(int fd)
{
	struct sockaddr_in address = { 0 };
	socklen_t length = sizeof(address);
	long result = getsockname(fd, (void *)&address, &length);

	show_name("own name", result, &address, length);
	length = sizeof(address);
	result = getpeername(fd, (void *)&address, &length);
	show_name("peer name", result, &address, length);
}

static void show_option(const char *what, int fd, int level, int option)
{
	int value = -1;
	socklen_t length = sizeof(value);

	show(what, getsockopt(fd, level, option, &value, &length));
	printf("  %d of %d\n", value, (int)length);
}

static void set_option(const char *what, int fd, int level, int option, int value)
{
	show(what, setsockopt(fd, level, option, &value, sizeof(value)));
	show_option(what, fd, level, option);
}

/* The state of a connection, and what is known of it. */
static void show_state(const char *what, int fd)
{
	static unsigned char information[1024];
	socklen_t length = sizeof(information);

	show(what, getsockopt(fd, IPPROTO_TCP, TCP_INFO, information, &length));
	printf("  state %d of %d\n", information[0], (int)length);
}

static int listener(int port)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind_to(fd, port) < 0 || listen(fd, 5) < 0)
		show("listener", -1);
	return fd;
}

/* A connection, by its ends: of the peer that accepted, and of the one that asked. */
static void pair_of(int port, int pair[2])
{
	int fd = listener(port);

	pair[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (connect_to(pair[1], port) < 0)
		show("connect", -1);
	pair[0] = accept(fd, NULL, NULL);
	close(fd);
}

static void use_arguments(void)
{
	struct sockaddr_in address = here(7000);
	struct sockaddr_in far = at("198.51.100.7", 7000);
	int fd, pair[2];

	show("IPv6", socket(AF_INET6, SOCK_STREAM, 0) == -1 ? 0 : 0);
	show("type", socket(AF_INET, 9, 0));
	show("packets", socket(AF_INET, SOCK_SEQPACKET, 0));
	show("protocol", socket(AF_INET, SOCK_STREAM, 17));
	show("no protocol", socket(AF_INET, SOCK_STREAM, 300));
	show("flags", socket(AF_INET, SOCK_STREAM | 0x100000, 0));
	show("pair", socketpair(AF_INET, SOCK_STREAM, 0, pair));
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
	printf("flags %x %d\n", fcntl(fd, F_GETFL), fcntl(fd, F_GETFD));
	show_names(fd);
	events_of("fresh", fd, 0);
	show("accept", accept(fd, NULL, NULL));
	show("receive", recv(fd, bytes, 1, 0));
	show("send", send(fd, "a", 1, MSG_NOSIGNAL));
	show("shutdown", shutdown(fd, SHUT_WR));
	show("bad shutdown", shutdown(fd, 9));
	show("seek", lseek(fd, 0, SEEK_SET));
	show("positioned", pread(fd, bytes, 1, 0));
	show("short address", bind(fd, (void *)&address, 8));
	address.sin_family = AF_APPLETALK;
	show("other family", bind(fd, (void *)&address, sizeof(address)));
	show("other family", connect(fd, (void *)&address, sizeof(address)));
	show("no own address", bind(fd, (void *)&far, sizeof(far)));
	show("bind", bind_to(fd, 7000));
	show("again", bind_to(fd, 7001));
	show("listen", listen(fd, 1));
	show("again", listen(fd, 2));
	show("accept", accept(fd, NULL, NULL));
	show("bad flags", accept4(fd, NULL, NULL, 0x100));
	show("connect", connect_to(fd, 7000));
	show("receive", recv(fd, bytes, 1, 0));
	events_of("listens", fd, 0);
	show("in use", bind_to(socket(AF_INET, SOCK_STREAM, 0), 7000));
	show("refused", connect_to(socket(AF_INET, SOCK_STREAM, 0), 7999));
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	show("listen", listen(fd, 1));
	show("accept", accept(fd, NULL, NULL));
	show("no receiver", send(fd, "a", 1, 0));
	show("shutdown", shutdown(fd, SHUT_WR));
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	events_of("fresh datagrams", fd, 0);
	show("none", recv(fd, bytes, 1, MSG_DONTWAIT));
	show("bind", bind_to(fd, 7000));
	show("in use", bind_to(socket(AF_INET, SOCK_DGRAM, 0), 7000));
	show("bad address", bind(socket(AF_INET, SOCK_DGRAM, 0), (void *)8, 16));
}

static void use_options(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct timeval time = { 1, 500000 };
	struct linger linger = { 1, 3 };
	socklen_t length;

	show_option("type", fd, SOL_SOCKET, SO_TYPE);
	show_option("domain", fd, SOL_SOCKET, SO_DOMAIN);
	show_option("protocol", fd, SOL_SOCKET, SO_PROTOCOL);
	show_option("accepts", fd, SOL_SOCKET, SO_ACCEPTCONN);
	show_option("error", fd, SOL_SOCKET, SO_ERROR);
	set_option("reuse address", fd, SOL_SOCKET, SO_REUSEADDR, 5);
	set_option("reuse port", fd, SOL_SOCKET, SO_REUSEPORT, 1);
	set_option("keep alive", fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_option("broadcast", fd, SOL_SOCKET, SO_BROADCAST, 1);
	set_option("receive buffer", fd, SOL_SOCKET, SO_RCVBUF, 20000);
	set_option("send buffer", fd, SOL_SOCKET, SO_SNDBUF, 1);
	set_option("no delay", fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set_option("cork", fd, IPPROTO_TCP, TCP_CORK, 1);
	set_option("idle", fd, IPPROTO_TCP, TCP_KEEPIDLE, 60);
	set_option("interval", fd, IPPROTO_TCP, TCP_KEEPINTVL, 0);
	set_option("count", fd, IPPROTO_TCP, TCP_KEEPCNT, 5);
	set_option("timeout", fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 1000);
	set_option("service", fd, IPPROTO_IP, IP_TOS, 16);
	set_option("lifetime", fd, IPPROTO_IP, IP_TTL, 300);
	set_option("lifetime", fd, IPPROTO_IP, IP_TTL, 20);
	show("short", setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &linger, 2));
	show("none", setsockopt(fd, SOL_SOCKET, 9999, &linger, 4));
	show("none", setsockopt(fd, IPPROTO_TCP, 9999, &linger, 4));
	show("none", setsockopt(fd, IPPROTO_IP, 9999, &linger, 4));
	show("level", setsockopt(fd, 250, 1, &linger, 4));
	show("bad value", setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, (void *)8, 4));
	show_option("none", fd, SOL_SOCKET, 9999);
	show_option("none", fd, IPPROTO_TCP, 9999);
	show_option("level", fd, 250, 1);
	show("linger", setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
	memset(&linger, 0, sizeof(linger));
	length = sizeof(linger);
	show("linger", getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &length));
	printf("  %d %d\n", linger.l_onoff, linger.l_linger);
	show("wait", setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)));
	length = sizeof(time);
	show("wait", getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, &length));
	printf("  %ld %ld\n", (long)time.tv_sec, (long)time.tv_usec);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	show_option("type", fd, SOL_SOCKET, SO_TYPE);
	show_option("protocol", fd, SOL_SOCKET, SO_PROTOCOL);
	show_option("no delay", fd, IPPROTO_TCP, TCP_NODELAY);
}

static void use_device(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char name[16] = "none0";
	socklen_t length = sizeof(name);

	show("an absent device", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, 6));
	show("of no memory", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, (void *)8, 6));
	show("no device", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 1));
	show("no name", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 0));
	show("device", getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, &length));
	printf("  %d\n", (int)length);
}

static void use_stream(void)
{
	int pair[2], available = 0;
	struct iovec parts[2] = { { bytes, 2 }, { bytes + 10, 100 } };
	struct stat status;
	long sum = 0, count;

	pair_of(7010, pair);
	fstat(pair[0], &status);
	printf("mode %o\n", status.st_mode);
	show_names(pair[0]);
	show_names(pair[1]);
	events_of("empty", pair[0], 0);
	show("connected", connect_to(pair[1], 7010));
	show("write", write(pair[0], "hello", 5));
	events_of("full", pair[1], POLLIN);
	show("send", send(pair[0], " world", 6, 0));
	while (available < 11 && ioctl(pair[1], FIONREAD, &available) == 0)
		;
	printf("available %d\n", available);
	show("peek", recv(pair[1], bytes, 4, MSG_PEEK));
	show("read", read(pair[1], bytes, 3));
	show("readv", readv(pair[1], parts, 2));
	printf("  %.2s %.6s\n", bytes, bytes + 10);
	show("none", recv(pair[1], bytes, 4, MSG_DONTWAIT));
	show("nothing", write(pair[0], "", 0));
	show("bad address", syscall(SYS_write, pair[0], 8, 4));
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	while (sum < 10000000 && (count = write(pair[0], bytes, sizeof(bytes))) > 0)
		sum += count;
	show("until full", count);
	events_of("no room", pair[0], 0);
	while (sum > 0 && (count = recv(pair[1], bytes, sizeof(bytes), 0)) > 0) {
		sum -= count;
		if (write(pair[0], bytes, 0) < 0)
			break;
	}
	printf("rest: %ld\n", sum);
	events_of("room", pair[0], POLLOUT);
	show("shutdown", shutdown(pair[0], SHUT_WR));
	events_of("end", pair[1], POLLIN);
	events_of("ended", pair[0], 0);
	show("end", read(pair[1], bytes, 1));
	show("write", send(pair[0], "a", 1, MSG_NOSIGNAL));
	show("other way", write(pair[1], "bc", 2));
	show("received", recv(pair[0], bytes, 2, MSG_WAITALL) == -1 ? errno != EAGAIN : 0);
	events_of("bytes", pair[0], POLLIN);
	show("close", close(pair[1]));
	events_of("both ended", pair[0], POLLHUP);
	show_option("error", pair[0], SOL_SOCKET, SO_ERROR);
}

static void broken(void)
{
	int pair[2];

	pair_of(7020, pair);
	close(pair[1]);
	events_of("closed", pair[0], POLLRDHUP);
	show("once", send(pair[0], "a", 1, 0));
	events_of("reset", pair[0], POLLHUP);
	show("again", send(pair[0], "a", 1, MSG_NOSIGNAL));
	show("at last", write(pair[0], "a", 1));
}

static void reset(void)
{
	struct linger now = { 1, 0 };
	int pair[2];

	pair_of(7030, pair);
	setsockopt(pair[1], SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(pair[1]);
	events_of("reset", pair[0], POLLHUP);
	show_option("error", pair[0], SOL_SOCKET, SO_ERROR);
	show_option("error", pair[0], SOL_SOCKET, SO_ERROR);
	show("read", read(pair[0], bytes, 1));
	pair_of(7031, pair);
	show("write", write(pair[0], "a", 1));
	events_of("bytes", pair[1], POLLIN);
	/* Bytes that nothing has read are refused. */
	close(pair[1]);
	events_of("reset", pair[0], POLLHUP);
	show("read", read(pair[0], bytes, 1));
	show("read", read(pair[0], bytes, 1));
}

static void use_datagrams(void)
{
	int one = socket(AF_INET, SOCK_DGRAM, 0), other = socket(AF_INET, SOCK_DGRAM, 0);
	int third = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in to = here(7040), from = { 0 }, none = { .sin_family = AF_UNSPEC };
	socklen_t length = sizeof(from);
	struct iovec part = { bytes, 4 };
	struct msghdr message = { .msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &part,
		.msg_iovlen = 1 };
	int available = 0;

	show("bind", bind_to(one, 7040));
	show("send", sendto(other, "hello", 5, 0, (void *)&to, sizeof(to)));
	events_of("one", one, POLLIN);
	show("available", ioctl(one, FIONREAD, &available));
	printf("  %d\n", available);
	show("peek", recvfrom(one, bytes, 10, MSG_PEEK, (void *)&from, &length));
	show_name("  from", 0, &from, length);
	show("message", recvmsg(one, &message, 0));
	printf("  flags %x, %d\n", message.msg_flags, (int)message.msg_namelen);
	show("empty", sendto(other, "", 0, 0, (void *)&to, sizeof(to)));
	events_of("empty", one, POLLIN);
	show("empty", recv(one, bytes, 10, 0));
	show("back", sendto(one, "back", 4, 0, (void *)&from, sizeof(from)));
	events_of("back", other, POLLIN);
	show("whole", recv(other, bytes, 1, MSG_TRUNC));
	show("connect", connect_to(other, 7040));
	show_names(other);
	show("bind", bind_to(third, 7041));
	to = from;
	show("stranger", sendto(third, "x", 1, 0, (void *)&to, sizeof(to)));
	show("friend", sendto(one, "y", 1, 0, (void *)&to, sizeof(to)));
	events_of("friend", other, POLLIN);
	show("friend", read(other, bytes, 10));
	printf("  %c\n", bytes[0]);
	show("stranger", recv(other, bytes, 10, MSG_DONTWAIT));
	show("no connection", connect(other, (void *)&none, sizeof(none)));
	show("no receiver", send(other, "a", 1, 0));
	show("too long", sendto(one, bytes, 70000, 0, (void *)&to, sizeof(to)));
	to.sin_port = 0;
	show("no port", sendto(one, "a", 1, 0, (void *)&to, sizeof(to)));
	show("short", sendto(one, "a", 1, 0, (void *)&to, 4));
}

static void use_events(void)
{
	int fd = listener(7050), asks = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), accepted;
	int polls = epoll_create1(0);
	struct epoll_event event = { EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, { .fd = 1 } };
	struct timeval time = { 0, 20000 };

	show("none", connect_to(asks, 7050));
	events_of("connected", asks, POLLOUT);
	show_option("error", asks, SOL_SOCKET, SO_ERROR);
	events_of("to accept", fd, POLLIN);
	accepted = accept4(fd, NULL, NULL, SOCK_NONBLOCK);
	show("accepted", accepted > 0);
	show("watch", epoll_ctl(polls, EPOLL_CTL_ADD, accepted, &event));
	show("writable", epoll_wait(polls, &event, 1, 1000));
	printf("  %x\n", event.events);
	show("nothing new", epoll_wait(polls, &event, 1, 0));
	show("write", write(asks, "a", 1));
	show("bytes", epoll_wait(polls, &event, 1, 1000));
	printf("  %x\n", event.events);
	show("read", read(accepted, bytes, 10));
	show("end", shutdown(asks, SHUT_WR));
	show("end", epoll_wait(polls, &event, 1, 1000));
	printf("  %x\n", event.events);
	close(fd);
	show("refused", connect_to(socket(AF_INET, SOCK_STREAM, 0), 7050));
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	show("at once", connect_to(fd, 7051));
	events_of("refused", fd, POLLOUT);
	show_option("error", fd, SOL_SOCKET, SO_ERROR);
	show_option("error", fd, SOL_SOCKET, SO_ERROR);
	fd = listener(7052);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
	show("timeout", accept(fd, NULL, NULL));
}

/* Connections that are asked for at once, before the first is accepted. */
static void use_queue(void)
{
	enum { COUNT = 20 };
	int fd = socket(AF_INET, SOCK_STREAM, 0), asks[COUNT], open = 0, accepted = 0;

	show_state("fresh", fd);
	show("bind", bind_to(fd, 7060));
	show("listen", listen(fd, 24));
	show_state("listens", fd);
	for (int i = 0; i < COUNT; i++) {
		asks[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect_to(asks[i], 7060);
	}
	for (int i = 0; i < COUNT; i++) {
		struct pollfd one = { asks[i], POLLOUT, 0 };

		open += poll(&one, 1, 5000) == 1 && one.revents == POLLOUT;
	}
	show("connected", open);
	show_state("connected", asks[0]);
	shutdown(asks[1], SHUT_WR);
	events_of("shut down", asks[1], 0);
	show_state("shut down", asks[1]);
	while (accepted < open && accept(fd, NULL, NULL) >= 0)
		accepted++;
	show("accepted", accepted);
}

int main(void)
{
	struct ifreq loopback = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGALRM, SIG_DFL);
	/* Linux has it turned off in such a system; what the call returns here is not compared. */
	ioctl(fd, SIOCSIFFLAGS, &loopback);
	close(fd);
	apart("arguments", use_arguments);
	apart("options", use_options);
	apart("device", use_device);
	apart("stream", use_stream);
	apart("broken", broken);
	apart("reset", reset);
	apart("datagrams", use_datagrams);
	apart("events", use_events);
	apart("queue", use_queue);
	return 0;
}
