//! Output of guests and of Mortise on the serial line.

use crate::machine::{
    Core, Machine, Vm,
    line::{Line, Wire},
    options,
    report::flush,
};
use core_log::{Level, Sink};
use core_manifest::Name;
use hw_serial::Serial;

/// Mortise's lines of before the guests run, and of when none does any more.
struct OwnLines;

impl Sink for OwnLines {
    fn write_line(&self, level: Level, text: &str) {
        let machine = Core::current().machine;
        let mut guard = machine.console.lock();
        let Line {
            console, serial, ..
        } = &mut *guard;
        console.message(
            machine.now(),
            format_args!("{}{text}", level.prefix()),
            &mut Wire(serial),
        );
    }
}

/// Opens the line and lets Mortise log on it.
pub(crate) fn open(machine: &'static Machine) {
    machine.console.lock().serial = wire(machine);
    core_log::install(&OwnLines, machine.board.log);
}

/// Sends what is typed to virtual machine `index` at first.
pub(crate) fn select(machine: &Machine, index: Option<usize>) {
    if let Some(index) = index {
        machine.console.lock().console.select(index);
    }
}

/// Writes a last line, even if whoever holds the line never gives it back.
pub(crate) fn last_words(machine: &Machine, text: core::fmt::Arguments<'_>) {
    mortise_console::last_message(machine.now(), text, &mut Wire(&mut wire(machine)));
}

/// The board's serial port.
pub(crate) fn wire(machine: &Machine) -> Option<Serial> {
    // SAFETY: the board description says where it is; every map of Mortise's has
    // it as device memory, and no guest's has it.
    unsafe { Serial::open(machine.board.uart_base) }
}

/// Puts a byte that a virtual machine wrote on the line, unless `stop` says so before; whether it
/// is there.
pub(crate) fn write(machine: &Machine, vm: &Vm, byte: u8, stop: &dyn Fn() -> bool) -> bool {
    while !stop() {
        if step(machine, vm, byte) {
            return true;
        }
    }
    false
}

/// Does a step towards having a byte of a virtual machine on the line; whether it is.
pub(crate) fn step(machine: &Machine, vm: &Vm, byte: u8) -> bool {
    put(machine, vm.index, byte, vm.name())
}

/// The same for any writer, by its number.
pub(crate) fn put(machine: &Machine, writer: usize, byte: u8, name: &Name) -> bool {
    let mut guard = machine.console.lock();
    let Line {
        console, serial, ..
    } = &mut *guard;
    let wire = &mut Wire(serial);
    console.put(writer, byte, wire, || (name, machine.now()))
}

/// Ends the line that a virtual machine has begun, if any, unless `stop` says so before; whether it
/// is ended.
pub(crate) fn finish(machine: &Machine, vm: &Vm, stop: &dyn Fn() -> bool) -> bool {
    let is_unfinished =
        options::line_is_shared() && machine.console.lock().console.is_unfinished(vm.index);
    (!is_unfinished || write(machine, vm, b'\n', stop)) && flush(machine, stop)
}
