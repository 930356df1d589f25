//! Mortise as a plain operating system: one native task, and no virtual machine.
//!
//! # Purpose
//!
//! The root of an image without partitions (TenonOS paper, 4.1): the first core, at EL2, has a stack,
//! a clock and a console ([`core_plain`]) and calls the task. When it returns, the machine is turned
//! off.

#![no_std]
#![forbid(unsafe_code)]

// What the compiler has bytes moved by.
use mortise_bytes as _;

#[doc(hidden)]
pub use core_plain as parts;

/// Makes the image of a task that stands in the generated crate.
#[macro_export]
macro_rules! image {
    (config: $config:path, tables: $tables:path $(,)?) => {
        $crate::parts::plain_image! { level: "el2", at: El2, config: $config }
    };
}
