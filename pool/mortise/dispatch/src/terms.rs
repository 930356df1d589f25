//! What of a core a virtual machine is promised and kept to.

use core_sched::{Exhausted, Policy, Priority, Reservation};
use mortise_partition::{Core, Vm};

/// How urgent a virtual machine is on a core, and by which policy it shares it.
pub(crate) fn of(core: &Core, vm: &Vm) -> (Priority, Policy) {
    let schedule = vm.schedule();
    let ticks = |time| core.clock().frequency().ticks(time);
    let policy = schedule.reservation().and_then(|terms| {
        let exhausted = match terms.background {
            true => Exhausted::Background,
            false => Exhausted::Wait,
        };
        let reservation = Reservation::new(ticks(terms.budget), ticks(terms.period), exhausted)?;
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
