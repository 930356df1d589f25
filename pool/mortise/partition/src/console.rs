//! One serial line for all virtual machines.
//!
//! A virtual machine with a virtual PL011 writes to the line as it goes. One in
//! direct mode must not exit to write: it fills a [ring](crate::log_drain) in its memory.
//!
//! The line's lock is held for a byte at a time, and who writes on a core that is shared looks at
//! its interrupts in between. So nobody waits for a line, whoever writes it: what Mortise has to
//! say is kept in a few words ([`Machine::say`]) and put on the line in steps, on an unshared core
//! at once and on a shared one when nobody more urgent wants it.

use crate::{
    hypervisor_timer::PeriodicWork,
    log_drain::drain_rings,
    machine::{Core, Machine},
    physical_gic::{OWN_PRIORITY, VmInterrupts},
    registry,
    vm::Vm,
};
use core_log::{Level, Sink};
use core_manifest::{Console as Kind, Name};
use hw_serial::Serial;
use mortise_console::{Argument, Console, Input, Port, Words};

/// Rings are emptied a hundred times a second.
static DRAIN: PeriodicWork = PeriodicWork::new(10_000_000, drain_rings);

/// The serial line and who writes on it.
pub(crate) struct Line {
    console: Console,
    serial: Option<Serial>,
    /// Whether input waits in the hardware for room in a virtual machine.
    held: bool,
    /// The byte that was typed last.
    typed: Typed,
}

/// How far a byte is that was typed.
enum Typed {
    /// There is none.
    Nothing,
    /// It is this one, for that virtual machine.
    Byte(&'static Vm, u8),
    /// That virtual machine has it, and is to be told.
    Given(&'static Vm),
    /// It selected that one, and a line is to say so.
    Selected(&'static Vm),
}

impl Line {
    /// A line that nobody has opened.
    pub(crate) const CLOSED: Self = Self {
        console: Console::new(),
        serial: None,
        held: false,
        typed: Typed::Nothing,
    };

    /// Takes the next byte out of the hardware; nothing if there is none, which interrupts then, or
    /// no room for it.
    fn hear(&mut self, machine: &'static Machine) -> Option<Input> {
        let serial = self.serial.as_mut()?;
        let selected = self.console.selected();
        let target = selected.and_then(|vm| machine.residents().nth(vm));
        self.held = target.is_some_and(|vm| vm.serial.lock().is_full());
        if self.held {
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
        Some(self.console.input(byte, machine.residents().count()))
    }

    /// Does a step of what goes before anybody's next byte; whether there was something to do.
    fn step(&mut self) -> bool {
        self.console.step(&mut Wire(&mut self.serial))
    }
}

/// The hardware's end of the line.
struct Wire<'a>(&'a mut Option<Serial>);

impl Port for Wire<'_> {
    fn is_ready(&mut self) -> bool {
        self.0.as_ref().is_none_or(Serial::is_ready)
    }

    fn put(&mut self, byte: u8) {
        if let Some(serial) = self.0 {
            serial.write_byte(byte);
        }
    }
}

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

impl Machine {
    /// Says something on the console, about somebody whose name it begins with.
    pub fn report(&'static self, about: &Name, text: &'static str, arguments: &[Argument]) {
        if Level::Info > self.board.log {
            return;
        }
        let words = Words { text, arguments };
        self.console.lock().console.say(self.now(), about, words);
        let core = Core::current();
        match core.dispatcher() {
            Some(_) => core.deferred_work.request(),
            None => core.flush(),
        }
    }
}

impl Core {
    /// Puts on the line what waits for it. What is left when the core is wanted becomes a chore.
    pub(crate) fn flush(&'static self) {
        if !flush(self.machine, &|| self.preemption_pending()) {
            self.deferred_work.request();
        }
    }
}

/// Puts on the line what waits for it, until `stop` says so; whether nothing is left.
pub(crate) fn flush(machine: &Machine, stop: &dyn Fn() -> bool) -> bool {
    while !stop() {
        if !machine.console.lock().step() {
            return true;
        }
    }
    false
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
fn wire(machine: &Machine) -> Option<Serial> {
    // SAFETY: the board description says where it is; every map of Mortise's has
    // it as device memory, and no guest's has it.
    unsafe { Serial::open(machine.board.uart_base) }
}

/// Prepares the console's own interrupts on its core.
pub(crate) fn attach(core: &'static Core) {
    // Who has no console of Mortise's has the port itself, and hears what is typed.
    let mut vms = core.machine.residents();
    if vms.all(|vm| vm.description().console != Kind::None) {
        listen(core.machine);
    }
    if core.machine.vms().any(Vm::has_log) {
        core.machine.hypervisor_timer.set(core, &DRAIN);
    }
}

/// Has what is typed interrupt this core.
fn listen(machine: &'static Machine) {
    let board = &machine.board;
    let distributor = board.distributor();
    distributor.route(board.uart_irq, hw_arch::cpu::affinity());
    distributor.set_priority(board.uart_irq, OWN_PRIORITY);
    distributor.enable(board.uart_irq);
    if let Some(serial) = &mut machine.console.lock().serial {
        serial.enable_receive_interrupt();
    }
}

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

/// Has it told of the level as a chore.
fn owe_line(core: &Core, vm: &Vm) {
    core.lines.set(core.lines.get() | 1 << vm.index);
    core.deferred_work.request();
}

/// Tells the virtual interrupt controllers of the levels that are owed them, until `stop` says so;
/// whether that is all.
pub(crate) fn settle_lines(core: &Core, stop: &dyn Fn() -> bool) -> bool {
    loop {
        let owed = core.lines.get();
        if owed == 0 {
            return true;
        }
        core.lines.set(owed & (owed - 1));
        if let Some(vm) = core.machine.vm(owed.trailing_zeros() as usize) {
            set_line(core.machine, vm);
        }
        if stop() {
            return false;
        }
    }
}

/// Tells the virtual interrupt controller the level of the virtual PL011's line.
/// The controller's lock covers the look at the level, so that of two cores the
/// later one has the last word.
fn set_line(machine: &'static Machine, vm: &'static Vm) {
    if let Some(gic) = vm.interrupts.shared() {
        let mut gic = gic.lock();
        let level = vm.serial.lock().interrupt();
        gic.set_line(
            0,
            machine.board.uart_irq,
            level,
            &mut VmInterrupts { machine, vm },
        );
    } else {
        vm.set_serial_interrupt(machine);
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
            Typed::Nothing => match line.hear(machine) {
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
        registry::line_is_shared() && machine.console.lock().console.is_unfinished(vm.index);
    (!is_unfinished || write(machine, vm, b'\n', stop)) && flush(machine, stop)
}
