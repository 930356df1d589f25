/* Waiting for several descriptors: poll, select, epoll, counters and timers with descriptors. */
#define _GNU_SOURCE
#include "check.h"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <time.h>

static int pair[2];

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void pause_for(long milliseconds)
{
	struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static void poll_once(const char *what, int fd, short events, int timeout)
{
	struct pollfd one = { fd, events, 0x7fff };

	show(what, poll(&one, 1, timeout));
	printf("  events %x\n", one.revents);
}

static void use_poll(void)
{
	struct pollfd two[2];
	char bytes[70000];
	long long before = now();
	struct timespec time = { 0, 20000000 };

	show("pipe", pipe(pair));
	poll_once("poll empty", pair[0], POLLIN | POLLRDNORM | POLLOUT, 0);
	poll_once("poll writable", pair[1], POLLOUT | POLLWRNORM | POLLIN, 0);
	show("write", write(pair[1], "abc", 3));
	poll_once("poll readable", pair[0], POLLIN | POLLRDNORM | POLLPRI, -1);
	show("read", read(pair[0], bytes, 3));
	poll_once("poll times out", pair[0], POLLIN, 20);
	printf("waited: %d\n", now() - before >= 20000000);
	poll_once("poll nothing", 99, POLLIN, -1);
	poll_once("poll negative", -1, POLLIN, 0);
	poll_once("poll file", open("/etc/start", O_RDONLY), POLLIN | POLLOUT, -1);
	fcntl(pair[1], F_SETFL, O_NONBLOCK);
	memset(bytes, 'x', sizeof(bytes));
	show("write more than fits", write(pair[1], bytes, sizeof(bytes)));
	poll_once("poll full", pair[1], POLLOUT, 0);
	show("write to full", write(pair[1], bytes, 1));
	show("read a part", read(pair[0], bytes, 4095));
	poll_once("poll with a part", pair[1], POLLOUT, 0);
	show("read the rest of a page", read(pair[0], bytes, 1));
	poll_once("poll with a page", pair[1], POLLOUT, 0);
	show("size", fcntl(pair[0], F_GETPIPE_SZ));
	show("shrink", fcntl(pair[0], F_SETPIPE_SZ, 4096));
	show("grow", fcntl(pair[0], F_SETPIPE_SZ, 100000));
	show("write to grown", write(pair[1], bytes, sizeof(bytes)));
	show("size of none", fcntl(0, F_GETPIPE_SZ));
	close(pair[1]);
	poll_once("poll without a writer", pair[0], POLLIN, -1);
	close(pair[0]);
	pipe(pair);
	close(pair[0]);
	poll_once("poll without a reader", pair[1], POLLOUT, -1);
	close(pair[1]);
	pipe(pair);
	close(pair[1]);
	poll_once("poll at the end", pair[0], 0, -1);
	close(pair[0]);
	two[0] = (struct pollfd){ -1, POLLIN, 0 };
	show("ppoll times out", ppoll(two, 1, &time, NULL));
	show("poll many", syscall(SYS_ppoll, two, 100000, &time, NULL, 0));
	show("poll bad", syscall(SYS_ppoll, 8, 1, &time, NULL, 0));
}

static void *write_late(void *number)
{
	pause_for(10);
	write(pair[1], "1", 1);
	return number;
}

static void *close_late(void *number)
{
	pause_for(10);
	close(pair[1]);
	return number;
}

static void *read_one(void *number)
{
	char byte;

	return (void *)(read(pair[0], &byte, 1) == 1 ? number : NULL);
}

static void wait_with_threads(void)
{
	pthread_t thread, readers[4];
	struct pollfd one;
	void *result;
	int woken = 0;

	pipe(pair);
	pthread_create(&thread, NULL, write_late, NULL);
	poll_once("poll waits", pair[0], POLLIN, -1);
	pthread_join(thread, NULL);
	for (long i = 0; i < 4; i++)
		pthread_create(readers + i, NULL, read_one, (void *)(i + 1));
	pause_for(10);
	write(pair[1], "ab", 2);
	write(pair[1], "c", 1);
	for (int i = 0; i < 4; i++) {
		pthread_join(readers[i], &result);
		woken += result != NULL;
	}
	printf("readers: %d\n", woken);
	pthread_create(&thread, NULL, close_late, NULL);
	one = (struct pollfd){ pair[0], POLLIN, 0 };
	show("poll waits for the end", poll(&one, 1, -1));
	printf("  events %x\n", one.revents);
	pthread_join(thread, NULL);
	close(pair[0]);
}

static void use_select(void)
{
	fd_set reads, writes;
	struct timeval time = { 0, 10000 };
	long long before = now();

	pipe(pair);
	FD_ZERO(&reads);
	FD_ZERO(&writes);
	FD_SET(pair[0], &reads);
	FD_SET(pair[1], &writes);
	show("select", select(pair[1] + 1, &reads, &writes, NULL, NULL));
	printf("  %d %d\n", FD_ISSET(pair[0], &reads) != 0, FD_ISSET(pair[1], &writes) != 0);
	FD_SET(pair[0], &reads);
	show("select times out", select(pair[0] + 1, &reads, NULL, NULL, &time));
	printf("  %d %d %d\n", FD_ISSET(pair[0], &reads) != 0, (int)time.tv_usec,
	       now() - before >= 10000000);
	FD_ZERO(&reads);
	FD_SET(60, &reads);
	show("select nothing", select(61, &reads, NULL, NULL, NULL));
	show("select negative", select(-1, NULL, NULL, NULL, NULL));
	close(pair[0]);
	close(pair[1]);
}

static void use_counter(void)
{
	uint64_t value = 5;
	int counter = eventfd(3, EFD_NONBLOCK);

	show("eventfd flags", eventfd(0, 8));
	poll_once("poll counter", counter, POLLIN | POLLOUT, 0);
	show("add", write(counter, &value, 8));
	show("take", read(counter, &value, 8));
	printf("  value %d\n", (int)value);
	show("take none", read(counter, &value, 8));
	show("take short", read(counter, &value, 7));
	show("add short", write(counter, &value, 4));
	value = -1;
	show("add too much", write(counter, &value, 8));
	value = -2;
	show("add most", write(counter, &value, 8));
	poll_once("poll full counter", counter, POLLIN | POLLOUT, 0);
	value = 1;
	show("add to full", write(counter, &value, 8));
	show("seek", lseek(counter, 0, SEEK_SET));
	show("pread", pread(counter, &value, 8, 0));
	show("truncate", ftruncate(counter, 0));
	close(counter);
	counter = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
	show("take one", read(counter, &value, 8));
	show("take another", read(counter, &value, 8));
	printf("  value %d\n", (int)value);
	show("take none", read(counter, &value, 8));
	close(counter);
}

static void use_timer(void)
{
	struct itimerspec time = { { 0, 0 }, { 0, 20000000 } }, rest;
	uint64_t value = 0;
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	long long before = now();

	show("clock", timerfd_create(77, 0));
	show("flags", timerfd_create(CLOCK_MONOTONIC, 1));
	show("gettime", timerfd_gettime(timer, &rest));
	printf("  %d %d\n", (int)rest.it_value.tv_sec, (int)rest.it_value.tv_nsec);
	show("settime", timerfd_settime(timer, 0, &time, NULL));
	poll_once("poll timer", timer, POLLIN | POLLOUT, 0);
	show("gettime", timerfd_gettime(timer, &rest));
	printf("  %d\n", rest.it_value.tv_nsec > 0 && rest.it_value.tv_nsec <= 20000000);
	show("read", read(timer, &value, 8));
	printf("  value %d %d\n", (int)value, now() - before >= 20000000);
	fcntl(timer, F_SETFL, O_NONBLOCK);
	show("read again", read(timer, &value, 8));
	show("write", write(timer, &value, 8));
	time.it_interval.tv_nsec = 10000000;
	time.it_value.tv_nsec = 10000000;
	show("periodic", timerfd_settime(timer, 0, &time, NULL));
	poll_once("poll waits", timer, POLLIN, -1);
	pause_for(35);
	show("read periodic", read(timer, &value, 8));
	printf("  value %d\n", value >= 4 && value < 40);
	show("read short", read(timer, &value, 4));
	time.it_value.tv_nsec = 1;
	time.it_interval.tv_nsec = 0;
	show("absolute", timerfd_settime(timer, TFD_TIMER_ABSTIME, &time, &rest));
	printf("  %d\n", (int)rest.it_interval.tv_nsec);
	poll_once("poll absolute", timer, POLLIN, -1);
	show("read absolute", read(timer, &value, 8));
	printf("  value %d\n", (int)value);
	time.it_value.tv_nsec = 1000000000;
	show("nanoseconds", timerfd_settime(timer, 0, &time, NULL));
	show("no timer", timerfd_settime(1, 0, &time, NULL));
	show("no timer", timerfd_gettime(1, &time));
	time.it_value.tv_nsec = 0;
	show("disarm", timerfd_settime(timer, 0, &time, NULL));
	poll_once("poll disarmed", timer, POLLIN, 20);
	close(timer);
}

static int events;

static void collect(const char *what, int most, int timeout)
{
	struct epoll_event found[8];
	int count = epoll_wait(events, found, most, timeout);

	show(what, count);
	for (int i = 0; i < count; i++)
		printf("  %x of %d\n", found[i].events, (int)found[i].data.u64);
}

static void control(const char *what, int operation, int fd, unsigned asked, int data)
{
	struct epoll_event event = { asked, { .u64 = data } };

	show(what, epoll_ctl(events, operation, fd, &event));
}

static void use_epoll(void)
{
	int other, counter, again;
	uint64_t value = 1;

	show("create", epoll_create1(1));
	events = epoll_create1(EPOLL_CLOEXEC);
	printf("cloexec %d\n", fcntl(events, F_GETFD));
	pipe(pair);
	control("add", EPOLL_CTL_ADD, pair[0], EPOLLIN, 1);
	control("add twice", EPOLL_CTL_ADD, pair[0], EPOLLIN, 2);
	control("add itself", EPOLL_CTL_ADD, events, EPOLLIN, 2);
	control("add nothing", EPOLL_CTL_ADD, 99, EPOLLIN, 2);
	control("add file", EPOLL_CTL_ADD, open("/etc/start", O_RDONLY), EPOLLIN, 2);
	control("change none", EPOLL_CTL_MOD, pair[1], EPOLLIN, 2);
	control("delete none", EPOLL_CTL_DEL, pair[1], 0, 0);
	control("no operation", 9, pair[0], 0, 0);
	collect("none", 8, 0);
	collect("none in time", 8, 5);
	collect("no room", 0, 0);
	write(pair[1], "abc", 3);
	collect("level", 8, -1);
	collect("level again", 8, -1);
	control("edge", EPOLL_CTL_MOD, pair[0], EPOLLIN | EPOLLET, 3);
	collect("edge", 8, -1);
	collect("edge again", 8, 0);
	write(pair[1], "d", 1);
	collect("edge with more", 8, -1);
	control("once", EPOLL_CTL_MOD, pair[0], EPOLLIN | EPOLLONESHOT, 4);
	collect("once", 8, -1);
	write(pair[1], "e", 1);
	collect("once again", 8, 0);
	control("arm", EPOLL_CTL_MOD, pair[0], EPOLLIN | EPOLLONESHOT, 5);
	collect("armed", 8, -1);
	control("writes", EPOLL_CTL_ADD, pair[1], EPOLLOUT | EPOLLET, 6);
	control("reads", EPOLL_CTL_MOD, pair[0], EPOLLIN | EPOLLRDHUP, 7);
	collect("both", 8, -1);
	collect("one of them", 1, -1);
	close(pair[1]);
	collect("hangup", 8, -1);
	control("closed", EPOLL_CTL_MOD, pair[1], EPOLLOUT, 6);
	again = dup(pair[0]);
	close(pair[0]);
	collect("still open", 8, -1);
	close(again);
	collect("closed", 8, 0);
	/* One in another one, and both in a third one. */
	other = events;
	counter = eventfd(0, EFD_NONBLOCK);
	control("add counter", EPOLL_CTL_ADD, counter, EPOLLIN, 8);
	events = epoll_create1(0);
	control("nest", EPOLL_CTL_ADD, other, EPOLLIN, 9);
	collect("nested none", 8, 0);
	write(counter, &value, 8);
	collect("nested", 8, -1);
	poll_once("poll of polls", events, POLLIN, 0);
	again = events;
	events = other;
	control("loop", EPOLL_CTL_ADD, again, EPOLLIN, 10);
	collect("inner", 8, -1);
	read(counter, &value, 8);
	poll_once("poll of none", again, POLLIN, 0);
	control("exclusive", EPOLL_CTL_MOD, counter, EPOLLIN | EPOLLEXCLUSIVE, 8);
	control("delete", EPOLL_CTL_DEL, counter, 0, 0);
	control("exclusive", EPOLL_CTL_ADD, counter, EPOLLIN | EPOLLEXCLUSIVE, 8);
	control("exclusive, once", EPOLL_CTL_ADD, counter, EPOLLEXCLUSIVE | EPOLLONESHOT, 8);
	control("change exclusive", EPOLL_CTL_MOD, counter, EPOLLIN, 8);
	write(counter, &value, 8);
	collect("exclusive", 8, -1);
	show("read", read(events, &value, 8));
	close(again);
	close(counter);
	collect("all closed", 8, 0);
	/* A chain that is too long. */
	for (int i = 0; i < 6; i++) {
		again = epoll_create1(0);
		other = events;
		events = again;
		control("chain", EPOLL_CTL_ADD, other, EPOLLIN, i);
	}
}

static int of_thread[2];

static void *wait_for_events(void *result)
{
	struct epoll_event event;
	char byte;
	long count = epoll_wait(events, &event, 1, 2000);

	if (count == 1)
		count += read(of_thread[0], &byte, 1);
	return (void *)(count + (long)result);
}

static void wait_for_epoll(void)
{
	pthread_t thread, both[2];
	void *result;
	long sum = 0;
	uint64_t value;
	struct itimerspec time = { { 0, 0 }, { 0, 5000000 } };
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);

	events = epoll_create1(0);
	pipe(of_thread);
	pthread_create(&thread, NULL, wait_for_events, NULL);
	pause_for(5);
	control("add while it waits", EPOLL_CTL_ADD, of_thread[0], EPOLLIN | EPOLLET, 1);
	write(of_thread[1], "a", 1);
	pthread_join(thread, &result);
	show("waited", (long)result);
	/* Each edge wakes one of two threads. */
	for (int i = 0; i < 2; i++)
		pthread_create(both + i, NULL, wait_for_events, NULL);
	pause_for(5);
	write(of_thread[1], "b", 1);
	pause_for(5);
	write(of_thread[1], "c", 1);
	for (int i = 0; i < 2; i++) {
		pthread_join(both[i], &result);
		sum += (long)result;
	}
	show("both", sum);
	control("timer", EPOLL_CTL_ADD, timer, EPOLLIN, 2);
	timerfd_settime(timer, 0, &time, NULL);
	collect("timer", 8, -1);
	show("expired", read(timer, &value, 8));
	collect("timer", 8, 0);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	apart("poll", use_poll);
	apart("threads", wait_with_threads);
	apart("select", use_select);
	apart("counter", use_counter);
	apart("timer", use_timer);
	apart("epoll", use_epoll);
	apart("waits", wait_for_epoll);
	return 0;
}
