//! The LibOS kernel: boot, threads, time, interrupts.
//!
//! One address space, one image: the application is linked with this and starts in a thread of its
//! own. [`image!`] makes the image; the same one boots under Mortise, where it is given a header of
//! what it has, and on bare metal at EL2 or EL1.
//!
//! - [`thread`]: threads by priority, preempted, in static storage;
//! - [`server`]: budgets for threads, in images that have them;
//! - [`time`]: instants, sleeping, timers, without a tick;
//! - [`interrupt`]: handlers of device interrupts;
//! - [`wait`]: what synchronisation is made of;
//! - [`options`]: what the image was configured to have;
//! - [`trace`]: marks of one's own in a timeline;
//! - [`environment`]: what Mortise gave this VM;
//! - [`input`]: what is typed on its console.
//!
//! From the metal up: `assembly` has vectors and context switch; `kernel` joins
//! the scheduler, the timer queue and the interrupt table of a core, all of them pure libraries
//! tested on the host; the rest is what applications call.
//!
//! Guarantees: nothing allocates. From interrupt to thread there is no lock and no loop that is not
//! bounded by a constant; the longest section with interrupts masked is the expiry of eight timers,
//! log lines aside. In steady state a VM in direct mode makes no exit to Mortise: timer, interrupt
//! acknowledgement and idling are all the core's own. With several cores each has a kernel
//! of its own, and an object that they share a lock of its own (`docs/decisions/smp.md`); an image for
//! one core has nothing of that.

#![no_std]
#![expect(
    unsafe_code,
    reason = "context switch, boot, shared memory, state of a core behind masked interrupts"
)]

mod assembly;
mod assertions;
mod boot;
mod console;
mod controller;
mod cores;
pub mod environment;
mod fault;
mod image;
pub mod input;
pub mod interrupt;
mod kernel;
pub mod options;
mod periodic;
pub mod server;
mod sites;
mod slice;
mod space;
pub mod thread;
pub mod time;
mod timekeeping;
mod timer;
pub mod trace;
pub mod wait;

pub use fault::abort;

#[cfg(test)]
mod tests;

/// What [`image!`] is made of; not for applications.
#[doc(hidden)]
pub mod parts {
    pub use crate::boot::{IDLE_STACK, Image, Platform, boot};
    pub use crate::cores::{Core, boot_secondary};
    pub use crate::fault::panic;
    pub use crate::interrupt::fit;
    pub use crate::kernel::{Kernel, PerCore};
    pub use crate::thread::{Block, Stack};
    pub use core_trace::Ring;
    pub use hw_arch::cpu::park;
    pub use hw_arch::image_entry;
    pub use hw_arch::{El1, entry::EarlyTable};
    pub use hw_serial::define_serial;
    pub use tenon_irq::Line;
}
