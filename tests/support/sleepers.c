/*
 * Processes with deadlines around the releases of a loop of 1 ms, 370 us after each full millisecond:
 * half of them sleep, half wait for the signal of a timer. Each deadline moves by 16 ns from one
 * release to the next.
 */
#include "system_call.h"

enum { EXIT_GROUP = 94, SLEEP = 115, GETTIME = 113, TIMER_CREATE = 107, TIMER_SETTIME = 110 };
enum { SIGPROCMASK = 135, SIGTIMEDWAIT = 137, CLONE = 220, WAIT = 260 };
enum { MONOTONIC = 1, ABSOLUTE = 1, SIGALRM = 14, SIGCHLD = 17, BLOCK = 0, EINTR = -4 };
enum { PROCESSES = 10, RELEASES = 100, PERIOD = 1000000, PHASE = 370000 };

struct time {
	word seconds;
	word nanoseconds;
};

static struct time to_time(word nanoseconds)
{
	return (struct time){ nanoseconds / 1000000000, nanoseconds % 1000000000 };
}

static word now(void)
{
	struct time time;

	call(GETTIME, MONOTONIC, (word)&time, 0, 0, 0, 0);
	return time.seconds * 1000000000 + time.nanoseconds;
}

static void sleep_until(word deadline)
{
	struct time time = to_time(deadline);

	while (call(SLEEP, MONOTONIC, ABSOLUTE, (word)&time, 0, 0, 0) == EINTR)
		;
}

static int timer;
static word alarm = 1 << (SIGALRM - 1);

static void wait_for_signal_at(word deadline)
{
	struct time setting[2] = { { 0, 0 }, to_time(deadline) };

	call(TIMER_SETTIME, timer, ABSOLUTE, (word)setting, 0, 0, 0);
	call(SIGTIMEDWAIT, (word)&alarm, 0, 0, 8, 0, 0);
}

static void wait_near_releases(long process)
{
	long offset = (process - PROCESSES) * 160;

	call(SIGPROCMASK, BLOCK, (word)&alarm, 0, 8, 0, 0);
	call(TIMER_CREATE, MONOTONIC, 0, (word)&timer, 0, 0, 0);
	for (int release = 0; release < RELEASES; release++) {
		word deadline = (now() / PERIOD + 2) * PERIOD + PHASE + offset;

		if (process & 1)
			sleep_until(deadline);
		else
			wait_for_signal_at(deadline);
		offset += 16;
	}
}

void _start(void)
{
	int ended = 0;

	for (long process = 0; process < PROCESSES; process++) {
		if (call(CLONE, SIGCHLD, 0, 0, 0, 0, 0) == 0) {
			wait_near_releases(process);
			call(EXIT_GROUP, 0, 0, 0, 0, 0, 0);
		}
	}
	while (call(WAIT, -1, 0, 0, 0, 0, 0) > 0)
		ended++;
	print("ended: ");
	print_number(ended);
	print("\n");
	call(EXIT_GROUP, 0, 0, 0, 0, 0, 0);
}
