/* Messages to another VM by POSIX message queues.
 *
 * The queues /requests and /replies are channels of the system; the application echo is at their other
 * ends. Each message must return, in order. Invalid uses of queues are tested too. */

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LETTERS 200
#define SIZE 64

static int failed;

static void judge(int fine, const char *what)
{
	printf("%s %s\n", fine ? "ok" : "FAILED", what);
	failed += !fine;
}

static struct timespec in_milliseconds(long milliseconds)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_nsec += milliseconds * 1000000;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

int main(void)
{
	mqd_t requests = mq_open("/requests", O_WRONLY);
	mqd_t replies = mq_open("/replies", O_RDONLY);
	char letter[SIZE], answer[SIZE];
	struct mq_attr attributes;
	unsigned priority = 1;

	judge(requests != (mqd_t)-1 && replies != (mqd_t)-1, "both queues open");
	judge(mq_open("/requests", O_RDONLY) == (mqd_t)-1 && errno == EACCES, "the other end is not ours");
	judge(mq_open("/requests", O_WRONLY) == (mqd_t)-1 && errno == EBUSY, "an end is opened once");
	judge(mq_open("/nowhere", O_WRONLY) == (mqd_t)-1 && errno == ENOENT, "what is not declared is not there");
	judge(mq_getattr(requests, &attributes) == 0 && attributes.mq_maxmsg == 16 &&
	      attributes.mq_msgsize == SIZE && attributes.mq_curmsgs == 0, "the queue is as declared");

	int fine = 1;
	for (int number = 0; number < LETTERS; number++) {
		size_t length = 1 + number % SIZE;

		memset(letter, number, length);
		fine &= mq_send(requests, letter, length, number % 8) == 0;
		fine &= mq_receive(replies, answer, SIZE, &priority) == (ssize_t)length;
		fine &= memcmp(letter, answer, length) == 0 && priority == 0;
	}
	judge(fine, "each letter comes back");

	judge(mq_send(requests, letter, SIZE + 1, 0) == -1 && errno == EMSGSIZE, "a long letter is refused");
	judge(mq_receive(replies, answer, SIZE - 1, NULL) == -1 && errno == EMSGSIZE, "so is little room");
	judge(mq_send(replies, letter, 1, 0) == -1 && errno == EBADF, "a queue has one direction");
	struct timespec limit = in_milliseconds(2);
	judge(mq_timedreceive(replies, answer, SIZE, NULL, &limit) == -1 && errno == ETIMEDOUT,
	      "a wait has its limit");
	attributes.mq_flags = O_NONBLOCK;
	judge(mq_setattr(replies, &attributes, NULL) == 0 &&
	      mq_receive(replies, answer, SIZE, NULL) == -1 && errno == EAGAIN, "none is waited for");
	judge(mq_close(requests) == 0 && mq_close(requests) == -1 && errno == EBADF, "closed is closed");
	requests = mq_open("/requests", O_WRONLY);
	attributes.mq_flags = 0;
	mq_setattr(replies, &attributes, NULL);
	judge(mq_send(requests, "again", 5, 0) == 0 && mq_receive(replies, answer, SIZE, NULL) == 5,
	      "and may be opened again");

	printf("mqueue-client: %d failed\n", failed);
	return failed;
}
