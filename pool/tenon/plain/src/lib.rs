//! A self-contained image at EL1: one native task, and no kernel.
//!
//! # Purpose
//!
//! The root of an image that has nothing of Tenon's kernel (TenonOS paper, 4.4): a virtual machine of
//! Mortise whose vCPU has a stack, a clock and a console ([`core_plain`]) and calls the task; the
//! same file starts on bare metal, at EL1 or at EL2, which it leaves. When the task returns, the
//! machine it has is turned off.

#![no_std]
#![forbid(unsafe_code)]

#[doc(hidden)]
pub use core_plain as parts;

/// Makes the image of a task that stands in the generated crate.
#[macro_export]
macro_rules! image {
    (config: $config:path, tables: $tables:path $(,)?) => {
        $crate::parts::plain_image! { level: "el1", at: El1, config: $config }
    };
}
