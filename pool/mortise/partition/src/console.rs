//! One serial line for all virtual machines.
//!
//! A virtual machine with a virtual PL011 writes to the line as it goes. One in
//! direct mode must not exit to write: it fills a [ring](crate::log_drain) in its memory.
//!
//! The line's lock is held for a byte at a time, and who writes on a core that is shared looks at
//! its interrupts in between. So nobody waits for a line, whoever writes it: what Mortise has to
//! say is kept in a few words ([`Machine::say`]) and put on the line in steps, on an unshared core
//! at once and on a shared one when nobody more urgent wants it.

pub(crate) mod attach;
pub(crate) mod deferred;
pub(crate) mod input;
pub(crate) mod log_drain;
pub(crate) mod output;
pub(crate) mod pl011;
pub(crate) mod serial_irq;

pub use deferred::ConsoleAccess;
