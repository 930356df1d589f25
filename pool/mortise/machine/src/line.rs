//! Serial line of the console.

use super::vm::Vm;
use hw_serial::Serial;
use mortise_console::{Console, Port};

/// Serial line with its multiplexer.
pub struct Line {
    /// Multiplexer.
    pub console: Console,
    /// UART, once the line is open.
    pub serial: Option<Serial>,
    /// Whether received input stays in the UART until the VM has room.
    pub held: bool,
    /// State of the last received byte.
    pub typed: InputState,
}

/// State of a received byte.
pub enum InputState {
    /// No byte.
    Nothing,
    /// A byte for this VM.
    Byte(&'static Vm, u8),
    /// The VM's PL011 has the byte, and its interrupt line is to be updated.
    Received(&'static Vm),
    /// The byte selected this VM for input, which is to be reported.
    Selected(&'static Vm),
}

impl Line {
    /// The line before boot.
    pub const CLOSED: Self = Self {
        console: Console::new(),
        serial: None,
        held: false,
        typed: InputState::Nothing,
    };

    /// Does a step of the work that comes before the next byte of output; returns whether there was
    /// any.
    pub fn step(&mut self) -> bool {
        self.console.step(&mut Wire(&mut self.serial))
    }
}

/// Hardware end of the line.
pub struct Wire<'a>(pub &'a mut Option<Serial>);

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
