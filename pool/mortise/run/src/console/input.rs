//! Input of the serial line.

use super::serial_irq::set_line;
use crate::irq::deliver::interrupts_guest;
use core::cell::Cell;
use mortise_console::Input;
use mortise_machine::{
    Core, Machine, Vm,
    line::{InputState, Line},
};
use mortise_state::priority::OWN_PRIORITY;

/// Takes the next byte out of the UART. Returns nothing if there is none, and the next one
/// interrupts, or if the VM has no room for it.
fn read_input(line: &mut Line, machine: &'static Machine) -> Option<Input> {
    let serial = line.serial.as_mut()?;
    let selected = line.console.selected();
    let target = selected.and_then(|vm| machine.residents().nth(vm));
    line.held = target.is_some_and(|vm| vm.serial.lock().is_full());
    if line.held {
        serial.disable_receive_interrupt();
        return None;
    }
    // Cleared before the last look, so that a later byte interrupts again, and not before an
    // earlier read, so that a byte that is there still interrupts.
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

/// Enables the UART's receive interrupt, routed to this core.
pub(crate) fn enable_receive(machine: &'static Machine) {
    let board = &machine.board;
    let distributor = board.distributor();
    distributor.route(board.uart_irq, hw_arch::cpu::affinity());
    distributor.set_priority(board.uart_irq, OWN_PRIORITY);
    distributor.enable(board.uart_irq);
    if let Some(serial) = &mut machine.console.lock().serial {
        serial.enable_receive_interrupt();
    }
}

/// Enables the UART's receive interrupt for a VM that owns it, if there is one.
pub fn enable_receive_for_guest(machine: &'static Machine) {
    if machine.vms().any(Vm::has_serial_interrupt)
        && let Some(serial) = &mut machine.console.lock().serial
    {
        serial.enable_receive_interrupt();
    }
}

/// Processes received input: at once, or on a shared core as deferred work.
pub(crate) fn receive(core: &'static Core) {
    let machine = core.machine;
    if core.dispatcher().is_none() {
        process_input(machine, &|| false);
        return;
    }
    // Until all input is processed.
    if let Some(serial) = &mut machine.console.lock().serial {
        serial.disable_receive_interrupt();
    }
    core.input_pending.set(true);
    core.deferred_work.request();
}

/// Takes at most one byte of input, or part of it if an interrupt for the guest is pending: the next
/// call continues.
pub(crate) fn poll(core: &'static Core) {
    const STEPS_OF_A_BYTE: u32 = 3;
    let steps = Cell::new(0);
    let interrupted = interrupts_guest(core);
    process_input(core.machine, &|| {
        steps.replace(steps.get() + 1) == STEPS_OF_A_BYTE || interrupted()
    });
}

/// Processes received input until `stop` returns true; returns whether none is left. Input for
/// which the VM has no room stays in the UART, so that the sender waits until the VM reads.
pub(crate) fn process_input(machine: &'static Machine, stop: &dyn Fn() -> bool) -> bool {
    while !stop() {
        let mut line = machine.console.lock();
        match core::mem::replace(&mut line.typed, InputState::Nothing) {
            InputState::Byte(vm, byte) => {
                vm.serial.lock().receive(byte);
                line.typed = InputState::Received(vm);
            }
            InputState::Received(vm) => {
                drop(line);
                set_line(machine, vm);
            }
            InputState::Selected(vm) => {
                drop(line);
                machine.report(vm.name(), " has the input", &[]);
            }
            InputState::Nothing => match read_input(&mut line, machine) {
                Some(Input::To { vm, byte }) => {
                    let vm = machine.residents().nth(vm);
                    let vm = vm.filter(|vm| vm.has_serial());
                    line.typed = vm.map_or(InputState::Nothing, |vm| InputState::Byte(vm, byte));
                }
                Some(Input::Switched { vm }) => {
                    let vm = machine.residents().nth(vm);
                    line.typed = vm.map_or(InputState::Nothing, InputState::Selected);
                }
                Some(Input::Nothing) => {}
                None => return true,
            },
        }
    }
    false
}
