//! What a thread asks for itself.

use super::{Priority, Thread, Wait};
use crate::assembly;
use crate::kernel::Kernel;
use crate::options;
use core::marker::PhantomData;

/// The thread that runs.
pub fn current() -> &'static Thread {
    Kernel::with_irqs_masked(Kernel::current)
}

/// A priority relative to that of the thread that runs: so much more urgent, or less.
pub fn relative_priority(difference: i8) -> Priority {
    current().priority().offset(difference)
}

/// Makes `pointer` the thread pointer of the current thread, TPIDR_EL0, by which compiled C finds its
/// thread-local data; zero at first. Without TENON_THREAD_POINTER it stays until the next switch.
pub fn set_pointer(pointer: usize) {
    Kernel::with_irqs_masked(|kernel| {
        kernel.current().pointer.set(pointer);
        assembly::set_thread_pointer(pointer);
    });
}

/// What TPIDR_EL0 holds.
pub fn pointer() -> usize {
    hw_arch::read_register!("tpidr_el0") as usize
}

/// Declares that the current thread uses no floating point from here to its end: a use of it ends the
/// image with the thread's name. Without TENON_THREAD_FP_CHOICE it says nothing.
pub fn disable_fp() {
    if options::fp_choice() {
        Kernel::with_irqs_masked(|kernel| {
            let context = &kernel.current().stack_pointer;
            context.set(context.get() | assembly::FP_DISABLED);
            assembly::trap_floats();
        });
    }
}

/// Says that this thread spins until another core has done something.
#[inline(always)]
pub fn relax() {
    hw_arch::cpu::relax();
}

/// Gives way to the others of the same priority.
#[inline(always)]
pub fn yield_now() {
    Kernel::with_blocking(Kernel::yield_current);
}

/// Blocks the current thread until somebody calls its [`Thread::unpark`].
#[inline(always)]
pub fn park() {
    Kernel::with_blocking(|kernel| {
        let thread = kernel.current();
        if !thread.token.take() {
            thread.wait(kernel, Wait::Unpark);
        }
    });
}

/// How many cores run threads.
pub fn cores() -> usize {
    Kernel::with_irqs_masked(|kernel| (0..).take_while(|&core| kernel.has_core(core)).count())
}

/// The number of the core this runs on: of a free thread, at this moment.
pub fn core() -> usize {
    Kernel::with_irqs_masked(|kernel| kernel.index())
}

/// As long as it lives, the thread that has it is not preempted by other threads; interrupts are
/// served all the while, and other cores go on. Several may live at a time, in any order.
#[derive(Debug)]
pub struct PreemptionLock(PhantomData<*const ()>);

impl PreemptionLock {
    /// Locks out the other threads.
    pub fn new() -> Self {
        Kernel::with_irqs_masked(|kernel| kernel.current().state.lock());
        Self(PhantomData)
    }
}

impl Default for PreemptionLock {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for PreemptionLock {
    /// What became ready meanwhile runs at the end of this.
    fn drop(&mut self) {
        Kernel::with_reschedule(|kernel| {
            kernel.current().state.unlock();
            if options::cores() > 1 {
                kernel.balance();
            }
        });
    }
}

/// Runs `action` without being preempted by other threads, as by a [`PreemptionLock`].
pub fn without_preemption<R>(action: impl FnOnce() -> R) -> R {
    let _lock = PreemptionLock::new();
    action()
}
