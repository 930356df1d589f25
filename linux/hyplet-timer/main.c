// SPDX-License-Identifier: GPL-2.0
/*
 * hyplet-timer: a periodic timer of a program, on a lent CPU.
 *
 * Each release is an absolute time, for which the function waits without Linux. Latencies are
 * counted in ticks of the counter, and printed at the end.
 */
#include <tenon/hyplet.h>

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Exit statuses, as of tenonctl. */
enum { FAILED = 1, WRONG = 2 };

enum { LATENESSES = 1024, STACK = 16384 };

static const char usage[] =
	"hyplet-timer [--cpu N] [--khz N] [--releases N]\n"
	"\n"
	"Runs a function N times at so many kHz on a CPU that Linux gives up (by default the last\n"
	"one, 20 kHz, 20,000 releases), and says how late each release was.\n";

HYP_DATA static struct {
	uint64_t period; /* ns */
	uint64_t tick; /* of the counter, in ns */
	uint64_t releases;
	uint64_t done;
	uint64_t early;
	uint64_t missed; /* later than the next release */
	uint64_t latest;
	uint64_t late[LATENESSES]; /* histogram by ticks; the last bin holds all longer ones */
} timer;

static char stack[STACK] __attribute__((aligned(4096)));

HYP_CODE static long release(long last)
{
	uint64_t frequency, next = hyp_gettime() + 10 * timer.period;

	__asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
	timer.tick = 1000000000 / frequency;
	for (; timer.done < timer.releases; timer.done++, next += timer.period) {
		uint64_t now, late;

		hyp_wait_until(next);
		now = hyp_gettime();
		late = now - next;
		if (now < next) {
			timer.early++;
			continue;
		}
		timer.missed += late >= timer.period;
		if (late > timer.latest)
			timer.latest = late;
		late /= timer.tick;
		timer.late[late < LATENESSES ? late : LATENESSES - 1]++;
		hyp_progress();
	}
	return last;
}

static _Noreturn void give_up(int status, const char *format, ...)
{
	va_list arguments;

	fputs("hyplet-timer: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(status);
}

static void must(int result, const char *what)
{
	if (result)
		give_up(FAILED, "%s: %s", what, strerror(errno));
}

static uint64_t number(const char *option, const char *text, uint64_t least, uint64_t most)
{
	char *end;
	uint64_t value;

	if (!text)
		give_up(WRONG, "%s needs a number", option);
	value = strtoull(text, &end, 10);
	if (*end || end == text || value < least || value > most)
		give_up(WRONG, "%s is %" PRIu64 " to %" PRIu64 ", not \"%s\"", option, least, most,
			text);
	return value;
}

static int settings(char **argument)
{
	int cpu = sysconf(_SC_NPROCESSORS_CONF) - 1;

	timer.period = 50000;
	timer.releases = 20000;
	for (argument++; *argument; argument += 2) {
		if (!strcmp(*argument, "--cpu"))
			cpu = number(*argument, argument[1], 0, HYP_CPUS - 1);
		else if (!strcmp(*argument, "--khz"))
			timer.period = 1000000 / number(*argument, argument[1], 1, 100);
		else if (!strcmp(*argument, "--releases"))
			timer.releases = number(*argument, argument[1], 1, 100000000);
		else
			give_up(WRONG, "no option \"%s\"\n\n%s", *argument, usage);
	}
	return cpu;
}

/* Quantile of the latency in ns. */
static uint64_t lateness(uint64_t share)
{
	uint64_t ticks, releases = 0;

	for (ticks = 0; ticks < LATENESSES; ticks++) {
		releases += timer.late[ticks];
		if (releases >= share)
			break;
	}
	return ticks * timer.tick;
}

static void report(const struct tenon_hyplet_end *end)
{
	if (end->state != TENON_HYPLET_RETURNED)
		give_up(FAILED, "ended in state %u at %#llx", end->state,
			(unsigned long long)end->pc);
	printf("%" PRIu64 " releases, %" PRIu64 " early, %" PRIu64 " missed; late by %" PRIu64
	       " ns at least, %" PRIu64 " for 99 of 100, %" PRIu64 " at most\n",
	       timer.done, timer.early, timer.missed, lateness(1),
	       lateness(timer.done - timer.done / 100), timer.latest);
}

int main(int count, char **argument)
{
	struct tenon_hyplet_end end;
	int cpu;

	if (count == 2 && !strcmp(argument[1], "--help")) {
		fputs(usage, stdout);
		return 0;
	}
	cpu = settings(argument);
	must(hyp_map_section("hyp_code"), "mapping the code");
	must(hyp_map_section("hyp_data"), "mapping the data");
	must(hyp_set_stack(stack, sizeof(stack)), "mapping the stack");
	must(hyplet_drop_cpu(cpu), "taking the CPU from Linux");
	must(hyp_assign_offlet(cpu, release), "running the timer");
	must(hyp_wait(release, &end), "waiting for the timer");
	report(&end);
	return 0;
}
