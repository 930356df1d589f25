//! vDSO: an ELF image in each process, whose functions read the clock without a system call.
//!
//! [`CLOCK`] is a page that processes read: how ticks of the counter are converted, and the date of
//! the start. [`IMAGE`] is the page behind it in their address spaces, an ELF file with the functions
//! that Linux has for AArch64, which C libraries look up by `AT_SYSINFO_EHDR`; handlers of signals
//! return to one of them, at [`SIGRETURN`].
//!
//! Guarantees: both are pages of the image, which no process can write and which take no frame. The
//! functions have the results of the system calls, which they make for clocks of execution time and
//! such as do not exist. The date is one word: no process sees a part of a change.
//!
//! ```
//! use tenon_vdso::{IMAGE, SIGRETURN};
//!
//! assert_eq!(&IMAGE.bytes()[..4], b"\x7fELF");
//! // mov x8, #139
//! assert_eq!(IMAGE.bytes()[SIGRETURN..][..4], 0xd280_1168u32.to_le_bytes());
//! ```

#![cfg_attr(not(test), no_std)]
#![expect(unsafe_code, reason = "a page of words is seen as bytes")]

mod clock;
mod code;
mod image;

pub use clock::{CLOCK, Clock};
pub use image::{IMAGE, Image, SIGRETURN};

/// Bytes of a page.
pub const PAGE: usize = 4096;

#[cfg(test)]
mod tests;
