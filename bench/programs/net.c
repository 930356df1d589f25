/*
 * Sockets and servers of Linux, measured by a program that runs unmodified on Tenon and on Linux.
 *
 *   net                   measures datagrams and streams over the loopback
 *   net request SERVER    measures requests to a server of this host: nginx, redis or sqlite
 *   net flood             is a load for ever: datagrams from one socket to another
 *
 * Each measurement is BATCHES paths between marks, hint instructions that the counting plugin of the
 * emulator recognises, of COUNT operations each, and a line `net NAME PARAMS COUNT BATCHES`, or
 * `net NAME PARAMS absent ERRNO` if it cannot be made. Time in which the core waits is not counted.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 5, LARGE = 4096, PATIENCE = 100, TENTH = 100000000 };

static char buffer[LARGE];
static int size, sender, receiver, requests, answers;
static const char *request, *last;

static void begin(void)
{
	__asm__ volatile("hint #126" ::: "memory");
}

static void end(void)
{
	__asm__ volatile("hint #127" ::: "memory");
}

/* Measures `count` repetitions of an operation that returns a negative number if it fails. */
static void measure(const char *name, int count, long (*operation)(void))
{
	errno = 0;
	/* The first ones find nothing in place. */
	for (int index = 0; index < 10; index++)
		if (operation() < 0) {
			printf("net %s absent %d\n", name, errno);
			return;
		}
	for (int batch = 0; batch < BATCHES; batch++) {
		begin();
		for (int index = 0; index < count; index++)
			operation();
		end();
	}
	printf("net %s %d %d\n", name, count, BATCHES);
}

/* An address of this host. */
static struct sockaddr_in own(int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

/* Reads `length` bytes. */
static long receive(int from, int length)
{
	for (int done = 0; done < length;) {
		long more = read(from, buffer + done, length - done);

		if (more <= 0)
			return -1;
		done += more;
	}
	return length;
}

static long pass_bytes(void)
{
	return write(sender, buffer, size) < 0 ? -1 : receive(receiver, size);
}

/* More datagrams than are received. */
static void flood(void)
{
	for (;;) {
		for (int turn = 0; turn < 4; turn++)
			write(sender, buffer, size);
		recv(receiver, buffer, size, MSG_DONTWAIT);
	}
}

/* A pair of sockets of datagrams, connected to each other. */
static int datagrams(void)
{
	struct sockaddr_in one = own(5000), other = own(5001);

	sender = socket(AF_INET, SOCK_DGRAM, 0);
	receiver = socket(AF_INET, SOCK_DGRAM, 0);
	if (bind(sender, (void *)&one, sizeof one) || bind(receiver, (void *)&other, sizeof other))
		return -1;
	return connect(sender, (void *)&other, sizeof other);
}

/* A connection to a port of this host. */
static int connected(int port)
{
	struct sockaddr_in address = own(port);
	int made = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

	if (connect(made, (void *)&address, sizeof address)) {
		int reason = errno;

		close(made);
		errno = reason;
		return -1;
	}
	setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	return made;
}

/* Both ends of a connection. */
static int stream(void)
{
	struct sockaddr_in address = own(5002);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(listener, (void *)&address, sizeof address) || listen(listener, 1))
		return -1;
	sender = connected(5002);
	receiver = sender < 0 ? -1 : accept(listener, NULL, NULL);
	return receiver;
}

/* A request, until the answer ends with what it must. */
static long answered(void)
{
	size_t length = strlen(last), done = 0;

	if (write(requests, request, strlen(request)) < 0)
		return -1;
	do {
		long more = read(answers, buffer + done, sizeof buffer - done);

		if (more <= 0)
			return -1;
		done += more;
	} while (done < length || memcmp(buffer + done - length, last, length));
	return done;
}

/* Connects to a server as soon as it listens. */
static int reach(int port)
{
	for (int turn = 0; turn < PATIENCE; turn++) {
		requests = answers = connected(port);
		if (requests >= 0)
			return 0;
		nanosleep(&(struct timespec){ .tv_nsec = TENTH }, NULL);
	}
	return -1;
}

/* A database in a file, by pipes. */
static int start_database(void)
{
	int in[2], out[2];

	if (pipe(in) || pipe(out))
		return -1;
	if (fork() == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		execlp("sqlite3", "sqlite3", "-batch", "/tmp/database", NULL);
		_exit(1);
	}
	close(in[0]);
	close(out[1]);
	requests = in[1];
	answers = out[0];
	request = "CREATE TABLE t(x); SELECT 'a line';\n";
	last = "a line\n";
	return answered() < 0 ? -1 : 0;
}

static int prepare(const char *server)
{
	if (strcmp(server, "nginx") == 0) {
		request = "GET /small HTTP/1.1\r\nHost: a\r\n\r\n";
		last = "a line\n";
		return reach(8081);
	}
	if (strcmp(server, "redis") == 0) {
		last = "+OK\r\n";
		request = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$6\r\na line\r\n";
		if (reach(6379) || answered() < 0)
			return -1;
		request = "*2\r\n$3\r\nGET\r\n$1\r\na\r\n";
		last = "a line\r\n";
		return 0;
	}
	if (start_database())
		return -1;
	request = "INSERT INTO t VALUES(1); SELECT 'a line';\n";
	return 0;
}

int main(int count, char *arguments[])
{
	char name[64];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (count > 2) {
		snprintf(name, sizeof name, "request server=%s", arguments[2]);
		if (prepare(arguments[2]))
			printf("net %s absent %d\n", name, errno);
		else
			measure(name, 100, answered);
		return 0;
	}
	if (datagrams())
		perror("net: datagrams");
	size = 64;
	if (count > 1)
		flood();
	measure("udp_loopback size=64", 100, pass_bytes);
	size = 1400;
	measure("udp_loopback size=1400", 100, pass_bytes);
	if (stream() < 0)
		perror("net: stream");
	size = 64;
	measure("tcp_loopback size=64", 100, pass_bytes);
	size = LARGE;
	measure("tcp_loopback size=4096", 100, pass_bytes);
	return 0;
}
