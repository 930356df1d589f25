/* Producers and a consumer with message queues.
 *
  * Three producers send parts to a queue of four messages, from which a consumer receives them. Urgent
  * parts have a higher message priority. The consumer checks that each part arrives once, and in order
  * per producer and priority, and reports on a second queue.
  *
  * A portable POSIX program. */

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PRODUCERS 3
#define PARTS 200
#define URGENT 7
#define BELT "/conveyor-belt"
#define REPORT "/conveyor-report"

struct part {
	int producer;
	int number;
};

struct report {
	int taken;
	int urgent;
	int out_of_order;
};

static void must(int fine, const char *what)
{
	if (!fine) {
		fprintf(stderr, "%s: %s\n", what, strerror(errno));
		exit(EXIT_FAILURE);
	}
}

/* Every tenth part is urgent. */
static unsigned int urgency(int number)
{
	return number % 10 == 9 ? URGENT : 0;
}

static mqd_t create(const char *name, int flags, long count, size_t size)
{
	struct mq_attr attributes = { .mq_maxmsg = count, .mq_msgsize = (long)size };
	mqd_t queue;

	mq_unlink(name);
	queue = mq_open(name, O_CREAT | O_EXCL | flags, 0600, &attributes);
	must(queue != (mqd_t)-1, "mq_open");
	return queue;
}

static void *produce(void *argument)
{
	struct part part = { .producer = *(int *)argument };
	mqd_t belt = mq_open(BELT, O_WRONLY);

	must(belt != (mqd_t)-1, "mq_open");
	for (part.number = 0; part.number < PARTS; part.number++)
		must(mq_send(belt, (const char *)&part, sizeof part, urgency(part.number)) == 0,
		     "mq_send");
	must(mq_close(belt) == 0, "mq_close");
	return NULL;
}

static void *consume(void *argument)
{
	int next[PRODUCERS][2];
	struct report report = { 0 };
	mqd_t belt = *(mqd_t *)argument, reports = mq_open(REPORT, O_WRONLY);

	must(reports != (mqd_t)-1, "mq_open");
	for (int i = 0; i < PRODUCERS; i++)
		next[i][0] = 0, next[i][1] = 9;
	while (report.taken < PRODUCERS * PARTS) {
		struct part part;
		unsigned int priority;
		struct timespec limit;
		int *expected;

		must(clock_gettime(CLOCK_REALTIME, &limit) == 0, "clock_gettime");
		limit.tv_sec += 10;
		must(mq_timedreceive(belt, (char *)&part, sizeof part, &priority, &limit) ==
			     (ssize_t)sizeof part, "mq_timedreceive");
		expected = &next[part.producer][priority == URGENT];
		if (part.number != *expected || priority != urgency(part.number))
			report.out_of_order++;
		*expected = priority == URGENT ? part.number + 10 : part.number + 1 + (part.number % 10 == 8);
		report.urgent += priority == URGENT;
		report.taken++;
	}
	must(mq_send(reports, (const char *)&report, sizeof report, 0) == 0, "mq_send");
	must(mq_close(reports) == 0, "mq_close");
	return NULL;
}

int main(void)
{
	int numbers[PRODUCERS];
	pthread_t producers[PRODUCERS], consumer;
	mqd_t belt = create(BELT, O_RDONLY, 4, sizeof(struct part));
	mqd_t reports = create(REPORT, O_RDONLY, 1, sizeof(struct report));
	struct mq_attr attributes;
	struct report report;

	for (int i = 0; i < PRODUCERS; i++) {
		numbers[i] = i;
		errno = pthread_create(&producers[i], NULL, produce, &numbers[i]);
		must(errno == 0, "pthread_create");
	}
	errno = pthread_create(&consumer, NULL, consume, &belt);
	must(errno == 0, "pthread_create");
	must(mq_receive(reports, (char *)&report, sizeof report, NULL) == (ssize_t)sizeof report,
	     "mq_receive");
	for (int i = 0; i < PRODUCERS; i++)
		pthread_join(producers[i], NULL);
	pthread_join(consumer, NULL);
	must(mq_getattr(belt, &attributes) == 0, "mq_getattr");
	must(mq_close(belt) == 0 && mq_close(reports) == 0, "mq_close");
	must(mq_unlink(BELT) == 0 && mq_unlink(REPORT) == 0, "mq_unlink");

	printf("%d parts of %d producers, %d of them urgent, %d out of order\n", report.taken, PRODUCERS,
	       report.urgent, report.out_of_order);
	return report.out_of_order == 0 && attributes.mq_curmsgs == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
