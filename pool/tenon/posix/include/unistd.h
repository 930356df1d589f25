/* System interface of one process without files (POSIX.1-2017, <unistd.h>). */

#ifndef TENON_UNISTD_H
#define TENON_UNISTD_H

#include <stddef.h>
#include <sys/features.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2

#ifndef SEEK_SET
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#endif

extern char **environ;

void _exit(int __status) __attribute__((__noreturn__));
pid_t getpid(void);
long sysconf(int __name);

unsigned alarm(unsigned __seconds);
int pause(void);
unsigned sleep(unsigned __seconds);
#if __BSD_VISIBLE || (__XSI_VISIBLE >= 500 && __POSIX_VISIBLE < 200809)
int usleep(useconds_t __microseconds);
#endif

/* The standard streams are the only files. */
int close(int __file);
int fsync(int __file);
int isatty(int __file);
off_t lseek(int __file, off_t __offset, int __whence);
ssize_t read(int __file, void *__data, size_t __size);
ssize_t write(int __file, const void *__data, size_t __size);

extern char *optarg;
extern int optind, opterr, optopt;
int getopt(int __count, char *const __arguments[], const char *__options);

/* Names for sysconf. */
#define _SC_VERSION 1
#define _SC_PAGESIZE 2
#define _SC_PAGE_SIZE _SC_PAGESIZE
#define _SC_CLK_TCK 3
#define _SC_NPROCESSORS_CONF 4
#define _SC_NPROCESSORS_ONLN 5
#define _SC_OPEN_MAX 6
#define _SC_ATEXIT_MAX 7
#define _SC_LINE_MAX 8
#define _SC_TZNAME_MAX 9

#define _SC_THREADS 20
#define _SC_THREAD_ATTR_STACKADDR 21
#define _SC_THREAD_ATTR_STACKSIZE 22
#define _SC_THREAD_CPUTIME 23
#define _SC_THREAD_DESTRUCTOR_ITERATIONS 24
#define _SC_THREAD_KEYS_MAX 25
#define _SC_THREAD_PRIO_INHERIT 26
#define _SC_THREAD_PRIO_PROTECT 27
#define _SC_THREAD_PRIORITY_SCHEDULING 28
#define _SC_THREAD_PROCESS_SHARED 29
#define _SC_THREAD_ROBUST_PRIO_INHERIT 30
#define _SC_THREAD_ROBUST_PRIO_PROTECT 31
#define _SC_THREAD_SAFE_FUNCTIONS 32
#define _SC_THREAD_SPORADIC_SERVER 33
#define _SC_THREAD_STACK_MIN 34
#define _SC_THREAD_THREADS_MAX 35

#define _SC_BARRIERS 50
#define _SC_CLOCK_SELECTION 51
#define _SC_CPUTIME 52
#define _SC_FSYNC 53
#define _SC_JOB_CONTROL 54
#define _SC_MAPPED_FILES 55
#define _SC_MEMLOCK 56
#define _SC_MEMLOCK_RANGE 57
#define _SC_MEMORY_PROTECTION 58
#define _SC_MESSAGE_PASSING 59
#define _SC_MONOTONIC_CLOCK 60
#define _SC_PRIORITY_SCHEDULING 61
#define _SC_READER_WRITER_LOCKS 62
#define _SC_REALTIME_SIGNALS 63
#define _SC_SAVED_IDS 64
#define _SC_SEMAPHORES 65
#define _SC_SHARED_MEMORY_OBJECTS 66
#define _SC_SPIN_LOCKS 67
#define _SC_SPORADIC_SERVER 68
#define _SC_SYNCHRONIZED_IO 69
#define _SC_TIMEOUTS 70
#define _SC_TIMERS 71
#define _SC_ASYNCHRONOUS_IO 72
#define _SC_PRIORITIZED_IO 73
#define _SC_SPAWN 74
#define _SC_TRACE 75
#define _SC_TYPED_MEMORY_OBJECTS 76

#define _SC_MQ_OPEN_MAX 90
#define _SC_MQ_PRIO_MAX 91
#define _SC_SEM_NSEMS_MAX 93
#define _SC_SEM_VALUE_MAX 94

#ifdef __cplusplus
}
#endif

#endif
