//! POSIX timers (POSIX.1-2017, `timer_create`).
//!
//! A timer expires once or periodically at times of its clock, and then sends a signal or runs a
//! function in a new thread. [`setting`] computes expiries, [`table`] holds the timers, [`serve`]
//! is the thread that waits for the earliest expiry: it has the highest priority, blocks all
//! signals, and is created with the first timer. [`calls`] is the interface for C.
//!
//! Guarantees: no timer expires early, and periodic timers do not drift. An expiry examines each
//! timer once. Expiries while the last signal is still pending are counted as overruns
//! (POSIX.1-2017, `timer_getoverrun`).

pub mod calls;
pub mod serve;
pub mod setting;
pub mod table;

pub use table::Timer;
