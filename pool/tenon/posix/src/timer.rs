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

pub mod calls;
pub mod serve;
pub mod setting;
pub mod table;

pub use table::Timer;
