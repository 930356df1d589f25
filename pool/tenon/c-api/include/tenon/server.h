/* Servers: so much of the core in each period for a thread, whatever the others do.
 *
 * As long as a thread has budget left, it is as urgent as its period says: the shorter, the more.
 * Without, it is in the background, below all priorities of POSIX but the least, and has its fair
 * part of what nobody else wants. A function that returns -1 says why in errno:
 *
 *   EINVAL  a budget of nothing, or of more than its period; a period of more than 68 s; to give
 *           back: the thread has no server
 *   EAGAIN  the core cannot promise the budget beside those that it has promised
 *   EBUSY   the thread has a server
 *   ENOMEM  there are no more than 16 servers
 *   ESRCH   there is no such thread, or it has ended
 *
 * A server ends with its thread. As long as a thread has one, its priority is the server's. */

#ifndef TENON_SERVER_H
#define TENON_SERVER_H

#include <pthread.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Promises a thread a budget in each period, in ns; its first period begins. */
int tenon_server_attach(pthread_t __served, uint64_t __budget, uint64_t __period);

/* Promises a thread nothing: it has its part of what all others leave. */
int tenon_server_attach_background(pthread_t __served);

/* Takes its server from a thread, which has its former priority again. */
int tenon_server_detach(pthread_t __served);

#ifdef __cplusplus
}
#endif

#endif
