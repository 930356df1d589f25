//! Interrupt line of the virtual PL011.

use crate::gic::vm_interrupts::VmInterrupts;
use mortise_machine::{Core, Machine, Vm};

/// Defers the update of the interrupt line.
pub(crate) fn defer_line_update(core: &Core, vm: &Vm) {
    core.deferred_lines
        .set(core.deferred_lines.get() | 1 << vm.index);
    core.deferred_work.request();
}

/// Updates deferred interrupt lines until `stop` returns true; returns whether none is left.
pub(crate) fn update_deferred_lines(core: &Core, stop: &dyn Fn() -> bool) -> bool {
    loop {
        let owed = core.deferred_lines.get();
        if owed == 0 {
            return true;
        }
        core.deferred_lines.set(owed & (owed - 1));
        if let Some(vm) = core.machine.vm(owed.trailing_zeros() as usize) {
            set_line(core.machine, vm);
        }
        if stop() {
            return false;
        }
    }
}

/// Tells the virtual GIC the level of the virtual PL011's interrupt line. The level is read under
/// the GIC's lock, so that of two cores the later one sets the final level.
pub(crate) fn set_line(machine: &'static Machine, vm: &'static Vm) {
    if let Some(gic) = vm.interrupts.shared() {
        let mut gic = gic.lock();
        let level = vm.serial.lock().interrupt();
        gic.set_line(
            0,
            machine.board.uart_irq,
            level,
            &mut VmInterrupts { machine, vm },
        );
    } else {
        vm.set_serial_interrupt(machine);
    }
}
