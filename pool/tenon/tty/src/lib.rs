//! [`Terminal`]: the line discipline of POSIX (XBD 11), without a device.
//!
//! Bytes that arrive are passed to [`Terminal::receive`], which edits lines, echoes, and returns the
//! signals that characters such as `^C` send. Readers take lines, or single bytes with `VMIN` and
//! `VTIME`; writers pass their bytes through [`Terminal::send`]. [`Attributes`] are those of `tcgetattr`.
//!
//! Guarantees: no allocation, no lock, no recursion. A received byte has a bounded echo, in canonical
//! mode at most that of a line; what there is no room for is dropped with a bell, and never lengthens a
//! later step. A byte takes constant time, but for the editing characters, which take time linear
//! in the line.
//!
//! ```
//! use tenon_tty::{Room, Terminal};
//!
//! static ROOM: Room = Room::new();
//! let mut terminal = Terminal::new(&ROOM);
//! let mut echo = Vec::new();
//! for byte in b"lx\x7fs\r" {
//!     terminal.receive(*byte, &mut |bytes| echo.extend_from_slice(bytes));
//! }
//! let mut line = [0; 16];
//! assert_eq!(terminal.read(&mut line), Some(3));
//! assert_eq!(&line[..3], b"ls\n");
//! assert_eq!(echo, b"lx\x08 \x08s\r\n");
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod attributes;
mod terminal;

pub use attributes::{Attributes, character, control, flag};
pub use terminal::{Room, Signal, Size, Terminal};

#[cfg(test)]
mod tests;
