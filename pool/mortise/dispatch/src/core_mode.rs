//! What of a core a virtual machine is promised and kept to, and what that makes of the core.

use core_sched::{OnDepletion, Policy, Priority, Reservation};
use mortise_partition::{Core, Vm};

/// By what a core is shared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CoreMode {
    /// What was promised is kept: reservations, deadlines, turns in the background.
    Reserved,
    /// Time does not matter: all have fixed priorities, one at most is in the background.
    FixedPriority,
    /// To be found out anew: somebody came or went, or is to.
    Stale,
}

/// How urgent a virtual machine is on a core, and by which policy it shares it.
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
