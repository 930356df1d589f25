/* Self-test of the POSIX interface. Each case prints its failures; the exit status is 0 without any. */

#include <pthread.h>
#include <stdio.h>

#include "case.h"

static const struct suite *const suites[] = {
	&libc_suite,
	&thread_suite,
	&attributes_suite,
	&cancel_suite,
	&mutex_suite,
	&cond_suite,
	&mqueue_suite,
	&system_suite,
	&semaphore_suite,
	&sync_suite,
	&time_suite,
	&steps_suite,
	&signal_suite,
	&timer_suite,
	&server_suite,
};

static int failures;

void failed(const char *file, int line, const char *what)
{
	printf("FAILED %s:%d: %s\n", file, line, what);
	failures++;
}

int main(void)
{
	struct sched_param parameters = { .sched_priority = 16 };
	int cases = 0;

	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) != 0)
		failed(__FILE__, __LINE__, "SCHED_FIFO");
	for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
		for (const struct test *test = suites[i]->tests; test->run != NULL; test++) {
			int before = failures;
			test->run();
			if (failures != before)
				printf("FAILED %s %s\n", suites[i]->name, test->name);
			cases++;
		}
	printf("%d cases, %d checks failed\n", cases, failures);
	return failures != 0;
}
