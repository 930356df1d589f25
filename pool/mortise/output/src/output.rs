//! Output of guests and of Mortise on the serial line.

use core::sync::atomic::Ordering;
use core_log::{Level, Sink};
use core_manifest::Name;
use hw_arch::cpu;
use hw_serial::Serial;
use mortise_console::{Attempt, Progress, TURN};
use mortise_machine::{
    Core, Machine, Vm,
    line::Wire,
    report::{NAP, flush},
};
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

/// Prints a byte of a writer, by its number, unless `stop` returns true before; returns whether it is
/// on the line.
#[inline]
pub fn write(
    machine: &Machine,
    (writer, name): (usize, &Name),
    byte: u8,
    stop: &dyn Fn() -> bool,
) -> bool {
    let mut steps = 0;
    while !stop() {
        steps += 1;
        match put(machine, writer, byte, name) {
            Progress::Written => return true,
            Progress::More if steps % MOST_STEPS != 0 => {}
            Progress::More | Progress::Held => leave_line(machine, stop),
        }
    }
    false
}

/// Steps that may find the line's lock taken, or the UART full, before a core leaves the line.
const MOST_STEPS: u32 = 256;

/// Looks at the line by a core that does not sleep, before the line's lock is taken again.
const LOOKS: usize = 4096;

/// Leaves the line to its holder: the core sleeps to the end of the holder's turn, or until an
/// interrupt is pending. A core that spins would take a processor of the emulator that the holder
/// needs, and locks of the emulator for each access to the clock or the UART. Where a guest has the
/// interrupt controller for itself, the core looks at memory only, until the holder ends its line or
/// `stop` returns true.
pub fn leave_line(machine: &Machine, stop: &dyn Fn() -> bool) {
    if stop() {
        return;
    }
    let turn = machine.line_turn.load(Ordering::Relaxed);
    let left = turn.saturating_sub(machine.now());
    if Core::current().sleep(left.clamp(NAP, TURN)) {
        return;
    }
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
        (Progress::More, Some(_)) => {
            machine
                .line_turn
                .store(line.console.turn_end(), Ordering::Relaxed);
        }
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
    (!is_unfinished || write(machine, (vm.index, vm.name()), b'\n', stop)) && flush(machine, stop)
}
