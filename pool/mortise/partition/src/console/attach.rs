//! Interrupts of the console on its core.

use super::{input::listen, log_drain::drain_rings};
use crate::machine::{Core, Machine, Vm, periodic::PeriodicWork};
use core_manifest::Console as Kind;

/// Rings are emptied a hundred times a second.
static DRAIN: PeriodicWork<&'static Machine> = PeriodicWork::new(10_000_000, drain_rings);

/// Prepares the console's own interrupts on its core.
pub(crate) fn attach(core: &'static Core) {
    // Who has no console of Mortise's has the port itself, and hears what is typed.
    let mut vms = core.machine.residents();
    if vms.all(|vm| vm.description().console != Kind::None) {
        listen(core.machine);
    }
    if core.machine.vms().any(Vm::has_log) {
        core.arm(&DRAIN);
    }
}
