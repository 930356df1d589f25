//! Priority and time slicing of a thread.

use super::Thread;
use crate::kernel::Kernel;
use crate::kernel::smp::core::request;
use core_sched::Priority;
use tenon_machine::irq_mask::without_irqs;
use tenon_machine::object_lock::PI_CHAIN_LOCK;
use tenon_machine::options;

/// The idle thread alone has priority 0: other threads have at least 1.
pub(crate) fn above_idle(priority: Priority) -> Priority {
    priority.max(Priority::new(1))
}

impl Thread {
    /// Its base priority.
    pub fn priority(&self) -> Priority {
        without_irqs(|| PI_CHAIN_LOCK.locked(|| self.base_priority()))
    }

    /// Changes its base priority. The scheduler applies it before this returns.
    pub fn set_priority(&'static self, priority: Priority) {
        Kernel::with_reschedule(|kernel| {
            PI_CHAIN_LOCK.locked(|| self.set_base_priority(kernel, priority))
        });
    }

    /// Sets whether it yields to its peers after each time slice, as threads do by default in an
    /// image with time slices, or runs until it blocks or yields. No effect in other images.
    pub fn set_slicing(&'static self, slicing: bool) {
        Kernel::with_reschedule(|kernel| {
            self.time_slice.enable(slicing);
            kernel.update_slice_timer();
        });
    }

    /// Changes the priority by which it is scheduled, in whichever queue it is.
    pub(super) fn set_effective_priority(&'static self, kernel: &Kernel, priority: Priority) {
        self.smp.set_priority(priority);
        // A thread that waits for a mutex belongs to no core: `PI_CHAIN_LOCK` protects its
        // position.
        if self.blocked_on.get().is_some() || kernel.is_home_core_of(self) {
            self.apply_priority(kernel, priority);
        } else {
            kernel.post(self, request::PRIORITY);
        }
    }

    /// Applies its effective priority on its home core.
    pub(crate) fn apply_priority(&'static self, kernel: &Kernel, priority: Priority) {
        let apply = || {
            let queue = self.queue.get();
            queue.inspect(|queue| queue.leave(self));
            kernel.set_priority(self, priority);
            queue.inspect(|queue| queue.join(self));
        };
        match self.queue_lock.get() {
            Some(lock) if options::cores() > 1 && self.blocked_on.get().is_none() => {
                lock.locked(apply);
            }
            _ => apply(),
        }
    }
}
