//! Serial line of the console.

use super::vm::Vm;
use hw_serial::Serial;
use mortise_console::{Console, Port};

/// The serial line and who writes on it.
pub(crate) struct Line {
    pub(crate) console: Console,
    pub(crate) serial: Option<Serial>,
    /// Whether input waits in the hardware for room in a virtual machine.
    pub(crate) held: bool,
    /// The byte that was typed last.
    pub(crate) typed: Typed,
}

/// How far a byte is that was typed.
pub(crate) enum Typed {
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

    /// Does a step of what goes before anybody's next byte; whether there was something to do.
    pub(crate) fn step(&mut self) -> bool {
        self.console.step(&mut Wire(&mut self.serial))
    }
}

/// The hardware's end of the line.
pub(crate) struct Wire<'a>(pub(crate) &'a mut Option<Serial>);

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
