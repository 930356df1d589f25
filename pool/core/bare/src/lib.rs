//! Native tasks and the image without a kernel.
//!
//! # Purpose
//!
//! A *native task* has no kernel below it. It runs alone on a core and is called once. It is linked
//! into Mortise (`mortise/bare`), or is an image of its own at EL1 or EL2 (TenonOS paper, 4.1 and 4.4:
//! applications straight on the hypervisor, and a hypervisor without partitions). [`Host`] is what
//! runs it; a task does not see which host it has, and is the same code on all of them.
//!
//! [`image!`](crate::image!) makes an image of a task: entry, stack, clock and console, with the exception
//! level as a type. At EL1 it is a virtual machine of Mortise, or starts on bare metal; at EL2 it is a
//! Mortise without virtual machines.
//!
//! # Authority
//!
//! Each right is a value: [`Time`], [`Console`]. A task takes those that it needs as arguments, and
//! there is no other way to them: only a [`Grant`] makes one, and to make a grant is `unsafe`, as it
//! asserts that a whole core is free. So the signature of a task written in safe Rust states all that
//! it can do. Its manifest, `rights = ["time", "console"]`, states the same, in the order of the
//! arguments; a system gives a task these rights, or is refused.
//!
//! # Guarantees
//!
//! Nothing allocates, nothing is formatted by `core::fmt`, and no interrupt is taken: a task waits
//! with interrupts masked, and the timer's pending interrupt ends the wait. Between a deadline and the
//! task's next instruction the host only reads the counter.
//!
//! An image has no scheduler and no handler. Without a GICv3 it polls the counter. Its console is the
//! log ring that Mortise gave, otherwise the serial port. Its map is the one that it starts with, in
//! which all of RAM can be written and executed, as there is no second program to protect. An
//! exception is reported on the console and turns the machine off, as does the end of the task.
//!
//! # Example
//!
//! ```
//! use core_bare::{Console, Time};
//!
//! pub fn beat(time: Time, console: Console) {
//!     let mut beats = time.every(1_000_000);
//!     let late = beats.wait();
//!     console.line("the first beat, {} ns late", &[late]);
//! }
//! ```

#![cfg_attr(not(test), no_std)]
#![expect(
    unsafe_code,
    reason = "a grant asserts that a core is free; an image owns the machine's devices and memory"
)]

mod image;
mod machine;
mod output;
mod task;
mod text;

pub use hw_arch::board::Board;
pub use machine::{fault, panicked, start};
pub use task::{Console, Grant, Host, Releases, Task, Tasks, Time, tasks};
pub use text::fill;

/// Crates that the expansion of [`image!`] names.
#[doc(hidden)]
pub mod deps {
    pub use hw_arch;
    pub use hw_serial;
}
