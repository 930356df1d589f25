//! Input of the serial line.

use super::serial_irq::set_line;
use crate::machine::priority::OWN_PRIORITY;
use crate::machine::{
    Core, Machine, Vm,
    line::{Line, Typed},
};
use mortise_console::Input;

/// Takes the next byte out of the hardware; nothing if there is none, which interrupts then, or
/// no room for it.
fn hear(line: &mut Line, machine: &'static Machine) -> Option<Input> {
    let serial = line.serial.as_mut()?;
    let selected = line.console.selected();
    let target = selected.and_then(|vm| machine.residents().nth(vm));
    line.held = target.is_some_and(|vm| vm.serial.lock().is_full());
    if line.held {
        serial.disable_receive_interrupt();
        return None;
    }
    // Cleared before the last look, so that a byte that comes after it interrupts again,
    // and not before the one in front of it, so that what is there still does.
    let byte = serial.read_byte().or_else(|| {
        serial.clear_receive_interrupt();
        serial.read_byte()
    });
    let Some(byte) = byte else {
        serial.enable_receive_interrupt();
        return None;
    };
    Some(line.console.input(byte, machine.residents().count()))
}

/// Has what is typed interrupt this core.
pub(crate) fn listen(machine: &'static Machine) {
    let board = &machine.board;
    let distributor = board.distributor();
    distributor.route(board.uart_irq, hw_arch::cpu::affinity());
    distributor.set_priority(board.uart_irq, OWN_PRIORITY);
    distributor.enable(board.uart_irq);
    if let Some(serial) = &mut machine.console.lock().serial {
        serial.enable_receive_interrupt();
    }
}

/// Has what is typed interrupt the virtual machine that has the board's serial interrupt, if one has.
pub(crate) fn listen_for_guest(machine: &'static Machine) {
    if machine.vms().any(Vm::has_serial_interrupt)
        && let Some(serial) = &mut machine.console.lock().serial
    {
        serial.enable_receive_interrupt();
    }
}

/// Takes what was typed: at once, or, on a core that is shared, as a chore.
pub(crate) fn receive(core: &'static Core) {
    let machine = core.machine;
    if core.dispatcher().is_none() {
        take_typed(machine, &|| false);
        return;
    }
    // Until all is taken.
    if let Some(serial) = &mut machine.console.lock().serial {
        serial.disable_receive_interrupt();
    }
    core.typed.set(true);
    core.deferred_work.request();
}

/// Takes what was typed until `stop` says so; whether that is all. What the virtual machine has no
/// room for stays in the hardware, and with it the sender, until it has read some.
pub(crate) fn take_typed(machine: &'static Machine, stop: &dyn Fn() -> bool) -> bool {
    while !stop() {
        let mut line = machine.console.lock();
        match core::mem::replace(&mut line.typed, Typed::Nothing) {
            Typed::Byte(vm, byte) => {
                vm.serial.lock().receive(byte);
                line.typed = Typed::Given(vm);
            }
            Typed::Given(vm) => {
                drop(line);
                set_line(machine, vm);
            }
            Typed::Selected(vm) => {
                drop(line);
                machine.report(vm.name(), " has the input", &[]);
            }
            Typed::Nothing => match hear(&mut line, machine) {
                Some(Input::To { vm, byte }) => {
                    let vm = machine.residents().nth(vm);
                    let vm = vm.filter(|vm| vm.has_serial());
                    line.typed = vm.map_or(Typed::Nothing, |vm| Typed::Byte(vm, byte));
                }
                Some(Input::Switched { vm }) => {
                    let vm = machine.residents().nth(vm);
                    line.typed = vm.map_or(Typed::Nothing, Typed::Selected);
                }
                Some(Input::Nothing) => {}
                None => return true,
            },
        }
    }
    false
}
