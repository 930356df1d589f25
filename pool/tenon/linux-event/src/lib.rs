//! System calls of Linux for event polls, timers and counters with descriptors.
//!
//! | module | calls |
//! |---|---|
//! | [`epoll`] | `epoll_create1`, `epoll_ctl`, `epoll_pwait`, `epoll_pwait2` |
//! | [`timer`] | `timerfd_create`, `timerfd_settime`, `timerfd_gettime` |
//! | [`counter`] | `eventfd2` |
//!
//! All timers with descriptors expire by one thread, which waits for the next of them, so that the
//! kernel has one timer for all. Watches and timers lie in page frames, and are limited in number.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod counter;
pub mod epoll;
pub mod timer;
mod watches;

use tenon_process::{Call, Calls};

/// All calls of this library.
pub static CALLS: Calls = Calls(&[
    Call(19, counter::eventfd2),
    Call(20, epoll::epoll_create1),
    Call(21, epoll::epoll_ctl),
    Call(22, epoll::epoll_pwait),
    Call(85, timer::timerfd_create),
    Call(86, timer::timerfd_settime),
    Call(87, timer::timerfd_gettime),
    Call(441, epoll::epoll_pwait2),
]);

#[cfg(test)]
mod tests;
