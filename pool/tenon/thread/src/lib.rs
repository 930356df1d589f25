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
//! - [`input`], [`output`]: the console byte by byte.
//!
//! This crate has what an image is made of: creation of threads, servers, interrupt handlers, boot,
//! exception vectors and the console. The state of a core is in `tenon-kernel`, timers are in
//! `tenon-time`, wait queues and mutexes in `tenon-wait`, the context switch and the address space
//! in `tenon-machine` (`docs/decisions/tenon-crates.md`). Applications name this crate only.
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
    reason = "boot, stacks, shared memory, state of a core behind masked interrupts"
)]

mod boot;
mod console;
pub mod environment;
mod exception;
mod image_macro;
pub mod input;
pub mod interrupt;
pub mod thread;
pub mod trace;

pub use exception::fault::abort;
#[doc(hidden)]
pub use tenon_machine::define_options;
#[doc(inline)]
pub use tenon_machine::options;
pub use thread::server;

#[doc(inline)]
pub use tenon_time as time;

/// Output to the console, byte by byte.
pub mod output {
    pub use crate::console::write;
}

/// Building blocks of synchronisation objects.
pub mod wait {
    #[doc(inline)]
    pub use tenon_wait::{
        Acquired, Guarded, Masked, MutexError, Protocol, RawCondvar, RawMutex, Robustness,
        TimedOut, WaitQueue, WaitValue, Waiting, Waking,
    };
}

#[cfg(test)]
mod tests;

/// Items that [`image!`] uses; not for applications.
#[doc(hidden)]
pub mod parts {
    pub use crate::boot::boot;
    pub use crate::boot::image::{IDLE_STACK, Image};
    pub use crate::boot::secondary::boot_secondary;
    pub use crate::exception::context;
    pub use crate::exception::fault::panic;
    pub use crate::interrupt::fit;
    pub use crate::thread::{Block, Stack};
    pub use core_trace::Ring;
    pub use hw_arch::board;
    pub use hw_arch::cpu::park;
    pub use hw_arch::image_entry;
    pub use hw_arch::{El1, entry::EarlyTable};
    pub use hw_serial::define_serial;
    pub use tenon_irq::Line;
    pub use tenon_kernel::kernel::Kernel;
    pub use tenon_kernel::kernel::smp::core::Core;
    pub use tenon_machine::per_core::PerCore;
}
