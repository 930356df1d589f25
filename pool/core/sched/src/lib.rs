//! Schedulers of threads and vCPUs: fixed priority, reservations, EDF and the fair background.
//!
//! - [`FixedPriorityScheduler`] is the scheduler of Tenon's threads: a [`RunQueue`], the running
//!   entity, and the scheduling decision of Algorithm 1 of the TenonOS paper (section 4.3). It
//!   serves thousands of threads.
//! - [`FairServers`] adds reservations to it: rate-monotonic deferrable servers in the foreground,
//!   and a background that is shared by start-time fair queueing.
//! - [`ReservationScheduler`] is the scheduler of a shared core of Mortise with a few vCPUs that do
//!   not trust each other. It implements each [`Policy`]: fixed priority, reservations and EDF, and a
//!   round-robin background at priority 0.
//!
//! All of them use the same 64 priorities and the same budget accounting, [`Server`], and have the common
//! interface [`Scheduler`].
//!
//! # Guarantees
//!
//! First in, first out within a priority. No operation allocates or takes a lock. All are O(1),
//! except that those of `ReservationScheduler` walk the ready or the depleted entities in order, of
//! which there are at most as many as vCPUs on the core. The caller masks interrupts or holds its
//! core's lock, and switches contexts.
//!
//! `ReservationScheduler` guarantees the following to an entity that is ready for a whole period,
//! if the caller asks for each decision in time. The caller adds the cost of its VM switches.
//!
//! - [`Policy::Reserved`]: the budget in each period, if the least fixed point of R = B + sum of
//!   ceil((R + P' - B') / P') B' over all other entities of equal or higher priority is within the
//!   period, and each of those has a reservation. A deferrable server can consume two budgets back
//!   to back, which the term P' - B' accounts for.
//! - [`Policy::Deadline`]: the budget by each deadline, if the sum of B / P over all entities of
//!   that priority is at most 1, and none has a higher priority.
//! - Isolation: an entity with [`OnDepletion::Wait`] consumes at most B in each of its periods on
//!   average: an overrun, by a decision that came late, is deducted from the next budget.

#![no_std]
#![forbid(unsafe_code)]

mod entity;
mod fair;
mod fixed_priority;
mod reservation;
mod run_queue;
mod scheduler;
mod server;

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod guarantees;
#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;

pub use entity::{HasSchedEntity, SchedEntity};
pub use fair::{FairServer, FairServers, HasFairServer};
pub use fixed_priority::{FixedPriorityScheduler, Reason};
pub use reservation::{ChargeOutcome, ReservationScheduler};
pub use run_queue::{Priority, RunQueue, Schedulable, State};
pub use scheduler::{Decision, Scheduler};
pub use server::{EndedPeriods, HasServer, OnDepletion, Policy, Reservation, Server};

/// Marks the calling path as unlikely for the compiler.
#[cold]
#[inline(always)]
pub const fn cold_path() {}
