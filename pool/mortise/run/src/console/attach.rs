//! Interrupts of the console, on its core.

use super::input::enable_receive;
use core_manifest::Console as Kind;
use mortise_machine::{Core, Machine, Vm};
use mortise_output::log_drain::drain_rings;
use mortise_state::periodic::PeriodicWork;

/// Log rings are emptied a hundred times per second.
static DRAIN: PeriodicWork<&'static Machine> = PeriodicWork::new(10_000_000, drain_rings);

/// Enables the console's interrupts on its core.
pub(crate) fn attach(core: &'static Core) {
    // A VM without a console of Mortise owns the UART and receives its input.
    let mut vms = core.machine.residents();
    if vms.all(|vm| vm.description().console != Kind::None) {
        enable_receive(core.machine);
    }
    if core.machine.vms().any(Vm::has_log) {
        core.arm(&DRAIN);
    }
}
