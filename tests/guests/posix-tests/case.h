/* Test cases and their checks. */

#ifndef CASE_H
#define CASE_H

#include <errno.h>
#include <stddef.h>

struct test {
	const char *name;
	void (*run)(void);
};

/* A list of cases, ended by one without a function. */
struct suite {
	const char *name;
	const struct test *tests;
};

extern const struct suite libc_suite;
extern const struct suite thread_suite;
extern const struct suite attributes_suite;
extern const struct suite cancel_suite;
extern const struct suite mutex_suite;
extern const struct suite cond_suite;
extern const struct suite semaphore_suite;
extern const struct suite sync_suite;
extern const struct suite mqueue_suite;
extern const struct suite time_suite;
extern const struct suite steps_suite;
extern const struct suite signal_suite;
extern const struct suite system_suite;
extern const struct suite timer_suite;
extern const struct suite server_suite;

void failed(const char *file, int line, const char *what);

/* Checks a condition; the case continues on a failure. */
#define CHECK(what) ((what) ? (void)0 : failed(__FILE__, __LINE__, #what))

/* Checks that a call returns -1 with this errno. */
#define CHECK_ERRNO(call, number) \
	(errno = 0, CHECK((call) == -1), CHECK(errno == (number)))

#endif
