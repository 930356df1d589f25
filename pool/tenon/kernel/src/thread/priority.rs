//! Effective priority of a thread.

use super::Thread;
use crate::kernel::Kernel;
use crate::kernel::smp::core::request;
use core_sched::Priority;
use tenon_machine::options;

impl Thread {
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
