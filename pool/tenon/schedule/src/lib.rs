//! [`Schedules`] of the threads of processes: policies, nice values, priorities that locks donate.
//!
//! A thread has a [`Schedule`], which states its policy as Linux does. [`Schedules`] gives each thread
//! a level, which is a priority of the kernel: all of the fair policies have the lowest one, where
//! they run in turns with slices by their nice values; each real-time priority in use has a level of
//! its own, as long as there are as many. A lock with priority inheritance donates the priority of
//! its most urgent waiter to its owner, and along the chain of owners that wait themselves.
//!
//! Guarantees: a refused change changes nothing. No allocation. A change costs at most the number of
//! threads times the length of the chain of owners; waits that would close a circle are refused.
//!
//! ```
//! use tenon_schedule::{Change, Errno, Levels, Policy, Schedule, Schedules};
//!
//! let fifo = Schedule::default().changed(&Change::policy(Policy::Fifo, 80))?;
//! let mut entries = [const { None }; 2];
//! let mut schedules = Schedules::<u32>::new(&mut entries);
//! schedules.add(0, 100, Schedule::default());
//! schedules.add(1, 101, fifo);
//! schedules.assign(Levels::new(2, 31, 30));
//! assert_eq!([schedules.level(0), schedules.level(1)], [2, 3]);
//! # Ok::<(), Errno>(())
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod policy;
mod rows;
mod table;

pub use policy::change::{Change, KEEP_PARAMETERS, KEEP_POLICY, RESET_ON_FORK};
pub use policy::{OVERRUN, Policy, Reservation, Schedule};
pub use rows::Rows;
pub use table::lock::{Attempt, OWNER, OWNER_DIED, Outcome, WAITERS};
pub use table::{Entry, Levels, Schedules};
pub use tenon_program::Errno;

#[cfg(test)]
mod tests;
