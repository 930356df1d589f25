/* Servers: a reserved budget of processor time per period for a thread.
 *
 * While a thread has budget left, its priority follows from its period: the shorter, the higher.
 * When the budget is depleted, it runs in the background, below all priorities of POSIX but the
 * lowest, with a fair share of the remaining time. A function that returns -1 sets errno:
 *
 *   EINVAL  a budget of zero or above its period; a period above 68 s; on detach: the thread has no
 *           server
 *   EAGAIN  the admission test rejects the budget beside the existing reservations
 *   EBUSY   the thread already has a server
 *   ENOMEM  all 16 servers are in use
 *   ESRCH   there is no such thread, or it has ended
 *
 * A server ends with its thread. While a thread has a server, the server sets its priority. */

#ifndef TENON_SERVER_H
#define TENON_SERVER_H

#include <pthread.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reserves a budget in each period for a thread, both in ns; the first period starts now. */
int tenon_server_attach(pthread_t __served, uint64_t __budget, uint64_t __period);

/* Assigns a background server without a budget: a fair share of the remaining time. */
int tenon_server_attach_background(pthread_t __served);

/* Detaches the server of a thread, which returns to its former priority. */
int tenon_server_detach(pthread_t __served);

#ifdef __cplusplus
}
#endif

#endif
