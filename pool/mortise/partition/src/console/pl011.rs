//! Accesses to the virtual PL011.

use super::{
    input::receive,
    output::write,
    serial_irq::{owe_line, set_line},
};
use crate::machine::{Core, Vm};

/// Carries out an access to a virtual PL011. Nothing, and the guest is to make it again: on a
/// core that is shared something came that goes first.
pub(crate) fn access(
    core: &'static Core,
    vm: &'static Vm,
    offset: usize,
    stored: Option<u64>,
) -> Option<u64> {
    let stop = || core.preemption_pending();
    if stop() {
        return None;
    }
    if core.machine.console_core().is_none() {
        // No interrupt says that something was typed: who looks at its port takes it from the line.
        receive(core);
    }
    let mut value = 0;
    let (sent, changed, had_room) = {
        let mut serial = vm.serial.lock();
        let (level, had_room) = (serial.interrupt(), !serial.is_full());
        let sent = match stored {
            Some(stored) => serial.write(offset, stored as u32),
            None => {
                value = serial.read(offset);
                None
            }
        };
        (sent, serial.interrupt() != level, had_room)
    };
    if changed {
        match stop() {
            // The register has done what it does once: the rest is a chore.
            true => owe_line(core, vm),
            false => set_line(core.machine, vm),
        }
    }
    if let Some(byte) = sent {
        // A second time the register does what it did already.
        if !write(core.machine, vm, byte, &stop) {
            return None;
        }
        core.flush();
    }
    if !had_room && core.machine.console.lock().held {
        receive(core);
    }
    Some(u64::from(value))
}
