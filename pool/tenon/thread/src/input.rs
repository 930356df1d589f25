//! Console input, byte by byte.
//!
//! On bare metal it comes from the UART. Under Mortise a VM has a UART of its own if its system
//! sets `input = true`; other VMs print by the log ring and have no input.

use crate::console;

/// Whether the console has input.
pub fn is_available() -> bool {
    console::has_input()
}

/// Reads a byte if one has arrived; does not block. One thread reads at a time.
pub fn read_byte() -> Option<u8> {
    console::read_byte()
}

/// The former name of [`is_available`].
#[deprecated(note = "renamed to `is_available`")]
pub fn is_there() -> bool {
    is_available()
}

/// The former name of [`read_byte`].
#[deprecated(note = "renamed to `read_byte`")]
pub fn take() -> Option<u8> {
    read_byte()
}
