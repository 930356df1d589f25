//! The LibOS kernel: boot, threads, time, interrupts.
//!
//! An application is linked with this kernel into one image with one address space, and its main
//! function runs in a thread. [`image!`] defines the image. The same image boots under Mortise,
//! which passes it a guest header, and on bare metal at EL2 or EL1.
//!
//! - [`thread`]: threads with preemptive priority scheduling, in static storage;
//! - [`server`]: budgets of threads, in images with servers;
//! - [`time`]: instants, sleep, timers, without a tick;
//! - [`interrupt`]: handlers of device interrupts;
//! - [`wait`]: building blocks of synchronisation objects;
//! - [`options`]: the configuration of the image;
//! - [`trace`]: marks of the application in the trace;
//! - [`environment`]: what Mortise assigned to this VM;
//! - [`input`]: input from the console.
//!
//! Below these, `kernel` has the exception vectors, the context switch and the state of a core: the
//! scheduler, the timer queue and the interrupt table, which are pure libraries tested on the host.
//!
//! Guarantees: no function allocates. The path from an interrupt to a thread has no lock and no
//! loop without a constant bound. The longest masked section is the expiry of eight timers, apart
//! from log lines. In steady state a VM with direct interrupts causes no exit to Mortise: the core
//! itself serves timer, interrupt acknowledgement and idle. With several cores each has its own
//! kernel, and a shared object has its own lock (`docs/decisions/smp.md`); an image for one core
//! contains none of that.

#![no_std]
#![expect(
    unsafe_code,
    reason = "context switch, boot, shared memory, state of a core behind masked interrupts"
)]

pub mod environment;
mod image_macro;
pub mod input;
pub mod interrupt;
mod kernel;
pub mod thread;
pub mod time;
pub mod trace;
pub mod wait;

pub use kernel::fault::abort;
#[doc(hidden)]
pub use tenon_machine::define_options;
pub use tenon_machine::options;
pub use thread::server;

#[cfg(test)]
mod tests;

/// Items that [`image!`] uses; not for applications.
#[doc(hidden)]
pub mod parts {
    pub use crate::interrupt::fit;
    pub use crate::kernel::boot::boot;
    pub use crate::kernel::fault::panic;
    pub use crate::kernel::image::{IDLE_STACK, Image};
    pub use crate::kernel::smp::core::Core;
    pub use crate::kernel::smp::secondary::boot_secondary;
    pub use crate::kernel::{Kernel, PerCore};
    pub use crate::thread::{Block, Stack};
    pub use core_trace::Ring;
    pub use hw_arch::cpu::park;
    pub use hw_arch::image_entry;
    pub use hw_arch::{El1, entry::EarlyTable};
    pub use hw_serial::define_serial;
    pub use tenon_irq::Line;
    pub use tenon_machine::platform::Platform;
}
