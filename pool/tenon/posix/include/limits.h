/* Limits (POSIX.1-2017, <limits.h>): the C library's, and those of threads. */

#include_next <limits.h>

#ifndef TENON_LIMITS_H
#define TENON_LIMITS_H

#include <sys/features.h>

/* Minimum values that POSIX requires. */
#define _POSIX_THREAD_DESTRUCTOR_ITERATIONS 4
#define _POSIX_THREAD_KEYS_MAX 128
#define _POSIX_THREAD_THREADS_MAX 64

#define _POSIX_MQ_OPEN_MAX 8
#define _POSIX_MQ_PRIO_MAX 32
#define _POSIX_SEM_NSEMS_MAX 256
#define _POSIX_SEM_VALUE_MAX 32767

/* Values of this system; sysconf returns the number of threads. */
#define PTHREAD_DESTRUCTOR_ITERATIONS 4
#define PTHREAD_KEYS_MAX 128
#define PTHREAD_STACK_MIN 4096
#undef NAME_MAX
#define NAME_MAX 31
#define MQ_PRIO_MAX 32
#define SEM_VALUE_MAX 2147483647
#define PAGESIZE 4096
#define PAGE_SIZE PAGESIZE

#endif
