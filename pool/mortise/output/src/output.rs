//! Output of guests and of Mortise on the serial line.

use core::sync::atomic::Ordering;
use core_log::{Level, Sink};
use core_manifest::Name;
use hw_arch::cpu;
use hw_serial::Serial;
use mortise_console::{Attempt, Progress, TURN};
use mortise_machine::{Core, Machine, Vm, line::Wire, report::flush};
use mortise_state::options;

/// Log of Mortise before guests run, and after the last one ended.
struct OwnLines;

impl Sink for OwnLines {
    fn write_line(&self, level: Level, text: &str) {
        let machine = Core::current().machine;
        let line = &mut *machine.console.lock();
        let wire = &mut Wire(&mut line.serial);
        let text = format_args!("{}{text}", level.prefix());
        line.console.message(machine.now(), text, wire);
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
            Progress::Held => leave_line(machine, stop),
        }
    }
    false
}

/// Looks at a line that another writer has, before the line's lock is taken again.
const LOOKS: usize = 4096;

/// Leaves the line to its holder for a moment, until the holder ends it or `stop` returns true. The
/// holder needs the line's lock for each byte, and on emulators the registers of clock and UART have
/// one lock for all cores: none of them is accessed here.
pub fn leave_line(machine: &Machine, stop: &dyn Fn() -> bool) {
    let turn = machine.line_turn.load(Ordering::Relaxed);
    for _ in 0..LOOKS {
        if machine.line_turn.load(Ordering::Relaxed) != turn || stop() {
            return;
        }
        cpu::relax();
    }
}

/// Does a step towards printing a byte of a VM.
pub fn step(machine: &Machine, vm: &Vm, byte: u8) -> Progress {
    put(machine, vm.index, byte, vm.name())
}

/// Does the same for any writer, by its number.
pub fn put(machine: &Machine, writer: usize, byte: u8, name: &Name) -> Progress {
    // No queue for the lock: where an emulator or another hypervisor runs the cores in turns, it would
    // go through all writers for each byte.
    let Some(mut guard) = machine.console.try_lock() else {
        cpu::relax();
        return Progress::More;
    };
    let line = &mut *guard;
    let wire = &mut Wire(&mut line.serial);
    let mut tried = None;
    let progress = line.console.put(writer, byte, wire, || Attempt {
        name,
        now: *tried.insert(machine.now()),
        core: Core::current().cpu,
    });
    match (progress, tried) {
        (Progress::More, Some(now)) => machine.line_turn.store(now + TURN, Ordering::Relaxed),
        (Progress::Written, _) if byte == b'\n' => machine.line_turn.store(0, Ordering::Relaxed),
        _ => {}
    }
    progress
}

/// Ends the line that a VM has begun, if any, unless `stop` returns true before; returns whether it
/// is ended.
pub fn end_line(machine: &Machine, vm: &Vm, stop: &dyn Fn() -> bool) -> bool {
    let is_unfinished =
        options::line_is_shared() && machine.console.lock().console.is_unfinished(vm.index);
    (!is_unfinished || write(machine, vm, b'\n', stop)) && flush(machine, stop)
}
