/* Linux as a library: the side that calls (docs/vlib.md).
 *
 * Linux runs while the thread that called has the core, and at no other time. A function that returns
 * -1 says why in errno:
 *
 *   EINVAL     a null pointer, or no such channel
 *   ENOENT     the system gives this VM no vLib of this name
 *   ENOMEM     its memory does not suffice, or it has as many channels as it can have
 *   EBUSY      a call on this channel is under way
 *   ENOTRECOVERABLE  nobody listens there, yet or any more
 *   EPIPE      the server ended in the call
 *   ETIMEDOUT  the time was over: another call on the same channel goes on with this one
 *   EAGAIN     a call of who was here before has ended first, and this one was not made; the core
 *              cannot promise that budget
 *
 * Any thread may call; one at a time uses a channel. None is a cancellation point. */

#ifndef TENON_VLIB_H
#define TENON_VLIB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A part of a vLib's memory, and the calls with what is in it. */
typedef uint32_t vlib_channel_t;

/* No time-out. */
#define VLIB_FOREVER UINT64_MAX

/* Takes so many bytes of a vLib's memory; where they are. Linux may change them at any time. */
int vlib_init(const char *__vlib, size_t __size, vlib_channel_t *__channel, void **__memory);

/* Calls, and returns when Linux has answered or so many ns are over, those of earlier calls included. */
int vlib_call(vlib_channel_t __channel, uint64_t __timeout);

/* Has the call made by a thread as urgent as this one, and returns at once; that thread calls
 * `__callback` with 0 or the number of an error, and `__word`. */
int vlib_async_call(vlib_channel_t __channel, void (*__callback)(int __error, uintptr_t __word),
		    uintptr_t __word, uint64_t __timeout);

/* Has asynchronous calls of the channel's vLib be made on a budget in each period from here on, in ns, and
 * then in the background (docs/decisions/servers.md); 0 and 0: on nobody's, as at first. */
int vlib_async_budget(vlib_channel_t __channel, uint64_t __budget, uint64_t __period);

/* Gives the memory back; EBUSY as long as a call on it has not ended. */
int vlib_channel_destroy(vlib_channel_t __channel);

#ifdef __cplusplus
}
#endif

#endif
