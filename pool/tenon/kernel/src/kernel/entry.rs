//! Functions that the exception vectors call: handlers of the kernel's own interrupts, and preemption.

use super::{Kernel, trace};
use tenon_machine::analysis_notes as notes;

/// Disables an interrupt for which the vector found no handler.
pub extern "C" fn unhandled_interrupt(acknowledged: u32) {
    // SAFETY: the vectors are installed after `boot` stored this core's kernel in TPIDR_EL1, and an
    // exception masks interrupts.
    unsafe { Kernel::this() }.interrupts.refuse(acknowledged);
}

/// Preempts the current thread. The vector calls this on the stack of that thread.
pub extern "C" fn reschedule() {
    // SAFETY: the vectors are installed after `boot` stored this core's kernel in TPIDR_EL1, and
    // interrupts stay masked until the exception return.
    let this = unsafe { Kernel::this() };
    this.preempt();
}

/// Handler of the timer interrupt.
pub extern "C" fn timer_interrupt(intid: u32) {
    notes::note_handler();
    trace::serving(intid, || {
        // SAFETY: only the vector calls handlers, after `boot`, with interrupts masked.
        let this = unsafe { Kernel::this() };
        this.expire();
    });
}

/// Handler of the kick.
pub extern "C" fn kicked(intid: u32) {
    notes::note_handler();
    trace::serving(intid, || {
        // SAFETY: only the vector calls handlers, after `boot`, with interrupts masked.
        let this = unsafe { Kernel::this() };
        this.process_inbox();
    });
}
