//! Interrupt line of the virtual PL011.

use crate::{
    gic::vm_interrupts::VmInterrupts,
    machine::{Core, Machine, Vm},
};

/// Has it told of the level as a chore.
pub(crate) fn owe_line(core: &Core, vm: &Vm) {
    core.lines.set(core.lines.get() | 1 << vm.index);
    core.deferred_work.request();
}

/// Tells the virtual interrupt controllers of the levels that are owed them, until `stop` says so;
/// whether that is all.
pub(crate) fn settle_lines(core: &Core, stop: &dyn Fn() -> bool) -> bool {
    loop {
        let owed = core.lines.get();
        if owed == 0 {
            return true;
        }
        core.lines.set(owed & (owed - 1));
        if let Some(vm) = core.machine.vm(owed.trailing_zeros() as usize) {
            set_line(core.machine, vm);
        }
        if stop() {
            return false;
        }
    }
}

/// Tells the virtual interrupt controller the level of the virtual PL011's line.
/// The controller's lock covers the look at the level, so that of two cores the
/// later one has the last word.
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
