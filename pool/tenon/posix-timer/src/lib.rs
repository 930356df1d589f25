//! POSIX timers.
//!
//! A timer expires at a time of its clock, once or again and again, and then sends a signal or runs a
//! function in a thread of its own. [`setting`] is when a timer expires, [`table`] the timers there
//! are, [`serve`] the thread that waits for the earliest of them: it is the most urgent one, blocks
//! all signals, and is made with the first timer. [`calls`] is what C sees.
//!
//! Guarantees: no timer expires early, and those of an interval do not drift. An expiry looks at each
//! timer once. What expires while its last signal has not been taken is counted as an overrun
//! (POSIX.1-2017, `timer_getoverrun`).

#![no_std]
#![cfg_attr(not(target_os = "none"), allow(dead_code, reason = "C calls it"))]
#![expect(unsafe_code, reason = "the C interface: pointers from C")]

pub mod calls;
pub mod serve;
pub mod setting;
pub mod table;

pub use table::Timer;

#[doc(hidden)]
pub use tenon_libc::define_table;
