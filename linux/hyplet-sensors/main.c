// SPDX-License-Identifier: GPL-2.0
/*
 * hyplet-sensors: an ultrasonic and an infrared sensor that can only be polled.
 *
 * The same function polls them as a hyplet on a lent CPU, and with --attached as an ordinary Linux
 * program. Another VM emulates the sensors (bench/apps/sensors) over two channels: one carries
 * changes of the pins to it, the other the level of the polled pin from it.
 *
 * Under an emulator that runs the cores in turn, time does not show the effect of another load.
 * Then the polls of a constant pin are counted instead, a fixed number between two marks
 * (bench/plugin).
 */
#include <tenon/channel.h>
#include <tenon/hyplet.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FAILED = 1, WRONG = 2, SAMPLES = 1000, STACK = 16384, A_LINE = 8, LOOKS = 50000 };

enum deed { TRIGGER = 1, LAMP_ON, LAMP_OFF };

#define MARK_BEGIN ".inst 0xd5032fdf"
#define MARK_END ".inst 0xd5032fff"

#define MICROSECOND 1000ull
#define TRIGGER_LASTS (100 * MICROSECOND)
#define PAUSE (500 * MICROSECOND)
/* Time for Linux to finish starting this program. */
#define SETTLING (100000 * MICROSECOND)
/* Time limit for a response of a sensor. */
#define PATIENCE (1000000 * MICROSECOND)

HYP_DATA static struct {
	struct tenon_line pins, levels;
	uint64_t samples;
	uint64_t distances[SAMPLES], lights[SAMPLES]; /* ns */
} sensors;

static char stack[STACK] __attribute__((aligned(4096)));

/* Polls the pin: whether it has that level now. */
HYP_INLINE bool poll_pin(uint64_t wanted, uint64_t *when)
{
	uint64_t level = !wanted;

	if (tenon_line_take(&sensors.levels, &level) && level == wanted)
		return true;
	*when = hyp_gettime();
	return false;
}

/* Polls until the pin has that level; returns the time of the last poll before, 0 on time-out. */
HYP_INLINE uint64_t poll_until(uint64_t wanted)
{
	uint64_t begin = hyp_gettime(), last = begin;

	while (!poll_pin(wanted, &last))
		if (last - begin > PATIENCE)
			return 0;
	return last;
}

HYP_INLINE void rest(uint64_t ns)
{
	uint64_t end = hyp_gettime() + ns;

	while (hyp_gettime() < end)
		;
}

HYP_INLINE uint64_t set(enum deed deed)
{
	uint64_t now = hyp_gettime();

	tenon_line_send(&sensors.pins, now << 2 | deed);
	return now;
}

/* Duration of the echo of a trigger. */
HYP_INLINE uint64_t echo(void)
{
	uint64_t begin;

	rest(TRIGGER_LASTS);
	set(TRIGGER);
	begin = poll_until(1);
	return begin ? poll_until(0) - begin : 0;
}

/* Time from switching the lamp on until it is detected. */
HYP_INLINE uint64_t light(void)
{
	uint64_t begin = set(LAMP_ON), seen = poll_until(1);

	set(LAMP_OFF);
	return poll_until(0) && seen ? seen - begin : 0;
}

HYP_CODE static long measure(long last)
{
	uint64_t sample;

	rest(SETTLING);
	for (sample = 0; sample < sensors.samples; sample++) {
		sensors.distances[sample] = echo();
		rest(PAUSE);
		sensors.lights[sample] = light();
		rest(PAUSE);
	}
	return last;
}

HYP_CODE static long look_again(long last)
{
	uint64_t sample, when = 0;
	int turn;

	for (sample = 0; sample < sensors.samples; sample++) {
		__asm__ volatile(MARK_BEGIN ::: "memory");
		for (turn = 0; turn < LOOKS; turn++) {
			poll_pin(1, &when);
			/* Keeps the value alive for the compiler. */
			__asm__ volatile("" : : "r"(when));
		}
		__asm__ volatile(MARK_END ::: "memory");
	}
	return last;
}

static void must(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "hyplet-sensors: %s: %s\n", what, strerror(errno));
	exit(FAILED);
}

static void on_a_core_of_its_own(int cpu, hyplet_function *function)
{
	struct tenon_hyplet_end end;

	must(hyp_map_section("hyp_code"), "mapping the code");
	must(hyp_map_section("hyp_data"), "mapping the data");
	must(tenon_line_map(&sensors.pins), "mapping the pins");
	must(tenon_line_map(&sensors.levels), "mapping the levels");
	must(hyp_set_stack(stack, sizeof(stack)), "mapping the stack");
	must(hyplet_drop_cpu(cpu), "taking the CPU from Linux");
	must(hyp_assign_offlet(cpu, function), "running there");
	must(hyp_wait(function, &end), "waiting for the end");
	if (end.state != TENON_HYPLET_RETURNED) {
		fprintf(stderr, "hyplet-sensors: ended in state %u at %#llx\n", end.state,
			(unsigned long long)end.pc);
		exit(FAILED);
	}
}

/* Prints the samples in lines that no console truncates. */
static void report(const char *what, const uint64_t *found)
{
	uint64_t sample;

	for (sample = 0; sample < sensors.samples; sample++)
		printf("%s%" PRIu64 "%s", sample % A_LINE ? " " : what, found[sample],
		       sample % A_LINE == A_LINE - 1 || sample + 1 == sensors.samples ? "\n" : "");
}

static _Noreturn void explain(void)
{
	fputs("hyplet-sensors [--attached] measure|look CPU SAMPLES\n"
	      "\n"
	      "measure polls a distance and a light sensor on a CPU that Linux gives up, or attached,\n"
	      "and says how many ns each echo and each wait for light was (0: none came); look has\n"
	      "50,000 looks at a pin between two marks instead.\n",
	      stderr);
	exit(WRONG);
}

static long number(const char *text, long least, long most)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || end == text || value < least || value > most)
		explain();
	return value;
}

int main(int count, char **argument)
{
	bool attached = count > 1 && !strcmp(argument[1], "--attached");
	hyplet_function *function;
	int cpu;

	argument += 1 + attached;
	if (count != 4 + attached)
		explain();
	if (strcmp(argument[0], "measure") && strcmp(argument[0], "look"))
		explain();
	function = *argument[0] == 'm' ? measure : look_again;
	cpu = number(argument[1], 0, HYP_CPUS - 1);
	sensors.samples = number(argument[2], 1, SAMPLES);
	must(tenon_line_open(&sensors.pins, "pins"), "the pins");
	must(tenon_line_open(&sensors.levels, "levels"), "the levels");
	if (attached)
		function(0);
	else
		on_a_core_of_its_own(cpu, function);
	if (function == measure) {
		report("echo ", sensors.distances);
		report("light ", sensors.lights);
	}
	return 0;
}
