/* Types: the C library's, and those of threads (POSIX.1-2017, <sys/types.h>). */

#include_next <sys/types.h>

#ifndef TENON_SYS_TYPES_H
#define TENON_SYS_TYPES_H

/* Index into the thread table, and number of its use. */
typedef unsigned long pthread_t;

typedef unsigned int pthread_key_t;

typedef struct {
	void *__stack;
	size_t __stack_size;
	size_t __guard_size;
	int __made;
	int __priority;
	unsigned char __policy;
	unsigned char __detached;
	unsigned char __explicit;
	unsigned char __reserved[5];
} pthread_attr_t;

typedef struct {
	unsigned int __made;
	unsigned char __kind[4];
	unsigned int __again[2];
	unsigned long __raw[14];
} pthread_mutex_t;

typedef struct {
	unsigned int __made;
	unsigned char __kind[4];
	unsigned int __shared;
} pthread_mutexattr_t;

typedef struct {
	unsigned int __made;
	unsigned int __clock;
	unsigned long __raw[6];
} pthread_cond_t;

typedef struct {
	unsigned int __made;
	int __clock;
	unsigned int __shared;
} pthread_condattr_t;

typedef unsigned int pthread_once_t;

typedef struct {
	unsigned int __made;
	unsigned int __reserved;
	unsigned long __state[9];
} pthread_rwlock_t;

typedef struct {
	unsigned int __made;
	int __shared;
} pthread_rwlockattr_t;

typedef struct {
	unsigned int __made;
	unsigned int __reserved;
	unsigned long __state[7];
} pthread_barrier_t;

typedef struct {
	unsigned int __made;
	int __shared;
} pthread_barrierattr_t;

typedef struct {
	unsigned int __made;
	unsigned int __reserved;
	unsigned long __state[5];
} pthread_spinlock_t;

#endif
