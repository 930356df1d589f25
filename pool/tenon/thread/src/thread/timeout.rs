//! The end of a wait in a queue out of turn: its time is over, or somebody cuts it short.

use super::{Thread, Wait};
use crate::kernel::Kernel;
use crate::options;
use crate::wait::{PI_CHAIN_LOCK, pi_used};

impl Thread {
    /// Its timer expired: makes it ready, out of turn if it waits for its turn.
    #[inline(always)]
    pub(crate) fn expire_wait(&'static self, kernel: &Kernel) {
        if options::cores() == 1 || self.wait_reason.get() != Wait::Queue {
            self.leave_queue(kernel);
        } else if !self.leave_queue_locked(kernel) {
            // Another core has given it its turn, and it is about to hear of that.
            return;
        }
        self.wake_local(kernel);
    }

    /// Leaves the queue it waits in, whosever that is, unless it was taken out of it before.
    fn leave_queue_locked(&'static self, kernel: &Kernel) -> bool {
        let leave = || self.leave_queue(kernel);
        match self.gate.get() {
            Some(gate) if self.requeues.get() => {
                PI_CHAIN_LOCK.locked(|| self.blocked_on.get().is_none() && gate.locked(leave))
            }
            Some(gate) => gate.locked(leave),
            None => PI_CHAIN_LOCK.locked(leave),
        }
    }

    /// Leaves the queue it waits in out of turn; returns whether it was in one.
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

    /// Whether its wait in a queue, no mutex's, ended out of turn; asked once, by itself.
    #[inline(always)]
    pub(crate) fn take_wait_timed_out(&self) -> bool {
        self.wait_timed_out.replace(false)
    }
}
