//! One serial line for all virtual machines.
//!
//! A virtual machine with a virtual PL011 writes to the line as it goes. One in
//! direct mode must not exit to write: it fills a ring in its memory, which the
//! console's core empties by a timer, or, where no core can be disturbed for it,
//! the virtual machine itself asks Mortise to empty.

use crate::{
    alarms::Alarm,
    controller::Interrupts,
    gic::{OWN_PRIORITY, VmInterrupts},
    machine::{Core, Machine},
    vm::Vm,
};
use core::ptr::NonNull;
use core_log::{Level, Sink};
use core_manifest::Console as Kind;
use core_ring::{Area, stream::Consumer};
use hw_serial_pl011::{Registers, Serial};
use mortise_console::{Console, Input, Port};

/// Rings are emptied a hundred times a second.
static DRAIN: Alarm = Alarm::new(10_000_000, drain_rings);

/// Bytes of one virtual machine that are written at a time: what a line of
/// 115,200 baud, 10 bits a byte, carries away until the next time, and some.
const DRAIN_LIMIT: usize = 256;

/// Bytes of them that are taken out of a ring at a time.
const DRAIN_STEP: usize = 16;

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
pub(crate) fn attach(core: &'static Core) {
    let board = &core.machine.board;
    let distributor = board.distributor();
    distributor.route(board.uart_irq, hw_arch::cpu::affinity());
    distributor.set_priority(board.uart_irq, OWN_PRIORITY);
    distributor.enable(board.uart_irq);
    if let Some(serial) = &mut core.machine.console.lock().serial {
        serial.enable_receive_interrupt();
    }
    if core
        .machine
        .vms()
        .any(|vm| vm.is_slot() || vm.log.lock().is_some())
    {
        core.machine.alarms.set(core, &DRAIN);
    }
}

/// Carries out an access to a virtual PL011. Nothing, and the guest is to make it again: on a
/// core that is shared something came that goes first.
pub(crate) fn access(
    core: &Core,
    vm: &'static Vm,
    offset: usize,
    stored: Option<u64>,
) -> Option<u64> {
    let stop = || core.is_wanted();
    if stop() {
        return None;
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
        set_line(core.machine, vm);
    }
    if let Some(byte) = sent {
        // A second time the register does what it did already.
        if write(core.machine, vm, &[byte], stop) == 0 {
            return None;
        }
    }
    if !had_room && core.machine.console.lock().held {
        receive(core.machine);
    }
    Some(u64::from(value))
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
            let target = console
                .selected()
                .and_then(|vm| machine.residents().nth(vm));
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
            console.input(byte, machine.residents().count())
        };
        match input {
            Input::To { vm, byte } => {
                let vm = machine.residents().nth(vm);
                if let Some(vm) = vm.filter(|vm| vm.description().console == Kind::Pl011) {
                    vm.serial.lock().receive(byte);
                    set_line(machine, vm);
                }
            }
            Input::Switched { vm } => {
                if let Some(vm) = machine.residents().nth(vm) {
                    core_log::info!("input to {}", vm.name());
                }
            }
            Input::Nothing => {}
        }
    }
}

/// Puts what a virtual machine wrote on the line, until all is there or `stop` says so; how
/// much of it.
fn write(machine: &Machine, vm: &Vm, bytes: &[u8], stop: impl FnMut() -> bool) -> usize {
    let mut guard = machine.console.lock();
    let Line {
        console, serial, ..
    } = &mut *guard;
    let (now, wire) = (machine.now(), &mut Wire(serial));
    console.write_until(vm.index, vm.name(), now, bytes, wire, stop)
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
fn finish(machine: &Machine, vm: &Vm) {
    let mut guard = machine.console.lock();
    let Line {
        console, serial, ..
    } = &mut *guard;
    console.finish(vm.index, vm.name(), machine.now(), &mut Wire(serial));
}

/// What is on its way from the rings to the line.
pub(crate) struct Drain {
    /// Whose ring it is, and how many bytes of it are left for this time.
    vm: usize,
    left: usize,
    bytes: [u8; DRAIN_STEP],
    taken: usize,
    length: usize,
}

impl Drain {
    /// Nothing.
    pub(crate) const NONE: Self = Self {
        vm: 0,
        left: DRAIN_LIMIT,
        bytes: [0; DRAIN_STEP],
        taken: 0,
        length: 0,
    };

    /// Puts on the line what was taken out of the ring of `vm`, until `stop` says so.
    fn put(&mut self, machine: &Machine, vm: &Vm, stop: impl FnMut() -> bool) {
        let bytes = self.bytes.get(self.taken..self.length).unwrap_or_default();
        self.taken += write(machine, vm, bytes, stop);
    }

    /// Takes more out of the ring of `vm`; false if there is none, or it had its share.
    fn take(&mut self, vm: &Vm) -> bool {
        let room = self.left.min(DRAIN_STEP);
        let count = match vm.log.lock().as_mut() {
            Some(ring) => ring.read(&mut self.bytes[..room]),
            None => 0,
        };
        (self.taken, self.length) = (0, count);
        self.left -= count;
        if let Some(slot) = vm.slot().filter(|_| count > 0) {
            slot.backlog.lock().push(&self.bytes[..count]);
        }
        count > 0
    }

    /// Empties the ring of one virtual machine.
    fn empty(&mut self, machine: &Machine, vm: &Vm) {
        // What was taken before goes first: of this one it is older, of another one it is not
        // to come under a new one's name.
        if let Some(other) = machine.vm(self.vm) {
            self.put(machine, other, || false);
        }
        let (before, left) = (self.vm, self.left);
        (self.vm, self.left) = (vm.index, DRAIN_LIMIT);
        while self.take(vm) {
            self.put(machine, vm, || false);
        }
        (self.vm, self.left) = (before, left);
    }

    /// Goes on with emptying every ring until `stop` says so; whether all are done. One that
    /// writes on and on does not keep Mortise: what is too much now is left for the next time.
    fn go_on(&mut self, machine: &'static Machine, stop: &dyn Fn() -> bool) -> bool {
        while let Some(vm) = machine.vm(self.vm) {
            if self.taken < self.length {
                self.put(machine, vm, stop);
            } else if !self.take(vm) {
                (self.vm, self.left) = (self.vm + 1, DRAIN_LIMIT);
            }
            if stop() {
                return false;
            }
        }
        (self.vm, self.left) = (0, DRAIN_LIMIT);
        true
    }
}

/// Empties every ring until `stop` says so; whether all are.
fn drain_rings(machine: &'static Machine, stop: &dyn Fn() -> bool) -> bool {
    machine.drain.lock().go_on(machine, stop)
}

/// Empties the ring of one virtual machine.
pub(crate) fn drain_ring(machine: &Machine, vm: &Vm) {
    machine.drain.lock().empty(machine, vm);
}

/// Ends what a virtual machine has to say: it starts anew, with what `ring` makes, or is gone.
/// Nobody takes more out of its old ring meanwhile: that would come after the end of its last line.
pub(crate) fn conclude(
    machine: &Machine,
    vm: &Vm,
    ring: impl FnOnce() -> Option<Consumer<'static>>,
) {
    let mut drain = machine.drain.lock();
    drain.empty(machine, vm);
    finish(machine, vm);
    *vm.log.lock() = ring();
}
