//! Threads: a living one, and the handle of one that may have ended.

mod error;
mod handle;
mod injection;

pub use error::Error;
pub use handle::{Handle, handle_of, with_living};

use core::fmt;
use core::time::Duration;
use core_sched::Priority;
use tenon_kernel::kernel::Kernel;
use tenon_kernel::thread;
use tenon_machine::irq_mask::without_irqs;
use tenon_machine::object_lock::PI_CHAIN_LOCK;
use tenon_time::nanoseconds;

/// A thread, or the contents of its storage after it has ended. Code that knows that the thread
/// lives, and the thread itself, use this type; other code uses a [`Handle`].
#[repr(transparent)]
pub struct Thread(thread::Thread);

impl Thread {
    /// The thread with this state.
    #[inline(always)]
    pub const fn of(state: &'static thread::Thread) -> &'static Self {
        // SAFETY: this type is transparent over the state.
        unsafe { &*core::ptr::from_ref(state).cast() }
    }

    /// Its name.
    #[inline]
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// The priority by which it is scheduled: its base priority, or a more urgent one that it
    /// inherits from threads that wait for a mutex it owns.
    #[inline]
    pub fn effective_priority(&self) -> Priority {
        self.0.effective_priority()
    }

    /// Its base priority.
    pub fn priority(&self) -> Priority {
        without_irqs(|| PI_CHAIN_LOCK.locked(|| self.0.base_priority()))
    }

    /// Changes its base priority. The scheduler applies it before this returns.
    pub fn set_priority(&'static self, priority: Priority) {
        Kernel::with_reschedule(|kernel| {
            PI_CHAIN_LOCK.locked(|| self.0.set_base_priority(kernel, priority));
            kernel.record_priorities(&self.0);
            kernel.resume_background(None);
        });
    }

    /// Sets whether it yields to its peers after each time slice, as threads do by default in an
    /// image with time slices, or runs until it blocks or yields. No effect in other images.
    pub fn set_slicing(&'static self, slicing: bool) {
        Kernel::with_reschedule(|kernel| {
            self.0.time_slice().enable(slicing);
            kernel.update_slice_timer();
        });
    }

    /// Sets the length of its time slices, of at most 2^32 - 1 ticks; zero for that of all threads.
    /// No effect in an image without time slices.
    pub fn set_slice(&'static self, length: Duration) {
        Kernel::with_reschedule(|kernel| {
            let ticks = kernel.clock().frequency().ticks(nanoseconds(length));
            let ticks = u32::try_from(ticks).unwrap_or(u32::MAX);
            self.0.time_slice().length.set(ticks);
            kernel.update_slice_timer();
        });
    }

    /// Ends its wait in `park`. If it has not parked, its next park returns at once. Also callable
    /// from an interrupt handler.
    #[inline(always)]
    pub fn unpark(&'static self) {
        Kernel::with_reschedule(|kernel| self.0.unpark(kernel));
    }

    /// Its handle. It has not ended: it is the current thread, or the caller prevents its end.
    pub fn handle(&'static self) -> Handle {
        without_irqs(|| PI_CHAIN_LOCK.locked(|| handle_of(&self.0)))
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
