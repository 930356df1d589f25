//! POSIX semaphores, with and without a name (POSIX.1-2017, `sem_*`).
//!
//! A unit that is posted while somebody waits goes to the most urgent of them, the longest waiting
//! among equals. Posting neither waits nor allocates: a timer's handler may.

#![no_std]
#![cfg_attr(not(target_os = "none"), allow(dead_code, reason = "C calls it"))]
#![expect(
    unsafe_code,
    reason = "the C interface: objects in the program's memory"
)]

mod named;
mod semaphore;

pub use semaphore::{MOST, Semaphore};
