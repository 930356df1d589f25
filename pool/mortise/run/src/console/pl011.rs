//! Accesses to the virtual PL011.

use super::{
    input::{poll, receive},
    serial_irq::{defer_line_update, set_line},
};
use crate::irq::deliver::interrupts_guest;
use mortise_machine::{Core, Vm};
use mortise_output::output::write;

/// Carries out an access to a virtual PL011. Returns nothing if the guest must repeat it after
/// pending interrupts are taken.
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
    if !core.machine.has_console_core() {
        // No receive interrupt is enabled: an access to the PL011 polls the UART.
        poll(core);
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
            // The register access is complete and must not be repeated: the rest is deferred.
            true => defer_line_update(core, vm),
            false => set_line(core.machine, vm),
        }
    }
    if let Some(byte) = sent {
        // The guest repeats the access, which has no further effect on the PL011.
        let stop = interrupts_guest(core);
        if !write(core.machine, (vm.index, vm.name()), byte, &stop) {
            return None;
        }
        core.flush();
    }
    if !had_room && core.machine.console.lock().held {
        receive(core);
    }
    Some(u64::from(value))
}
