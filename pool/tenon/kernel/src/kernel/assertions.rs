//! Invariants of the kernel, checked in images with TENON_THREAD_ASSERTIONS.
//!
//! They cover what types do not express: a thread is in one list at a time, interrupts are masked
//! in a switch, a stack without a guard page has not overflowed. Other images contain no such
//! checks.

use crate::thread::Thread;
use core_list::Linked;
use core_sched::Schedulable;
use tenon_machine::assertions::{check, check_canary};
use tenon_machine::irq_mask;
use tenon_machine::options;

/// Checks a switch from one thread to another.
#[inline(always)]
pub(crate) fn check_switch(previous: &'static Thread, next: &'static Thread) {
    if !options::assertions() {
        return;
    }
    // On the host no interrupt is masked.
    let masked = irq_mask::is_masked();
    check(
        || masked || cfg!(not(target_os = "none")),
        "interrupts are masked in a switch",
    );
    check(|| !previous.is(&next), "a switch changes threads");
    // SAFETY: every thread has a stack with a canary.
    unsafe { check_canary(previous.stack(), || previous.name()) };
}

/// Checks that a thread that is not ready can be put into the run queue.
#[inline(always)]
pub(crate) fn check_ready(thread: &'static Thread) {
    if options::assertions() && !thread.state().is_ready() {
        check_unlinked(thread);
    }
}

/// Checks that a thread can be put into a list.
#[inline(always)]
pub(crate) fn check_unlinked(thread: &'static Thread) {
    check(|| !thread.is_linked(), "a thread is in one list at a time");
}
