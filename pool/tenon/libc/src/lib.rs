//! What the C library asks of a system: memory, locks, streams, errno, an end.
//!
//! picolibc is the C library of applications in C; it leaves to the system what only a system can
//! do. Here is all of that which is not POSIX: [`heap`] (`malloc`, of constant time), [`lock`] (its
//! locks, so that it may be called by all threads), [`stream`] (`stdout` and `stderr` on the
//! console, whole lines), [`errno`], [`tls`] (where it and other variables of a thread are), [`time`]
//! (points in time as C has them), and [`process`] (the arguments of `main`, the program's time, its
//! end).
//!
//! Guarantees: allocating takes the same few instructions whatever the heap holds, and waits for
//! nobody. A lock is one for threads, and its wait is bounded by what other threads do with it: the C
//! library is not for the real-time path where it takes locks, to print for instance.

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
