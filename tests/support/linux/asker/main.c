/* vLib calls from C: each function, and each error that a single program can cause. */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <tenon/vlib.h>
#include <time.h>

/* Requests to callee.c. */
struct request {
	uint64_t ask;
	uint64_t argument;
	uint64_t answer;
};

enum { NEXT, SPIN };

#define MS 1000000ull

static volatile int told = -1;
static volatile uintptr_t word;

static void tell(int error, uintptr_t with)
{
	word = with;
	told = error;
}

static void sleep_ms(long ms)
{
	const struct timespec pause = { .tv_nsec = ms * 1000000 };

	nanosleep(&pause, NULL);
}

static void ask(volatile struct request *request, uint64_t what, uint64_t argument)
{
	request->ask = what;
	request->argument = argument;
	request->answer = UINT64_MAX;
}

/* Checks that a call failed with this error, or succeeded. */
static void expect(const char *name, int result, int error)
{
	if (error ? result == -1 && errno == error : result == 0)
		printf("%s: as promised\n", name);
	else
		printf("%s: WRONG: %d, errno %d\n", name, result, errno);
}

static void expect_value(const char *name, uint64_t found, uint64_t expected)
{
	if (found == expected)
		printf("%s: as promised\n", name);
	else
		printf("%s: WRONG: %llu\n", name, (unsigned long long)found);
}

int main(void)
{
	vlib_channel_t channel, other;
	void *memory, *more;
	volatile struct request *request;
	int result;

	expect("no such vlib", vlib_init("nobody", 64, &channel, &memory), ENOENT);
	expect("no place", vlib_init("helper", 64, NULL, &memory), EINVAL);
	expect("too large", vlib_init("helper", 1 << 20, &channel, &memory), ENOMEM);
	expect("opened", vlib_init("helper", sizeof(*request), &channel, &memory), 0);
	request = memory;
	for (int tries = 0; tries < 1000; tries++) {
		ask(request, NEXT, 41);
		result = vlib_call(channel, VLIB_FOREVER);
		if (!result || errno != ENOTRECOVERABLE)
			break;
		sleep_ms(20);
	}
	expect("called", result, 0);
	expect_value("answered", request->answer, 42);

	ask(request, SPIN, 2 * MS);
	expect("too late", vlib_call(channel, MS / 2), ETIMEDOUT);
	expect("not yet its own", vlib_channel_destroy(channel), EBUSY);
	expect("gone on with", vlib_call(channel, VLIB_FOREVER), 0);
	expect_value("answered late", request->answer, 0);

	ask(request, SPIN, MS);
	expect("more than the core has", vlib_async_budget(channel, 2 * MS, MS), EAGAIN);
	expect("a budget", vlib_async_budget(channel, MS, 10 * MS), 0);
	expect("no budget any more", vlib_async_budget(channel, 0, 0), 0);
	expect("nobody to tell", vlib_async_call(channel, NULL, 7, VLIB_FOREVER), EINVAL);
	expect("asked for", vlib_async_call(channel, tell, 7, VLIB_FOREVER), 0);
	expect("asked for twice", vlib_async_call(channel, tell, 8, VLIB_FOREVER), EBUSY);
	expect("called meanwhile", vlib_call(channel, VLIB_FOREVER), EBUSY);
	expect_value("not waited for", told, -1);
	sleep_ms(20);
	expect_value("told", told, 0);
	expect_value("told with", word, 7);
	ask(request, SPIN, 30 * MS);
	expect("asked for in time", vlib_async_call(channel, tell, 9, MS / 2), 0);
	sleep_ms(20);
	expect_value("told of the time", told, ETIMEDOUT);
	expect("brought to its end", vlib_call(channel, VLIB_FOREVER), 0);

	expect("another one", vlib_init("helper", sizeof(*request), &other, &more), 0);
	expect_value("apart", more != memory && other != channel, 1);
	expect("destroyed", vlib_channel_destroy(other), 0);
	expect("none any more", vlib_call(other, VLIB_FOREVER), EINVAL);
	expect("the first too", vlib_channel_destroy(channel), 0);
	expect("destroyed twice", vlib_channel_destroy(channel), EINVAL);
	puts("asker: done");
	return 0;
}
