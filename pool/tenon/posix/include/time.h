/* Time (POSIX.1-2017, <time.h>): the C library's calendar, and clocks and sleeping. */

#include <sys/features.h>
#include <sys/types.h>

/* Declared here instead of in the C library's header, as far as supported. */
#undef _POSIX_TIMERS
#undef _POSIX_CLOCK_SELECTION
#include_next <time.h>
#define _POSIX_TIMERS 200809L
#define _POSIX_CLOCK_SELECTION 200809L

#ifndef TENON_TIME_H
#define TENON_TIME_H

/* The value that POSIX requires, whatever the clock's resolution. */
#undef CLOCKS_PER_SEC
#define CLOCKS_PER_SEC ((clock_t)1000000)

#ifdef __cplusplus
extern "C" {
#endif

int clock_gettime(clockid_t __clock, struct timespec *__now);
int clock_getres(clockid_t __clock, struct timespec *__resolution);
int clock_settime(clockid_t __clock, const struct timespec *__now);
int clock_nanosleep(clockid_t __clock, int __flags, const struct timespec *__time,
		    struct timespec *__rest);
struct itimerspec;
struct sigevent;
int timer_create(clockid_t __clock, struct sigevent *__restrict __event,
		 timer_t *__restrict __which);
int timer_delete(timer_t __which);
int timer_settime(timer_t __which, int __flags, const struct itimerspec *__restrict __new,
		  struct itimerspec *__restrict __old);
int timer_gettime(timer_t __which, struct itimerspec *__left);
int timer_getoverrun(timer_t __which);

int nanosleep(const struct timespec *__time, struct timespec *__rest);

#ifdef __cplusplus
}
#endif

#endif
