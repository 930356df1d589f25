//! System layer of the C library picolibc.
//!
//! picolibc leaves some functions to the system. Those that are not POSIX are here: [`heap`]
//! (`malloc`), [`lock`] (locks that make the library thread-safe), [`stream`] (`stdout` and
//! `stderr` as lines on the console), [`errno`] and [`tls`] (thread-local storage), [`time`]
//! (clocks and `struct timespec`), and [`process`] (start and end of the program).
//!
//! Guarantees: allocation takes bounded time whatever the state of the heap, and does not block. A
//! lock of the C library blocks its waiters for as long as another thread holds it: functions that
//! take one, such as those that print, are not for real-time paths.

#![no_std]
#![cfg_attr(not(target_os = "none"), allow(dead_code, reason = "C calls it"))]
#![expect(
    unsafe_code,
    reason = "the C library's interface: pointers from C, variables of a thread, linker symbols"
)]

pub mod errno;
pub mod heap;
pub mod lock;
pub mod object;
pub mod process;
pub mod stream;
mod table;
pub mod time;
pub mod tls;

pub use errno::Errno;
