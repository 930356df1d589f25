/* Message queues (POSIX.1-2017, <mqueue.h>). */

#ifndef TENON_MQUEUE_H
#define TENON_MQUEUE_H

#include <fcntl.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Index into the descriptor table, and number of its use. */
typedef int mqd_t;

struct mq_attr {
	long mq_flags;
	long mq_maxmsg;
	long mq_msgsize;
	long mq_curmsgs;
};

mqd_t mq_open(const char *__name, int __flags, ...);
int mq_close(mqd_t __queue);
int mq_unlink(const char *__name);
int mq_send(mqd_t __queue, const char *__text, size_t __length, unsigned int __priority);
int mq_timedsend(mqd_t __queue, const char *__text, size_t __length, unsigned int __priority,
		 const struct timespec *__until);
ssize_t mq_receive(mqd_t __queue, char *__text, size_t __room, unsigned int *__priority);
ssize_t mq_timedreceive(mqd_t __queue, char *__restrict __text, size_t __room,
			unsigned int *__restrict __priority,
			const struct timespec *__restrict __until);
int mq_getattr(mqd_t __queue, struct mq_attr *__attributes);
int mq_setattr(mqd_t __queue, const struct mq_attr *__restrict __attributes,
	       struct mq_attr *__restrict __before);

struct sigevent;
int mq_notify(mqd_t __queue, const struct sigevent *__event);

#ifdef __cplusplus
}
#endif

#endif
