//! System calls of Linux for process groups, waiting for children and signals.
//!
//! | module | calls |
//! |---|---|
//! | [`action`] | actions, masks, alternate stacks, the end of a handler |
//! | [`send`] | sending signals |
//! | [`receive`] | waiting for signals |
//! | [`timer`] | timers that send signals |
//! | [`group`] | process groups and sessions |
//! | [`wait`] | waiting for children |
//! | [`signalfd`] | descriptors from which signals are read |
//! | [`pidfd`] | descriptors that name processes |

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod action;
pub mod group;
pub mod pidfd;
pub mod receive;
pub mod send;
pub mod signalfd;
pub mod timer;
pub mod wait;

use tenon_process::{Call, Calls};

/// All calls of this library.
pub static CALLS: Calls = Calls(&[
    Call(74, signalfd::signalfd4),
    Call(95, wait::waitid),
    Call(102, timer::getitimer),
    Call(103, timer::setitimer),
    Call(107, timer::timer_create),
    Call(108, timer::timer_gettime),
    Call(109, timer::timer_getoverrun),
    Call(110, timer::timer_settime),
    Call(111, timer::timer_delete),
    Call(129, send::kill),
    Call(130, send::tkill),
    Call(131, send::tgkill),
    Call(132, action::sigaltstack),
    Call(133, receive::rt_sigsuspend),
    Call(134, action::rt_sigaction),
    Call(135, action::rt_sigprocmask),
    Call(136, receive::rt_sigpending),
    Call(137, receive::rt_sigtimedwait),
    Call(138, send::rt_sigqueueinfo),
    Call(139, action::rt_sigreturn),
    Call(154, group::setpgid),
    Call(155, group::getpgid),
    Call(156, group::getsid),
    Call(157, group::setsid),
    Call(240, send::rt_tgsigqueueinfo),
    Call(260, wait::wait4),
    Call(424, pidfd::pidfd_send_signal),
    Call(434, pidfd::pidfd_open),
    Call(438, pidfd::pidfd_getfd),
]);
