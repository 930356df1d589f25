/* Two threads that exchange a number through two message queues.
 *
 * The main thread reads the number from standard input and sends it on the first queue. The other
 * thread applies a step of the challenge and returns it on the second queue. After forty round trips
 * the main thread prints the answer.
 *
 * A portable POSIX program. */

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEPS 40
#define LINE 16

static mqd_t there, back;

static void must(int fine, const char *what)
{
	if (!fine) {
		fprintf(stderr, "%s: %s\n", what, strerror(errno));
		exit(EXIT_FAILURE);
	}
}

static mqd_t create(const char *name)
{
	struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = sizeof(uint32_t) };
	mqd_t queue;

	mq_unlink(name);
	queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
	must(queue != (mqd_t)-1, "mq_open");
	return queue;
}

static void put(mqd_t queue, uint32_t number)
{
	must(mq_send(queue, (const char *)&number, sizeof(number), 0) == 0, "mq_send");
}

static uint32_t got(mqd_t queue)
{
	uint32_t number = 0;

	must(mq_receive(queue, (char *)&number, sizeof(number), NULL) == sizeof(number),
	     "mq_receive");
	return number;
}

/* One step of a response, as in tests/support/challenge. */
static uint32_t step(uint32_t number)
{
	return ((number << 7 | number >> 25) * UINT32_C(0x2545f491)) ^ UINT32_C(0x6d2b79f5);
}

static void *run(void *unused)
{
	(void)unused;
	for (int i = 0; i < STEPS; i++)
		put(back, step(got(there)));
	return NULL;
}

static uint32_t asked(void)
{
	char line[LINE + 1];
	ssize_t length;

	puts("which number?");
	length = read(STDIN_FILENO, line, LINE);
	must(length > 0, "read");
	line[length] = '\0';
	return (uint32_t)strtoul(line, NULL, 10);
}

int main(void)
{
	uint32_t number = asked();
	pthread_t other;

	there = create("/relay-there");
	back = create("/relay-back");
	must(pthread_create(&other, NULL, run, NULL) == 0, "pthread_create");
	for (int i = 0; i < STEPS; i++) {
		put(there, number);
		number = got(back);
	}
	must(pthread_join(other, NULL) == 0, "pthread_join");
	printf("the answer is %lu\n", (unsigned long)number);
	return EXIT_SUCCESS;
}
