/* Semaphores (POSIX.1-2017, <semaphore.h>). */

#ifndef TENON_SEMAPHORE_H
#define TENON_SEMAPHORE_H

#include <fcntl.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
	unsigned int __made;
	unsigned int __named;
	unsigned long __state[5];
} sem_t;

#define SEM_FAILED ((sem_t *)0)

int sem_init(sem_t *__semaphore, int __shared, unsigned __value);
int sem_destroy(sem_t *__semaphore);
sem_t *sem_open(const char *__name, int __flags, ...);
int sem_close(sem_t *__semaphore);
int sem_unlink(const char *__name);
int sem_post(sem_t *__semaphore);
int sem_wait(sem_t *__semaphore);
int sem_trywait(sem_t *__semaphore);
int sem_timedwait(sem_t *__restrict __semaphore, const struct timespec *__restrict __time);
int sem_clockwait(sem_t *__restrict __semaphore, clockid_t __clock,
		  const struct timespec *__restrict __time);
int sem_getvalue(sem_t *__restrict __semaphore, int *__restrict __value);

#ifdef __cplusplus
}
#endif

#endif
