/* Calls of Linux as a library (docs/vlib.md).
 *
 * Linux runs only while the calling thread is scheduled on its core. A function that returns -1 sets
 * errno:
 *
 *   EINVAL     a null pointer, or no such channel
 *   ENOENT     the system assigns no vLib of this name to the VM
 *   ENOMEM     the memory of the vLib does not suffice, or all its channels are in use
 *   EBUSY      a call on this channel is in progress
 *   ENOTRECOVERABLE  no server in Linux serves the channel
 *   EPIPE      the server ended during the call
 *   ETIMEDOUT  the timeout expired: the next call on the same channel continues this one
 *   EAGAIN     a call of the VM's former run was completed instead of this one; the admission test
 *              rejects the budget
 *
 * Any thread may call; one at a time uses a channel. No function is a cancellation point. */

#ifndef TENON_VLIB_H
#define TENON_VLIB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A channel: a part of a vLib's memory, and calls that pass data in it. */
typedef uint32_t vlib_channel_t;

/* No timeout. */
#define VLIB_FOREVER UINT64_MAX

/* Opens a channel with bytes of a vLib's memory, which Linux may change at any time. */
int vlib_init(const char *__vlib, size_t __size, vlib_channel_t *__channel, void **__memory);

/* Calls, and returns when Linux has answered or the timeout in ns has expired, earlier calls included. */
int vlib_call(vlib_channel_t __channel, uint64_t __timeout);

/* Starts the call in a thread of the same priority, and returns at once; that thread calls
 * `__callback` with 0 or an error number, and `__word`. */
int vlib_async_call(vlib_channel_t __channel, void (*__callback)(int __error, uintptr_t __word),
		    uintptr_t __word, uint64_t __timeout);

/* Sets a budget in each period, in ns, for asynchronous calls of the channel's vLib, which run in the
 * background when it is depleted (docs/decisions/servers.md); 0 and 0 remove it. */
int vlib_async_budget(vlib_channel_t __channel, uint64_t __budget, uint64_t __period);

/* Closes a channel and frees its memory; EBUSY while a call on it is in progress. */
int vlib_channel_destroy(vlib_channel_t __channel);

#ifdef __cplusplus
}
#endif

#endif
