//! One serial line for all virtual machines.
//!
//! A virtual machine with a virtual PL011 writes to the line as it goes. One in
//! direct mode must not exit to write: it fills a ring in its memory, which the
//! console's core empties by a timer, or, where no core can be disturbed for it,
//! the virtual machine itself asks Mortise to empty.

use crate::{
    alarms::Alarm,
    gic::{OWN_PRIORITY, VmInterrupts},
    machine::{Core, Machine},
    vm::{Interrupts, Vm},
};
use core::ptr::NonNull;
use core_log::{Level, Logger, Sink};
use core_manifest::Console as Kind;
use core_ring::{Area, stream::Consumer};
use hw_serial_pl011::{Registers, Serial};
use mortise_console::{Console, Input, Port};

/// Rings are emptied a hundred times a second.
static DRAIN: Alarm = Alarm::new(10_000_000, drain_rings);

/// Bytes of one virtual machine that are written at a time: what a line of
/// 115,200 baud, 10 bits a byte, carries away until the next time, and some.
const DRAIN_LIMIT: usize = 256;

/// The serial line and who writes on it.
pub(crate) struct Line {
    console: Console,
    serial: Option<Serial<'static>>,
    /// Whether input waits in the hardware for room in a virtual machine.
    held: bool,
}

impl Line {
    /// A line that nobody has opened.
    pub(crate) const CLOSED: Self = Self {
        console: Console::new(),
        serial: None,
        held: false,
    };
}

/// The hardware's end of the line.
struct Wire<'a>(&'a mut Option<Serial<'static>>);

impl Port for Wire<'_> {
    fn put(&mut self, byte: u8) {
        if let Some(serial) = self.0 {
            serial.write_byte(byte);
        }
    }
}

/// Mortise's own lines.
struct OwnLines;

impl Sink for OwnLines {
    fn write_line(&self, line: &str) {
        let machine = Core::current().machine;
        let mut guard = machine.console.lock();
        let Line {
            console, serial, ..
        } = &mut *guard;
        console.message(machine.now(), format_args!("{line}"), &mut Wire(serial));
    }
}

static LOGGER: Logger<OwnLines> = Logger::new(OwnLines, Level::Info);

/// Opens the line and lets Mortise log on it.
pub(crate) fn open(machine: &'static Machine) {
    machine.console.lock().serial = wire(machine);
    LOGGER.install();
}

/// Sends what is typed to virtual machine `index` at first.
pub(crate) fn select(machine: &Machine, index: Option<usize>) {
    if let Some(index) = index {
        machine.console.lock().console.select(index);
    }
}

/// Writes a last line, even if whoever holds the line never gives it back.
pub(crate) fn last_words(machine: &Machine, text: core::fmt::Arguments<'_>) {
    let mut line = Line {
        console: Console::new(),
        serial: wire(machine),
        held: false,
    };
    line.console
        .message(machine.now(), text, &mut Wire(&mut line.serial));
}

/// The board's serial port.
fn wire(machine: &Machine) -> Option<Serial<'static>> {
    let registers = NonNull::new(machine.board.uart_base as *mut Registers)?;
    // SAFETY: the board description says where it is; every map of Mortise's has
    // it as device memory, and no guest's has it.
    Some(unsafe { Serial::new(registers) })
}

/// Prepares the console's own interrupts on its core.
pub(crate) fn attach(core: &Core) {
    let board = &core.machine.board;
    let distributor = board.distributor();
    distributor.route(board.uart_irq, hw_arch::cpu::affinity());
    distributor.set_priority(board.uart_irq, OWN_PRIORITY);
    distributor.enable(board.uart_irq);
    if let Some(serial) = &mut core.machine.console.lock().serial {
        serial.enable_receive_interrupt();
    }
    if core.machine.vms().any(|vm| vm.log.lock().is_some()) {
        core.machine.alarms.set(core, &DRAIN);
    }
}

/// Carries out an access to a virtual PL011.
pub(crate) fn access(core: &Core, vm: &'static Vm, offset: usize, stored: Option<u64>) -> u64 {
    let mut value = 0;
    let sent = {
        let mut serial = vm.serial.lock();
        match stored {
            Some(stored) => serial.write(offset, stored as u32),
            None => {
                value = serial.read(offset);
                None
            }
        }
    };
    if let Some(byte) = sent {
        write(core.machine, vm, &[byte]);
    }
    set_line(core.machine, vm);
    if stored.is_none() && core.machine.console.lock().held {
        receive(core.machine);
    }
    u64::from(value)
}

/// Tells the virtual interrupt controller the level of the virtual PL011's line.
/// The controller's lock covers the look at the level, so that of two cores the
/// later one has the last word.
fn set_line(machine: &'static Machine, vm: &'static Vm) {
    if let Interrupts::Shared(gic) = &vm.interrupts {
        let mut gic = gic.lock();
        let level = vm.serial.lock().interrupt();
        gic.set_line(
            0,
            machine.board.uart_irq,
            level,
            &mut VmInterrupts { machine, vm },
        );
    }
}

/// Takes what was typed. What the virtual machine has no room for stays in the
/// hardware, and with it the sender, until it has read some.
pub(crate) fn receive(machine: &'static Machine) {
    loop {
        let input = {
            let mut guard = machine.console.lock();
            let Line {
                console,
                serial,
                held,
            } = &mut *guard;
            let Some(serial) = serial else {
                return;
            };
            let target = console.selected().and_then(|vm| machine.vms().nth(vm));
            *held = target.is_some_and(|vm| vm.serial.lock().is_full());
            if *held {
                serial.disable_receive_interrupt();
                return;
            }
            // Cleared before the look, so that a byte that comes after it
            // interrupts again.
            serial.clear_receive_interrupt();
            let Some(byte) = serial.read_byte() else {
                serial.enable_receive_interrupt();
                return;
            };
            console.input(byte, machine.vms().count())
        };
        match input {
            Input::To { vm, byte } => {
                let vm = machine.vms().nth(vm);
                if let Some(vm) = vm.filter(|vm| vm.description.console == Kind::Pl011) {
                    vm.serial.lock().receive(byte);
                    set_line(machine, vm);
                }
            }
            Input::Switched { vm } => {
                if let Some(vm) = machine.vms().nth(vm) {
                    core_log::info!("input to {}", vm.name());
                }
            }
            Input::Nothing => {}
        }
    }
}

/// Puts what a virtual machine wrote on the line.
fn write(machine: &Machine, vm: &Vm, bytes: &[u8]) {
    let mut guard = machine.console.lock();
    let Line {
        console, serial, ..
    } = &mut *guard;
    console.write(vm.index, vm.name(), machine.now(), bytes, &mut Wire(serial));
}

/// Makes the log ring of a virtual machine, empty. It is asked to call when it
/// has written only if no core can be disturbed by a timer instead.
pub(crate) fn open_ring(vm: &core_manifest::Vm<'_>, kick: bool) -> Option<Consumer<'static>> {
    let Kind::Ring(range) = vm.console else {
        return None;
    };
    // SAFETY: the ring is mapped on every core that comes here, and words of it
    // are accessed atomically only, as the guest may write there at any time.
    let area = unsafe { Area::from_raw(range.start() as *mut u8, range.size() as usize) }?;
    Consumer::create(area, kick).ok()
}

/// Ends the line that a virtual machine has begun: it starts anew or is gone.
pub(crate) fn finish(machine: &Machine, vm: &Vm) {
    let mut guard = machine.console.lock();
    let Line {
        console, serial, ..
    } = &mut *guard;
    console.finish(vm.index, vm.name(), machine.now(), &mut Wire(serial));
}

/// Empties every ring.
fn drain_rings(machine: &'static Machine) {
    for vm in machine.vms() {
        drain_ring(machine, vm);
    }
}

/// Empties the ring of one virtual machine. One that writes on and on does not
/// keep Mortise: what is too much now is left for the next time.
pub(crate) fn drain_ring(machine: &Machine, vm: &Vm) {
    let mut bytes = [0; DRAIN_LIMIT];
    let count = vm
        .log
        .lock()
        .as_mut()
        .map_or(0, |ring| ring.read(&mut bytes));
    if count > 0 {
        write(machine, vm, &bytes[..count]);
    }
}
