//! POSIX clocks, and sleeping by them.
//!
//! Two clocks, `CLOCK_REALTIME` and `CLOCK_MONOTONIC` ([`tenon_libc::time`]); the first can be set.
//! Sleeping is a wait without a tick: a thread goes on at the first counter value that is not early.
//! A sleep is a cancellation point, and a handler of a signal ends it.
//!
//! Guarantees: no sleep is short. Whoever sleeps until a time of the realtime clock, or waits for
//! something at the latest until then, looks again when that is set, so that a step forwards wakes it
//! and one backwards does not (POSIX.1-2017, `clock_settime`). Setting the clock takes a step for each
//! thread.

#![no_std]
#![cfg_attr(not(target_os = "none"), allow(dead_code, reason = "C calls it"))]
#![expect(unsafe_code, reason = "the C interface: pointers from C")]

mod clock;
mod sleep;
