/* Turns each CPU of Linux off and on, by calls to plugs.c that are stopped at many points: Linux runs
 * only during a call, so each time-out suspends its CPUs wherever they are. */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <tenon/vlib.h>
#include <time.h>

/* Requests to plugs.c. */
struct request {
	uint64_t cpu;
	uint64_t online;
	uint64_t answer;
};

#define US 1000ull

static void sleep_us(long us)
{
	const struct timespec pause = { .tv_nsec = us * 1000 };

	nanosleep(&pause, NULL);
}

/* From 20 to 531 us. */
static uint64_t next_timeout(void)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return (20 + (state >> 23)) * US;
}

/* One call, continued until it ends; the number of time-outs, or -1. */
static long complete(vlib_channel_t channel)
{
	for (long stops = 0;; stops++) {
		if (!vlib_call(channel, next_timeout()))
			return stops;
		if (errno != ETIMEDOUT)
			return -1;
		sleep_us(30);
	}
}

int main(void)
{
	volatile struct request *request;
	vlib_channel_t channel;
	void *memory;
	long stops = 0;

	if (vlib_init("helper", sizeof(*request), &channel, &memory)) {
		printf("plugger: WRONG: errno %d\n", errno);
		return 1;
	}
	request = memory;
	/* CPU 0 is online: an order without effect, once the server listens. */
	request->online = 1;
	while (complete(channel) < 0 && errno == ENOTRECOVERABLE)
		sleep_us(20000);
	for (int round = 0; round < ROUNDS; round++)
		for (int step = 0; step < 2 * CPUS; step++) {
			uint64_t online = step % 2, expected = CPUS - 1 + online;
			long stopped;

			request->cpu = step / 2;
			request->online = online;
			request->answer = UINT64_MAX;
			stopped = complete(channel);
			if (stopped < 0 || request->answer != expected) {
				printf("plugger: WRONG: round %d, CPU %d: errno %d, %llu CPUs\n", round,
				       step / 2, errno, (unsigned long long)request->answer);
				return 1;
			}
			stops += stopped;
		}
	printf("plugger: %ld stops\n", stops);
	puts("plugger: done");
	return 0;
}
