//! What must hold between the parts of the kernel, checked in images with TENON_THREAD_ASSERTIONS.
//!
//! They catch what the types do not: a thread in two lists, a switch that an interrupt could break, a
//! stack that overflowed where no page guards it. In other images there is nothing of them.

use crate::fault;
use crate::options;
use crate::thread::Thread;
use core_list::Linked;
use core_sched::Schedulable;

/// The lowest word of each stack, while it has not overflowed.
const CANARY: u64 = 0x7465_6e6f_6e20_6f6b;

/// What the canary and its alignment take of a stack.
pub(crate) const ROOM: usize = 16;

/// Ends the image unless the condition holds.
#[inline(always)]
pub(crate) fn check(condition: impl FnOnce() -> bool, what: &'static str) {
    if options::assertions() && !condition() {
        fail(what);
    }
}

#[cold]
fn fail(what: &'static str) -> ! {
    panic!("assertion of the kernel: {what}")
}

/// Puts the canary at the end of a stack.
///
/// # Safety
///
/// `stack` is the lowest address of one, aligned to 16 bytes, and nobody uses it yet.
pub(crate) unsafe fn mark(stack: usize) {
    if options::assertions() {
        // SAFETY: the caller's contract.
        unsafe { (stack as *mut u64).write_volatile(CANARY) };
    }
}

/// Checks a switch from one thread to another.
#[inline(always)]
pub(crate) fn switches(previous: &'static Thread, next: &'static Thread) {
    if !options::assertions() {
        return;
    }
    /// PSTATE.I as DAIF shows it; on the host nothing is masked.
    const I: u64 = 1 << 7;
    let masked = hw_arch::read_register!("daif") & I != 0;
    check(
        || masked || cfg!(not(target_os = "none")),
        "interrupts are masked in a switch",
    );
    check(|| !previous.is(&next), "a switch changes threads");
    // SAFETY: every thread has been given a stack, whose lowest word is nothing but this.
    let canary = unsafe { (previous.stack() as *const u64).read_volatile() };
    if canary != CANARY {
        fault::abort("stack overflow", previous);
    }
}

/// Checks that a thread may be put among those that are ready, unless it is there.
#[inline(always)]
pub(crate) fn becomes_ready(thread: &'static Thread) {
    if options::assertions() && !thread.state().is_ready() {
        joins(thread);
    }
}

/// Checks that a thread may be put into a list.
#[inline(always)]
pub(crate) fn joins(thread: &'static Thread) {
    check(|| !thread.is_linked(), "a thread is in one list at a time");
}
