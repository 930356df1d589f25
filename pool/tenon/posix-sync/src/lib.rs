//! Read-write locks, barriers, spin locks and one-time initialisation of POSIX threads.
//!
//! Each is state and queues of who waits, in the program's memory. Who waits longest among the most
//! urgent comes first; what is handed over goes to who waits, and nobody comes between. On one core
//! a spin lock that somebody holds is waited for, not spun for: its holder must run.

#![no_std]
#![cfg_attr(not(target_os = "none"), allow(dead_code, reason = "C calls it"))]
#![expect(
    unsafe_code,
    reason = "the C interface: objects in the program's memory"
)]

mod attributes;
mod barrier;
mod calls;
mod once;
mod read_write;
mod spin;
