//! System calls of Linux for scheduling: policies, priorities, nice values, cores.
//!
//! | module | calls |
//! |---|---|
//! | [`policy`] | `sched_setscheduler`, `sched_setparam`, `sched_setattr` and those that read them, limits of priorities, `sched_rr_get_interval`, `sched_yield` |
//! | [`nice`] | `setpriority`, `getpriority` |
//! | [`io`] | `ioprio_set`, `ioprio_get` |
//! | [`futex`] | `futex`, with locks that donate priorities |
//! | [`vector`] | `futex_waitv` |
//! | [`robust`] | `set_robust_list`, `get_robust_list` |
//! | [`core`] | `sched_setaffinity`, `sched_getaffinity`, `getcpu`: one core |
//!
//! What a policy means is that of `tenon_schedule`; the errors are those of Linux.

#![no_std]
#![forbid(unsafe_code)]

pub mod core;
pub mod futex;
pub mod io;
mod lock;
pub mod nice;
pub mod policy;
pub mod robust;
mod target;
pub mod vector;
mod wait;

use tenon_process::{Call, Calls};

/// All calls of this library.
pub static CALLS: Calls = Calls(&[
    Call(30, io::ioprio_set),
    Call(31, io::ioprio_get),
    Call(98, futex::futex),
    Call(99, robust::set_robust_list),
    Call(100, robust::get_robust_list),
    Call(118, policy::sched_setparam),
    Call(119, policy::sched_setscheduler),
    Call(120, policy::sched_getscheduler),
    Call(121, policy::sched_getparam),
    Call(122, core::sched_setaffinity),
    Call(123, core::sched_getaffinity),
    Call(124, policy::sched_yield),
    Call(125, policy::sched_get_priority_max),
    Call(126, policy::sched_get_priority_min),
    Call(127, policy::sched_rr_get_interval),
    Call(140, nice::setpriority),
    Call(141, nice::getpriority),
    Call(168, core::getcpu),
    Call(274, policy::sched_setattr),
    Call(275, policy::sched_getattr),
    Call(449, vector::futex_waitv),
]);
