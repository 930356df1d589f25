//! System calls of Linux for resources of processes and for the system: limits, clocks, names.
//!
//! | module | calls |
//! |---|---|
//! | [`limits`] | limits of resources, what is used of them, memory |
//! | [`clock`] | setting of clocks |
//! | [`inspection`] | what other processes have |
//! | [`control`] | `prctl`, capabilities of programs, barriers |
//! | [`names`] | names of the system |
//! | [`random`] | random numbers |

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod clock;
pub mod control;
mod execution;
pub mod inspection;
pub mod limits;
pub mod names;
pub mod random;

use tenon_process::{Call, Calls};

/// All calls of this library.
pub static CALLS: Calls = Calls(&[
    Call(58, control::vhangup),
    Call(92, control::personality),
    Call(112, clock::clock_settime),
    Call(116, control::syslog),
    Call(153, limits::times),
    Call(160, names::uname),
    Call(161, names::sethostname),
    Call(162, names::setdomainname),
    Call(163, limits::getrlimit),
    Call(164, limits::setrlimit),
    Call(165, limits::getrusage),
    Call(167, control::prctl),
    Call(170, clock::settimeofday),
    Call(171, clock::adjtimex),
    Call(179, limits::sysinfo),
    Call(261, limits::prlimit64),
    Call(266, clock::clock_adjtime),
    Call(270, inspection::process_vm_readv),
    Call(271, inspection::process_vm_writev),
    Call(272, inspection::kcmp),
    Call(278, random::getrandom),
    Call(283, control::membarrier),
]);
