//! Operations on the current thread.

use super::Thread;
use core::marker::PhantomData;
use core_sched::{Priority, Schedulable as _};
use tenon_kernel::kernel::Kernel;
use tenon_machine::context;
use tenon_machine::options;

/// The current thread.
pub fn current() -> &'static Thread {
    Thread::of(Kernel::with_irqs_masked(Kernel::current))
}

/// The priority of the current thread plus `difference`: positive is more urgent.
pub fn relative_priority(difference: i8) -> Priority {
    current().priority().offset(difference)
}

/// Sets the thread pointer of the current thread (TPIDR_EL0), by which compiled C finds
/// thread-local data; zero at first. Without TENON_THREAD_POINTER it is kept only until the next
/// switch.
pub fn set_pointer(pointer: usize) {
    Kernel::with_irqs_masked(|kernel| {
        kernel.current().set_pointer(pointer);
        context::set_thread_pointer(pointer);
    });
}

/// The thread pointer (TPIDR_EL0).
pub fn pointer() -> usize {
    hw_arch::read_register!("tpidr_el0") as usize
}

/// Disables floating point for the rest of the current thread: a use of it ends the image with a
/// message that names the thread. No effect without TENON_THREAD_FP_CHOICE.
pub fn disable_fp() {
    if options::fp_choice() {
        Kernel::with_irqs_masked(|kernel| {
            let context = kernel.current().stack_pointer();
            context.set(context.get() | context::FP_DISABLED);
            context::trap_fp();
        });
    }
}

/// Hint in a loop that spins until another core acts.
#[inline(always)]
pub fn relax() {
    hw_arch::cpu::relax();
}

/// Yields to the ready threads of the same priority.
#[inline(always)]
pub fn yield_now() {
    Kernel::with_blocking(Kernel::yield_current);
}

/// Blocks the current thread until its [`Thread::unpark`] is called.
#[inline(always)]
pub fn park() {
    Kernel::with_blocking(|kernel| kernel.current().park(kernel));
}

/// The number of cores that run threads.
pub fn cores() -> usize {
    Kernel::with_irqs_masked(|kernel| (0..).take_while(|&core| kernel.has_core(core)).count())
}

/// The number of the current core. A thread that is not pinned can migrate at any time.
pub fn core() -> usize {
    Kernel::with_irqs_masked(|kernel| kernel.index())
}

/// Locks preemption: while it lives, no other thread preempts the thread that holds it. Interrupts
/// are still served, and other cores are not affected. Several can live at a time and end in any
/// order.
#[derive(Debug)]
pub struct PreemptionLock(PhantomData<*const ()>);

impl PreemptionLock {
    /// Locks preemption.
    pub fn new() -> Self {
        Kernel::with_irqs_masked(|kernel| kernel.current().state().lock());
        Self(PhantomData)
    }
}

impl Default for PreemptionLock {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for PreemptionLock {
    /// Unlocks preemption; a more urgent thread that became ready runs before this returns.
    fn drop(&mut self) {
        Kernel::with_reschedule(|kernel| {
            kernel.current().state().unlock();
            if options::cores() > 1 {
                kernel.balance();
            }
        });
    }
}

/// Runs `action` with preemption locked, as by a [`PreemptionLock`].
pub fn without_preemption<R>(action: impl FnOnce() -> R) -> R {
    let _lock = PreemptionLock::new();
    action()
}

/// The former name of [`relative_priority`].
#[deprecated(note = "renamed to `relative_priority`")]
pub fn relative(difference: i8) -> Priority {
    relative_priority(difference)
}

/// The former name of [`disable_fp`].
#[deprecated(note = "renamed to `disable_fp`")]
pub fn forgo_floats() {
    disable_fp();
}
