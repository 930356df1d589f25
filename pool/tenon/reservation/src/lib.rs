//! [`Reservations`] of threads: a budget of execution time in each period, the earliest deadline first.
//!
//! They are constant-bandwidth servers, as `SCHED_DEADLINE` of Linux has them. A thread with a budget
//! has a deadline; those that are ready run by it, the earliest first. A budget that is depleted is
//! replenished at the next period, until when the thread is *throttled*: it does not run, so that it
//! delays no other. A thread that wakes keeps budget and deadline if these are within its share of
//! the time from now on, and gets new ones otherwise.
//!
//! Guarantees: the shares of all reservations are at most 95 % of a core. No allocation; each function
//! takes time linear in the reservations. Nothing here reads a clock: the caller states the time and
//! the execution time of threads.
//!
//! ```
//! use tenon_reservation::{Parameters, Reservations};
//!
//! let mut all = Reservations::<4>::new();
//! let third = Parameters { budget: 10, deadline: 30, period: 30 };
//! assert!(all.set(0, third, 0, 0));
//! assert!(all.set(1, third, 0, 0));
//! // Beside two thirds.
//! assert!(!all.set(2, third, 0, 0));
//! // The first one has executed for 10 ns by now.
//! all.account(0, 10);
//! all.update(10);
//! assert_eq!((all.throttled_until(0), all.throttled_until(1)), (Some(30), None));
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod table;

pub use table::{Parameters, Reservations};

#[cfg(test)]
mod tests;
