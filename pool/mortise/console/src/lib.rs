//! Console multiplexer: one serial line for Mortise and all VMs.
//!
//! # Purpose
//!
//! A board has one serial line and several who want to write on it. [`Console`] interleaves them so
//! that a person can read it and a program can take it apart again:
//!
//! ```text
//! [    1.000000000] mortise| motor running
//! [    1.002000000] linux| Booting Linux on physical CPU 0x0
//! [    2.500000000] linux| / # ec
//! [    2.600000000] motor| 1000 releases
//! [    2.500000000] linux+ ho ready
//! ```
//!
//! Every line begins with the time and a name. Bytes appear as they come, so a prompt is seen at
//! once; a line that another writer breaks off goes on behind `NAME+`, with the time at which it
//! began. Lines end in CR LF; a writer's own CRs are dropped, so that it cannot write over a name.
//!
//! Input goes to the selected VM. Ctrl-T and a digit select the VM of that number, Ctrl-T twice
//! sends one Ctrl-T.
//!
//! # Guarantees
//!
//! A step puts one byte at most and takes some ten to a hundred instructions, whatever is said: a
//! VM's byte, one of a header, one of a message of Mortise's own, which is kept as what it is made of.
//! Messages wait for the line in the order in which they were said, and go before what VMs write
//! later; if too many do, a line says how many were lost. No lock and no allocation; who shares it
//! between cores guards it.
//!
//! # Example
//!
//! ```
//! use core_manifest::Name;
//! use mortise_console::{Argument, Console, Input, Port, Words};
//!
//! struct Line(Vec<u8>);
//! impl Port for Line {
//!     fn is_ready(&mut self) -> bool {
//!         true
//!     }
//!     fn put(&mut self, byte: u8) {
//!         self.0.push(byte);
//!     }
//! }
//!
//! let (mut console, mut line) = (Console::new(), Line(Vec::new()));
//! let (linux, motor) = (Name::of("linux"), Name::of("motor"));
//! for byte in *b"/ # " {
//!     while !console.put(0, byte, &mut line, || (&linux, 1_500_000_000)) {}
//! }
//! assert_eq!(line.0, b"[    1.500000000] linux| / # ");
//!
//! let words = Words {
//!     text: " restarts ({})",
//!     arguments: &[Argument::Decimal(3)],
//! };
//! console.say(1_600_000_000, &motor, words);
//! while console.step(&mut line) {}
//! assert!(line.0.ends_with(b"\r\n[    1.600000000] mortise| motor restarts (3)\r\n"));
//!
//! console.select(0);
//! assert_eq!(console.input(b'l', 1), Input::To { vm: 0, byte: b'l' });
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod digits;
mod head;
mod input;
mod message;
mod output;
#[cfg(test)]
mod tests;

pub use input::Input;
pub use message::{Argument, Cursor, Words};
pub use output::last_message;

use core_manifest::Name;

/// The serial line.
pub trait Port {
    /// Whether it takes a byte without waiting.
    fn is_ready(&mut self) -> bool;

    /// Sends a byte.
    fn put(&mut self, byte: u8);
}

/// The name of Mortise's own lines.
pub const OWN_NAME: Name = Name::of("mortise");

/// VMs that can have an unfinished line, one bit each; the last bit is Mortise's own.
const WRITERS: usize = u32::BITS as usize;
const OWN: usize = WRITERS - 1;

/// The state of the line: who is writing, and who gets the input.
#[derive(Clone, Debug)]
pub struct Console {
    /// Whose line has not ended, on the physical line.
    open: Option<usize>,
    /// Bit per writer whose line was broken off.
    broken: u32,
    /// When each writer's line began.
    began: [u64; WRITERS],
    /// Which VM gets the input.
    selected: Option<usize>,
    /// What goes before anybody's next byte.
    between: head::Between,
    /// Mortise's own messages.
    own: message::Queue,
    /// Whether the last byte received was a Ctrl-T.
    escape: bool,
}

impl Console {
    /// An empty line, with input for nobody.
    pub const fn new() -> Self {
        Self {
            open: None,
            broken: 0,
            began: [0; WRITERS],
            selected: None,
            between: head::Between::NOTHING,
            own: message::Queue::EMPTY,
            escape: false,
        }
    }
}

impl Default for Console {
    fn default() -> Self {
        Self::new()
    }
}
