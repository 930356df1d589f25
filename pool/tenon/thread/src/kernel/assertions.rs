//! Invariants of the kernel, checked in images with TENON_THREAD_ASSERTIONS.
//!
//! They cover what types do not express: a thread is in one list at a time, interrupts are masked
//! in a switch, a stack without a guard page has not overflowed. Other images contain no such
//! checks.

use super::fault;
use crate::thread::Thread;
use core_list::Linked;
use core_sched::Schedulable;
use tenon_machine::irq_mask;
use tenon_machine::options;

/// The lowest word of each stack until it overflows.
const CANARY: u64 = 0x7465_6e6f_6e20_6f6b;

/// Bytes of a stack that the canary and its alignment take.
pub(crate) const CANARY_SIZE: usize = 16;

/// Ends the image unless the condition holds.
#[inline(always)]
fn check(condition: impl FnOnce() -> bool, what: &'static str) {
    if options::assertions() && !condition() {
        fail(what);
    }
}

#[cold]
fn fail(what: &'static str) -> ! {
    panic!("assertion of the kernel: {what}")
}

/// Writes the canary at the lowest address of a stack.
///
/// # Safety
///
/// `stack` is that address, aligned to 16 bytes, and no thread uses the stack yet.
pub(crate) unsafe fn write_canary(stack: usize) {
    if options::assertions() {
        // SAFETY: the address is the aligned start of a stack that no thread uses.
        unsafe { (stack as *mut u64).write_volatile(CANARY) };
    }
}

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
    // SAFETY: every thread has a stack, and the lowest word of a stack holds only the canary.
    let canary = unsafe { (previous.stack() as *const u64).read_volatile() };
    if canary != CANARY {
        fault::abort("stack overflow", previous);
    }
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
