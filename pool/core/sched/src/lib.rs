//! The scheduler of both kernels.
//!
//! [`RunQueue`] holds what is ready, by priority; [`FixedPriorityScheduler`] adds who runs, and decides who
//! runs next: Algorithm 1 of the TenonOS paper (section 4.3). Threads of Tenon meet it, thousands of
//! them. [`ReservationScheduler`] is for a core whose few users, vCPUs of Mortise, do not trust each other: by the same
//! priorities it knows [`Policy`]: fixed priority, reservations, earliest deadline first, and the
//! background, priority 0, where all have turns. [`FairServers`] gives the threads of a scheduler budgets,
//! by their periods, which are those of the same [`Server`].
//!
//! Guarantees: 64 priorities, first in first out within a priority; every operation is without
//! allocation or lock, and O(1), but that those of `ReservationScheduler` look at the entities in the order in which
//! they would run, or have a budget, which a core's few vCPUs bound. The caller has interrupts
//! masked, or holds the lock of its core; switching contexts is the caller's work too.
//!
//! What `ReservationScheduler` guarantees, to an entity that wants to run for a whole period, if the caller asks
//! in time; what a switch takes is the caller's to add:
//!
//! - [`Policy::Reserved`]: its budget in each period, if the least fixed point of
//!   R = B + sum of ceil((R + P' - B') / P') B' over all others as urgent or more is within the
//!   period, and each of those has a reservation. A deferrable server can take its budgets back
//!   to back, which is what P' - B' stands for.
//! - [`Policy::Deadline`]: its budget by each deadline, if the sum of B / P is at most 1 over all
//!   of that priority, and nobody is more urgent.
//! - To all others: who may only wait for its next budget takes no more than B in a period of its
//!   own, whatever it does.

#![no_std]
#![forbid(unsafe_code)]

mod entity;
mod fair;
mod fixed_priority;
mod reservation;
mod run_queue;
mod server;

#[cfg(test)]
mod guarantees;
#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;

pub use entity::{HasSchedEntity, SchedEntity};
pub use fair::{FairServer, FairServers, HasFairServer};
pub use fixed_priority::{FixedPriorityScheduler, Reason};
pub use reservation::{Budget, Decision, ReservationScheduler};
pub use run_queue::{Priority, RunQueue, Schedulable, State};
pub use server::{HasServer, OnDepletion, Policy, Reservation, Server};

/// Tells the compiler that the way here is taken seldom.
#[cold]
#[inline(always)]
pub const fn cold_path() {}
