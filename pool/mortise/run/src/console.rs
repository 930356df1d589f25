//! Input of the serial line, the virtual PL011, and deferred work of the console.
//!
//! A VM with a virtual PL011 writes to the line directly, by `mortise-output`. On a shared core
//! input is processed as deferred work, and pending interrupts are taken between two steps.

pub(crate) mod attach;
pub(crate) mod deferred;
pub(crate) mod input;
pub(crate) mod pl011;
pub(crate) mod serial_irq;

pub use deferred::ConsoleAccess;
