/* Scheduling (POSIX.1-2017, <sched.h>). */

#ifndef TENON_SCHED_H
#define TENON_SCHED_H

#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCHED_OTHER 0
#define SCHED_FIFO 1
#define SCHED_RR 2

struct sched_param {
	int sched_priority;
};

int sched_get_priority_max(int __policy);
int sched_get_priority_min(int __policy);
int sched_getparam(pid_t __process, struct sched_param *__parameters);
int sched_getscheduler(pid_t __process);
int sched_rr_get_interval(pid_t __process, struct timespec *__interval);
int sched_setparam(pid_t __process, const struct sched_param *__parameters);
int sched_setscheduler(pid_t __process, int __policy, const struct sched_param *__parameters);
int sched_yield(void);

#ifdef __cplusplus
}
#endif

#endif
