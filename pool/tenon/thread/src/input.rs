//! What is typed on the console, byte by byte.
//!
//! On bare metal that is the serial port. Under Mortise a VM has one of its own if its system says
//! `input = true`; otherwise its lines leave by a ring in memory, and nothing comes in.

use crate::console;

/// Whether there is a serial port on which something can be typed.
pub fn is_available() -> bool {
    console::listens()
}

/// The next byte that was typed, if one came: it is looked for, and nobody waits.
pub fn read_byte() -> Option<u8> {
    console::take()
}
