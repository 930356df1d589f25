//! What the vector calls.

use super::Kernel;
use crate::sites;
use crate::trace;

/// Deals with what the vector found no handler for.
#[cfg_attr(
    not(target_arch = "aarch64"),
    expect(dead_code, reason = "for the vectors")
)]
pub(crate) extern "C" fn refuse(acknowledged: u32) {
    // SAFETY: the vectors are in place since `boot`; an exception masks interrupts.
    unsafe { Kernel::this() }.interrupts.refuse(acknowledged);
}

/// Preempts the current thread: the vector's second half, on the thread's own stack.
#[cfg_attr(
    not(target_arch = "aarch64"),
    expect(dead_code, reason = "for the vectors")
)]
pub(crate) extern "C" fn reschedule() {
    // SAFETY: as in `refuse`.
    let this = unsafe { Kernel::this() };
    this.preempt();
}

/// The handler of the timer interrupt.
pub(crate) extern "C" fn timer_interrupt(intid: u32) {
    sites::note_handler();
    trace::serving(intid, || {
        // SAFETY: handlers are called by the vector alone.
        let this = unsafe { Kernel::this() };
        this.expire();
    });
}
