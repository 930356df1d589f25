/* Threads (POSIX.1-2017, <pthread.h>). */

#ifndef TENON_PTHREAD_H
#define TENON_PTHREAD_H

#include <sched.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PTHREAD_PROCESS_PRIVATE 0
#define PTHREAD_PROCESS_SHARED 1
#define PTHREAD_CREATE_JOINABLE 0
#define PTHREAD_CREATE_DETACHED 1
#define PTHREAD_INHERIT_SCHED 0
#define PTHREAD_EXPLICIT_SCHED 1
#define PTHREAD_SCOPE_SYSTEM 0
#define PTHREAD_SCOPE_PROCESS 1

int pthread_create(pthread_t *__restrict __which, const pthread_attr_t *__restrict __attributes,
		   void *(*__start)(void *), void *__restrict __argument);
int pthread_join(pthread_t __which, void **__result);
int pthread_detach(pthread_t __which);
void pthread_exit(void *__result) __attribute__((__noreturn__));
pthread_t pthread_self(void);
int pthread_equal(pthread_t __one, pthread_t __other);

/* Not of POSIX; as in glibc: a name has 16 bytes with its NUL. */
int pthread_setname_np(pthread_t __which, const char *__name);
int pthread_getname_np(pthread_t __which, char *__name, size_t __size);

int pthread_getschedparam(pthread_t __which, int *__restrict __policy,
			  struct sched_param *__restrict __parameters);
int pthread_setschedparam(pthread_t __which, int __policy, const struct sched_param *__parameters);
int pthread_setschedprio(pthread_t __which, int __priority);

#define PTHREAD_CANCEL_ENABLE 0
#define PTHREAD_CANCEL_DISABLE 1
#define PTHREAD_CANCEL_DEFERRED 0
#define PTHREAD_CANCEL_ASYNCHRONOUS 1
#define PTHREAD_CANCELED ((void *)-1)

int pthread_cancel(pthread_t __which);
int pthread_setcancelstate(int __state, int *__before);
int pthread_setcanceltype(int __type, int *__before);
void pthread_testcancel(void);

struct __pthread_cleanup {
	void (*__routine)(void *);
	void *__argument;
	struct __pthread_cleanup *__next;
};
void __pthread_cleanup_push(struct __pthread_cleanup *__cleanup, void (*__routine)(void *),
			    void *__argument);
void __pthread_cleanup_pop(struct __pthread_cleanup *__cleanup, int __execute);

/* Macros that open and close one block. */
#define pthread_cleanup_push(routine, argument)                                     \
	do {                                                                        \
		struct __pthread_cleanup __cleanup;                                 \
		__pthread_cleanup_push(&__cleanup, (routine), (argument))
#define pthread_cleanup_pop(execute)                                                \
		__pthread_cleanup_pop(&__cleanup, (execute));                       \
	} while (0)

int pthread_key_create(pthread_key_t *__key, void (*__destructor)(void *));
int pthread_key_delete(pthread_key_t __key);
void *pthread_getspecific(pthread_key_t __key);
int pthread_setspecific(pthread_key_t __key, const void *__value);

#define PTHREAD_MUTEX_NORMAL 0
#define PTHREAD_MUTEX_RECURSIVE 1
#define PTHREAD_MUTEX_ERRORCHECK 2
#define PTHREAD_MUTEX_DEFAULT PTHREAD_MUTEX_NORMAL
#define PTHREAD_PRIO_NONE 0
#define PTHREAD_PRIO_INHERIT 1
#define PTHREAD_PRIO_PROTECT 2
#define PTHREAD_MUTEX_STALLED 0
#define PTHREAD_MUTEX_ROBUST 1
#define PTHREAD_MUTEX_INITIALIZER { 0 }

int pthread_mutex_init(pthread_mutex_t *__restrict __mutex,
		       const pthread_mutexattr_t *__restrict __attributes);
int pthread_mutex_destroy(pthread_mutex_t *__mutex);
int pthread_mutex_lock(pthread_mutex_t *__mutex);
int pthread_mutex_trylock(pthread_mutex_t *__mutex);
int pthread_mutex_timedlock(pthread_mutex_t *__restrict __mutex,
			    const struct timespec *__restrict __time);
int pthread_mutex_clocklock(pthread_mutex_t *__restrict __mutex, clockid_t __clock,
			    const struct timespec *__restrict __time);
int pthread_mutex_unlock(pthread_mutex_t *__mutex);
int pthread_mutex_consistent(pthread_mutex_t *__mutex);
int pthread_mutex_getprioceiling(const pthread_mutex_t *__restrict __mutex,
				 int *__restrict __ceiling);
int pthread_mutex_setprioceiling(pthread_mutex_t *__restrict __mutex, int __ceiling,
				 int *__restrict __before);

int pthread_mutexattr_init(pthread_mutexattr_t *__attributes);
int pthread_mutexattr_destroy(pthread_mutexattr_t *__attributes);
int pthread_mutexattr_getprioceiling(const pthread_mutexattr_t *__restrict __attributes,
				     int *__restrict __ceiling);
int pthread_mutexattr_setprioceiling(pthread_mutexattr_t *__attributes, int __ceiling);
int pthread_mutexattr_getprotocol(const pthread_mutexattr_t *__restrict __attributes,
				  int *__restrict __protocol);
int pthread_mutexattr_setprotocol(pthread_mutexattr_t *__attributes, int __protocol);
int pthread_mutexattr_getpshared(const pthread_mutexattr_t *__restrict __attributes,
				 int *__restrict __shared);
int pthread_mutexattr_setpshared(pthread_mutexattr_t *__attributes, int __shared);
int pthread_mutexattr_getrobust(const pthread_mutexattr_t *__restrict __attributes,
				int *__restrict __robust);
int pthread_mutexattr_setrobust(pthread_mutexattr_t *__attributes, int __robust);
int pthread_mutexattr_gettype(const pthread_mutexattr_t *__restrict __attributes,
			      int *__restrict __type);
int pthread_mutexattr_settype(pthread_mutexattr_t *__attributes, int __type);

#define PTHREAD_COND_INITIALIZER { 0 }

int pthread_cond_init(pthread_cond_t *__restrict __condition,
		      const pthread_condattr_t *__restrict __attributes);
int pthread_cond_destroy(pthread_cond_t *__condition);
int pthread_cond_signal(pthread_cond_t *__condition);
int pthread_cond_broadcast(pthread_cond_t *__condition);
int pthread_cond_wait(pthread_cond_t *__restrict __condition, pthread_mutex_t *__restrict __mutex);
int pthread_cond_timedwait(pthread_cond_t *__restrict __condition,
			   pthread_mutex_t *__restrict __mutex,
			   const struct timespec *__restrict __time);
int pthread_cond_clockwait(pthread_cond_t *__restrict __condition,
			   pthread_mutex_t *__restrict __mutex, clockid_t __clock,
			   const struct timespec *__restrict __time);

int pthread_condattr_init(pthread_condattr_t *__attributes);
int pthread_condattr_destroy(pthread_condattr_t *__attributes);
int pthread_condattr_getpshared(const pthread_condattr_t *__restrict __attributes,
				 int *__restrict __shared);
int pthread_condattr_setpshared(pthread_condattr_t *__attributes, int __shared);
int pthread_condattr_getclock(const pthread_condattr_t *__restrict __attributes,
			      clockid_t *__restrict __clock);
int pthread_condattr_setclock(pthread_condattr_t *__attributes, clockid_t __clock);

#define PTHREAD_ONCE_INIT 0

int pthread_once(pthread_once_t *__once, void (*__routine)(void));

#define PTHREAD_RWLOCK_INITIALIZER { 0 }

int pthread_rwlock_init(pthread_rwlock_t *__restrict __lock,
			const pthread_rwlockattr_t *__restrict __attributes);
int pthread_rwlock_destroy(pthread_rwlock_t *__lock);
int pthread_rwlock_rdlock(pthread_rwlock_t *__lock);
int pthread_rwlock_tryrdlock(pthread_rwlock_t *__lock);
int pthread_rwlock_timedrdlock(pthread_rwlock_t *__restrict __lock,
			       const struct timespec *__restrict __time);
int pthread_rwlock_clockrdlock(pthread_rwlock_t *__restrict __lock, clockid_t __clock,
			       const struct timespec *__restrict __time);
int pthread_rwlock_wrlock(pthread_rwlock_t *__lock);
int pthread_rwlock_trywrlock(pthread_rwlock_t *__lock);
int pthread_rwlock_timedwrlock(pthread_rwlock_t *__restrict __lock,
			       const struct timespec *__restrict __time);
int pthread_rwlock_clockwrlock(pthread_rwlock_t *__restrict __lock, clockid_t __clock,
			       const struct timespec *__restrict __time);
int pthread_rwlock_unlock(pthread_rwlock_t *__lock);
int pthread_rwlockattr_init(pthread_rwlockattr_t *__attributes);
int pthread_rwlockattr_getpshared(const pthread_rwlockattr_t *__restrict __attributes,
				 int *__restrict __shared);
int pthread_rwlockattr_setpshared(pthread_rwlockattr_t *__attributes, int __shared);
int pthread_rwlockattr_destroy(pthread_rwlockattr_t *__attributes);

#define PTHREAD_BARRIER_SERIAL_THREAD (-1)

int pthread_barrier_init(pthread_barrier_t *__restrict __barrier,
			 const pthread_barrierattr_t *__restrict __attributes, unsigned __count);
int pthread_barrier_destroy(pthread_barrier_t *__barrier);
int pthread_barrier_wait(pthread_barrier_t *__barrier);
int pthread_barrierattr_init(pthread_barrierattr_t *__attributes);
int pthread_barrierattr_getpshared(const pthread_barrierattr_t *__restrict __attributes,
				 int *__restrict __shared);
int pthread_barrierattr_setpshared(pthread_barrierattr_t *__attributes, int __shared);
int pthread_barrierattr_destroy(pthread_barrierattr_t *__attributes);

int pthread_spin_init(pthread_spinlock_t *__lock, int __shared);
int pthread_spin_destroy(pthread_spinlock_t *__lock);
int pthread_spin_lock(pthread_spinlock_t *__lock);
int pthread_spin_trylock(pthread_spinlock_t *__lock);
int pthread_spin_unlock(pthread_spinlock_t *__lock);

int pthread_attr_init(pthread_attr_t *__attributes);
int pthread_attr_destroy(pthread_attr_t *__attributes);
int pthread_attr_getdetachstate(const pthread_attr_t *__attributes, int *__state);
int pthread_attr_setdetachstate(pthread_attr_t *__attributes, int __state);
int pthread_attr_getguardsize(const pthread_attr_t *__restrict __attributes,
			      size_t *__restrict __size);
int pthread_attr_setguardsize(pthread_attr_t *__attributes, size_t __size);
int pthread_attr_getinheritsched(const pthread_attr_t *__restrict __attributes,
				 int *__restrict __inherit);
int pthread_attr_setinheritsched(pthread_attr_t *__attributes, int __inherit);
int pthread_attr_getschedparam(const pthread_attr_t *__restrict __attributes,
			       struct sched_param *__restrict __parameters);
int pthread_attr_setschedparam(pthread_attr_t *__restrict __attributes,
			       const struct sched_param *__restrict __parameters);
int pthread_attr_getschedpolicy(const pthread_attr_t *__restrict __attributes,
				int *__restrict __policy);
int pthread_attr_setschedpolicy(pthread_attr_t *__attributes, int __policy);
int pthread_attr_getscope(const pthread_attr_t *__restrict __attributes, int *__restrict __scope);
int pthread_attr_setscope(pthread_attr_t *__attributes, int __scope);
int pthread_attr_getstack(const pthread_attr_t *__restrict __attributes,
			  void **__restrict __stack, size_t *__restrict __size);
int pthread_attr_setstack(pthread_attr_t *__attributes, void *__stack, size_t __size);
int pthread_attr_getstacksize(const pthread_attr_t *__restrict __attributes,
			      size_t *__restrict __size);
int pthread_attr_setstacksize(pthread_attr_t *__attributes, size_t __size);

#ifdef __cplusplus
}
#endif

#endif
