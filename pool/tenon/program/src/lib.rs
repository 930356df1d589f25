//! Programs of processes: ELF files into address spaces, arguments onto stacks.
//!
//! [`load`] maps the segments of an ELF file, and of the interpreter that it names, into an empty
//! address space, and writes the initial stack with [`Strings`], as the System V ABI states.
//! [`script`] reads the first line of a script, [`timespec`] a time. Errors are those of Linux ([`Errno`]).
//!
//! Guarantees: any bytes are loaded or refused; pages of a file are not copied before a process
//! writes them. What there is no memory for is [`ENOMEM`](Errno::ENOMEM); the space with what it has
//! by then is for the caller to release. Time is linear in the segments and in the bytes of the
//! strings. No function locks or masks interrupts.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod errno;
mod load;
mod time;

pub use errno::Errno;
pub use load::{LINE, Lookup, Space, Start, Strings, check, load, script};
pub use time::timespec;

#[cfg(test)]
mod tests;
