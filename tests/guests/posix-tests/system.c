/* The system: limits, options, name, files, memory. */

#include <limits.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "case.h"

/* The macro and sysconf of an option agree; an option without a macro is not supported. */
#define OPTION(name) CHECK(sysconf(_SC_##name) == _POSIX_##name)
#define NO_OPTION(name) CHECK(sysconf(_SC_##name) == -1)

static void options(void)
{
	CHECK(sysconf(_SC_VERSION) == _POSIX_VERSION);
	OPTION(ASYNCHRONOUS_IO);
	OPTION(BARRIERS);
	OPTION(CLOCK_SELECTION);
	OPTION(FSYNC);
	OPTION(JOB_CONTROL);
	OPTION(MAPPED_FILES);
	OPTION(MEMLOCK);
	OPTION(MEMLOCK_RANGE);
	OPTION(MEMORY_PROTECTION);
	OPTION(MESSAGE_PASSING);
	OPTION(MONOTONIC_CLOCK);
	OPTION(PRIORITIZED_IO);
	OPTION(PRIORITY_SCHEDULING);
	OPTION(READER_WRITER_LOCKS);
	OPTION(SAVED_IDS);
	OPTION(SEMAPHORES);
	OPTION(SHARED_MEMORY_OBJECTS);
	OPTION(SPAWN);
	OPTION(SPIN_LOCKS);
	OPTION(SPORADIC_SERVER);
	OPTION(SYNCHRONIZED_IO);
	OPTION(THREADS);
	OPTION(THREAD_ATTR_STACKADDR);
	OPTION(THREAD_ATTR_STACKSIZE);
	OPTION(THREAD_PRIO_INHERIT);
	OPTION(THREAD_PRIO_PROTECT);
	OPTION(THREAD_PRIORITY_SCHEDULING);
	OPTION(THREAD_PROCESS_SHARED);
	OPTION(THREAD_ROBUST_PRIO_INHERIT);
	OPTION(THREAD_ROBUST_PRIO_PROTECT);
	OPTION(THREAD_SAFE_FUNCTIONS);
	OPTION(THREAD_SPORADIC_SERVER);
	OPTION(TIMEOUTS);
	OPTION(TRACE);
	OPTION(TYPED_MEMORY_OBJECTS);
#ifdef _POSIX_TIMERS
	OPTION(TIMERS);
#else
	NO_OPTION(TIMERS);
#endif
#ifdef _POSIX_REALTIME_SIGNALS
	OPTION(REALTIME_SIGNALS);
#else
	NO_OPTION(REALTIME_SIGNALS);
#endif
	NO_OPTION(CPUTIME);
	NO_OPTION(THREAD_CPUTIME);
	errno = 0;
	CHECK(sysconf(9999) == -1 && errno == EINVAL);
	errno = 0;
	CHECK(sysconf(_SC_SPAWN) == -1 && errno == 0);
}

static void limits(void)
{
	CHECK(sysconf(_SC_PAGESIZE) == PAGESIZE);
	CHECK(sysconf(_SC_THREAD_DESTRUCTOR_ITERATIONS) == PTHREAD_DESTRUCTOR_ITERATIONS);
	CHECK(sysconf(_SC_THREAD_KEYS_MAX) == PTHREAD_KEYS_MAX);
	CHECK(sysconf(_SC_THREAD_STACK_MIN) == PTHREAD_STACK_MIN);
	CHECK(sysconf(_SC_THREAD_THREADS_MAX) >= _POSIX_THREAD_THREADS_MAX);
	CHECK(sysconf(_SC_SEM_VALUE_MAX) == SEM_VALUE_MAX);
	CHECK(sysconf(_SC_MQ_PRIO_MAX) == MQ_PRIO_MAX);
	CHECK(sysconf(_SC_MQ_OPEN_MAX) >= _POSIX_MQ_OPEN_MAX);
	CHECK(sysconf(_SC_NPROCESSORS_ONLN) == 1);
}

static void files(void)
{
	char data[4];

	CHECK(write(STDOUT_FILENO, "", 0) == 0);
	CHECK_ERRNO(write(7, "x", 1), EBADF);
	CHECK_ERRNO(write(STDIN_FILENO, "x", 1), EBADF);
	CHECK(read(STDIN_FILENO, data, sizeof data) == 0);
	CHECK_ERRNO(read(7, data, sizeof data), EBADF);
	CHECK_ERRNO(close(3), EBADF);
	CHECK(close(STDIN_FILENO) == 0);
	CHECK(isatty(STDOUT_FILENO) == 1);
	errno = 0;
	CHECK(isatty(9) == 0 && errno == EBADF);
	CHECK_ERRNO(lseek(STDOUT_FILENO, 0, SEEK_SET), ESPIPE);
	CHECK(fopen("nothing", "r") == NULL && errno == ENOENT);
	CHECK(getchar() == EOF);
	CHECK(getpid() == 1);
}

static void name_and_memory(void)
{
	struct utsname name;

	CHECK(uname(&name) == 0);
	CHECK(strcmp(name.sysname, "TenonOS") == 0 && strcmp(name.machine, "aarch64") == 0);
	CHECK(mlockall(MCL_CURRENT | MCL_FUTURE) == 0);
	CHECK_ERRNO(mlockall(0), EINVAL);
	CHECK_ERRNO(mlockall(64), EINVAL);
	CHECK(mlock(&name, sizeof name) == 0 && munlock(&name, sizeof name) == 0);
	CHECK(munlockall() == 0);
}

static volatile int turns[2];

static void *turns_round(void *argument)
{
	int which = (int)(size_t)argument, policy;
	struct sched_param parameters;

	CHECK(pthread_getschedparam(pthread_self(), &policy, &parameters) == 0);
	CHECK(policy == SCHED_RR);
	/* Neither thread yields: only time slices schedule the other one. */
	while (turns[!which] < 3)
		turns[which]++;
	turns[which] += 3;
	return NULL;
}

static void round_robin(void)
{
	pthread_attr_t attributes;
	struct sched_param parameters = { .sched_priority = 10 };
	struct timespec interval = { 0, 0 };
	pthread_t threads[2];

	CHECK(sched_rr_get_interval(0, &interval) == 0);
	CHECK(interval.tv_sec == 0 && interval.tv_nsec >= 10000);
	CHECK_ERRNO(sched_rr_get_interval(7, &interval), ESRCH);
	CHECK(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED) == 0);
	CHECK(pthread_attr_setschedpolicy(&attributes, SCHED_RR) == 0);
	CHECK(pthread_attr_setschedparam(&attributes, &parameters) == 0);
	for (size_t i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], &attributes, turns_round, (void *)i) == 0);
	for (size_t i = 0; i < 2; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

static const struct test tests[] = {
	{ "options", options },
	{ "limits", limits },
	{ "files", files },
	{ "name and memory", name_and_memory },
	{ "round robin", round_robin },
	{ NULL, NULL },
};
const struct suite system_suite = { "system", tests };
