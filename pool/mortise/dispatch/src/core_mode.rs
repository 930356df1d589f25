//! Scheduling mode of a core and scheduling parameters of its vCPUs.

use core_sched::{OnDepletion, Policy, Priority, Reservation};
use mortise_partition::{Core, Vm};

/// How a core schedules its vCPUs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CoreMode {
    /// By reservations, deadlines and background time slices: execution time is charged.
    Reserved,
    /// By fixed priorities, with at most one vCPU in the background: no time is charged.
    FixedPriority,
    /// To be recomputed, because a vCPU is being admitted or removed.
    Stale,
}

/// The priority and policy of a VM's vCPU on this core.
pub(crate) fn policy_of(core: &Core, vm: &Vm) -> (Priority, Policy) {
    let schedule = vm.schedule();
    let ticks = |time| core.clock().frequency().ticks(time);
    let policy = schedule.reservation().and_then(|terms| {
        let on_depletion = match terms.background {
            true => OnDepletion::Background,
            false => OnDepletion::Wait,
        };
        let reservation = Reservation::new(ticks(terms.budget), ticks(terms.period), on_depletion)?;
        Some(match terms.by_deadline {
            true => Policy::Deadline(reservation),
            false => Policy::Reserved(reservation),
        })
    });
    (
        Priority::new(schedule.priority),
        policy.unwrap_or(Policy::Fixed),
    )
}
