//! Wait queues, mutexes, condition variables, and the threads that wait.
//!
//! | item | content |
//! |---|---|
//! | [`Guarded`], [`WaitQueue`] | building blocks of synchronisation objects |
//! | [`RawMutex`], [`RawCondvar`] | the base of mutexes with data and of interfaces for other languages |
//! | [`thread`] | a living thread, and the handle of one that may have ended |
//!
//! Applications use these as `tenon_thread::wait` and `tenon_thread::thread`.
//!
//! For libraries that provide semaphores, queues and the like; applications use those libraries. An
//! object keeps its state and its wait queues in a [`Guarded`]. A fast path enters it by
//! [`masked`](Guarded::masked), code that wakes threads by [`waking`](Guarded::waking), code that
//! blocks by [`waiting`](Guarded::waiting). [`try_or_wake`](Guarded::try_or_wake) and
//! [`try_or_wait`](Guarded::try_or_wait) attempt the fast path first. The token that each of them
//! passes to its closure allows only the matching operations, so that blocking on a fast path does
//! not compile:
//!
//! ```compile_fail
//! # use tenon_wait::{Guarded, WaitQueue};
//! # static QUEUE: Guarded<WaitQueue> = Guarded::new(WaitQueue::new());
//! QUEUE.masked(|_, masked| masked.wait(|queue| queue, None));
//! ```
//!
//! An object must not be entered inside another one. Guarantees: waking a thread is O(1). Waiting
//! takes one step for each less urgent thread in the queue; threads of equal priority are woken in
//! order of arrival.

#![no_std]
#![expect(unsafe_code, reason = "state of a core behind masked interrupts")]

mod condvar;
mod guarded;
mod mutex;
mod queue;
pub mod thread;

pub use condvar::RawCondvar;
pub use guarded::{Guarded, Masked, Waiting, Waking};
pub use mutex::{Acquired, MutexError, RawMutex};
pub use queue::WaitQueue;
pub use tenon_kernel::wait::{Protocol, Robustness, TimedOut, WaitValue};

#[cfg(test)]
mod tests;
