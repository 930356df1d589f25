//! End of a wait by a timeout or an interruption.

use super::{Thread, Wait};
use crate::kernel::Kernel;
use crate::wait::pi_used;
use tenon_machine::object_lock::PI_CHAIN_LOCK;
use tenon_machine::options;

impl Thread {
    /// Cancels its timeout and ends its wait as an expiry does.
    pub fn interrupt_wait(&'static self, kernel: &Kernel) {
        kernel.cancel_timer(self.timer());
        self.expire_wait(kernel);
    }

    /// Ends its wait when its timer expires, and removes it from the queue it waits in.
    #[inline(always)]
    pub(crate) fn expire_wait(&'static self, kernel: &Kernel) {
        if options::cores() == 1 || self.wait_reason.get() != Wait::Queue {
            self.leave_queue(kernel);
        } else if !self.leave_queue_locked(kernel) {
            // Another core has woken it, and its request is on the way to this core.
            return;
        }
        self.wake_local(kernel);
    }

    /// [`leave_queue`](Thread::leave_queue) under the lock that protects its queue.
    fn leave_queue_locked(&'static self, kernel: &Kernel) -> bool {
        let leave = || self.leave_queue(kernel);
        match self.queue_lock.get() {
            Some(lock) if self.requeues.get() => {
                PI_CHAIN_LOCK.locked(|| self.blocked_on.get().is_none() && lock.locked(leave))
            }
            Some(lock) => lock.locked(leave),
            None => PI_CHAIN_LOCK.locked(leave),
        }
    }

    /// Removes it from the queue it waits in. Returns whether it was in one.
    #[inline(always)]
    fn leave_queue(&'static self, kernel: &Kernel) -> bool {
        let Some(queue) = self.queue.get() else {
            return false;
        };
        queue.leave(self);
        self.queue.set(None);
        if pi_used()
            && let Some(mutex) = self.blocked_on.take()
        {
            mutex.waiter_left(kernel);
        } else {
            self.wait_timed_out.set(true);
        }
        true
    }

    /// Whether its wait in a queue, other than that of a mutex, timed out. Reading clears the flag.
    #[inline(always)]
    pub fn take_wait_timed_out(&self) -> bool {
        self.wait_timed_out.replace(false)
    }
}
