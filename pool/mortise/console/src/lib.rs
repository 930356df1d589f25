//! Console multiplexer: one serial line for Mortise and all VMs.
//!
//! # Purpose
//!
//! A board has one serial line with several writers. [`Console`] interleaves their lines so that a
//! person can read them and a program can separate them again:
//!
//! ```text
//! [    1.000000000] mortise| motor running
//! [    1.002000000] linux| Booting Linux on physical CPU 0x0
//! [    2.500000000] linux| / # ec
//! [    2.600000000] motor| 1000 releases
//! [    2.500000000] linux+ ho ready
//! ```
//!
//! Each line begins with the time and a name. Bytes are written as they arrive, so that a prompt
//! appears at once. Lines end in CR LF; CRs of a writer are dropped, so that it cannot overwrite a
//! name.
//!
//! While others wait, a writer keeps the serial line for a [turn](TURN) of 4 ms and to the end of the
//! line that it writes then. The one that has waited longest is next. A line that takes a turn longer
//! is interrupted, and so is any line by a writer that has waited for four turns; it continues after
//! `NAME+` with the time at which it began. On the core that began the line, a writer interrupts it at
//! once: the holder cannot proceed while it waits.
//!
//! Input goes to the selected VM. Ctrl-T and a digit select the VM with that index; Ctrl-T twice
//! sends one Ctrl-T.
//!
//! # Guarantees
//!
//! A step writes at most one byte and takes about ten to a hundred instructions: a byte of a VM, of
//! a prefix, or of a message of Mortise's, which is stored unformatted. Messages are written in
//! order, before later output of VMs; if too many are queued, a line states how many were lost. No
//! lock and no allocation: the caller serialises accesses of several cores. Writers that print at
//! once all proceed: one that has waited for four turns has the line after the next byte of another
//! one, and writes at least a byte itself, unless its core does not run for 16 turns.
//!
//! # Example
//!
//! ```
//! use core_manifest::Name;
//! use mortise_console::{Argument, Attempt, Console, Input, Port, Progress, Words};
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
//!     let attempt = Attempt { name: &linux, now: 1_500_000_000, core: 0 };
//!     while console.put(0, byte, &mut line, || attempt) != Progress::Written {}
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
mod input;
mod message;
mod output;
mod separator;
#[cfg(test)]
mod tests;

pub use input::Input;
pub use message::{Argument, Cursor, Words};
pub use output::{Attempt, Progress, TURN, last_message};

use core_manifest::Name;

/// A serial line.
pub trait Port {
    /// Whether a byte can be sent without waiting.
    fn is_ready(&mut self) -> bool;

    /// Sends a byte.
    fn put(&mut self, byte: u8);
}

/// Name in the prefix of Mortise's lines.
pub const OWN_NAME: Name = Name::of("mortise");

/// VMs that can have an unfinished line, one bit each; the last bit is Mortise's.
const WRITERS: usize = u32::BITS as usize;
const OWN: usize = WRITERS - 1;

/// State of the serial line: current writer, pending output and selected VM.
#[derive(Clone, Debug)]
pub struct Console {
    /// The writer of the current line, if it has not ended.
    open: Option<usize>,
    /// The writer that has its turn, its core, the time at which that began, and whether it has written
    /// a byte since.
    holder: usize,
    core: usize,
    since: u64,
    spoken: bool,
    /// The time of the first attempt to begin a line after the last one, or 0.
    ended: u64,
    /// The writer that waits longest, and its core.
    next: Option<(usize, usize)>,
    /// Time from which each writer waits for the line of another one, or 0.
    waits: [u64; WRITERS],
    /// Writers with an interrupted line, one bit each.
    broken: u32,
    /// Time at which each writer's line began.
    began: [u64; WRITERS],
    /// The VM that receives input.
    selected: Option<usize>,
    /// Line end and prefix before the next byte.
    separator: separator::Separator,
    /// Messages of Mortise.
    own: message::Queue,
    /// Whether the last byte received was a Ctrl-T.
    escape: bool,
}

impl Console {
    /// A console at the start of a line, without a selected VM.
    pub const fn new() -> Self {
        Self {
            open: None,
            holder: OWN,
            core: 0,
            since: 0,
            spoken: true,
            ended: 0,
            next: None,
            waits: [0; WRITERS],
            broken: 0,
            began: [0; WRITERS],
            selected: None,
            separator: separator::Separator::NOTHING,
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
