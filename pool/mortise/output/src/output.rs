//! Output of guests and of Mortise on the serial line.

use core_log::{Level, Sink};
use core_manifest::Name;
use hw_arch::cpu;
use hw_serial::Serial;
use mortise_console::{Attempt, Progress};
use mortise_machine::{
    Core, Machine, Vm,
    line::{Line, Wire},
    report::flush,
};
use mortise_state::options;

/// Log of Mortise before guests run, and after the last one ended.
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

/// Opens the line and installs Mortise's log on it.
pub fn open(machine: &'static Machine) {
    machine.console.lock().serial = wire(machine);
    core_log::install(&OwnLines, machine.board.log);
}

/// Selects VM `index` for input.
pub fn select(machine: &Machine, index: Option<usize>) {
    if let Some(index) = index {
        machine.console.lock().console.select(index);
    }
}

/// Prints a last line, even if another core holds the line's lock.
pub fn print_panic(machine: &Machine, text: core::fmt::Arguments<'_>) {
    mortise_console::last_message(machine.now(), text, &mut Wire(&mut wire(machine)));
}

/// The board's UART.
pub fn wire(machine: &Machine) -> Option<Serial> {
    // SAFETY: the board description states the address; every map of Mortise has it as device
    // memory, and only a VM without a console of Mortise maps it.
    unsafe { Serial::open(machine.board.uart_base) }
}

/// Prints a byte of a VM unless `stop` returns true before; returns whether it is on the line.
#[inline]
pub fn write(machine: &Machine, vm: &Vm, byte: u8, stop: &dyn Fn() -> bool) -> bool {
    while !stop() {
        match step(machine, vm, byte) {
            Progress::Written => return true,
            Progress::More => {}
            Progress::Held => leave_line(),
        }
    }
    false
}

/// Leaves the line's lock to its holder for a moment.
pub fn leave_line() {
    (0..16).for_each(|_| cpu::relax());
}

/// Does a step towards printing a byte of a VM.
pub fn step(machine: &Machine, vm: &Vm, byte: u8) -> Progress {
    put(machine, vm.index, byte, vm.name())
}

/// Does the same for any writer, by its number.
pub fn put(machine: &Machine, writer: usize, byte: u8, name: &Name) -> Progress {
    let mut guard = machine.console.lock();
    let Line {
        console, serial, ..
    } = &mut *guard;
    let wire = &mut Wire(serial);
    console.put(writer, byte, wire, || Attempt {
        name,
        now: machine.now(),
        core: Core::current().cpu,
    })
}

/// Ends the line that a VM has begun, if any, unless `stop` returns true before; returns whether it
/// is ended.
pub fn end_line(machine: &Machine, vm: &Vm, stop: &dyn Fn() -> bool) -> bool {
    let is_unfinished =
        options::line_is_shared() && machine.console.lock().console.is_unfinished(vm.index);
    (!is_unfinished || write(machine, vm, b'\n', stop)) && flush(machine, stop)
}
