//! The end of a wait in a queue out of turn: its time is over, or somebody cuts it short.

use super::{Thread, Wait};
use crate::kernel::Kernel;
use crate::options;
use crate::wait::{CHAINS, involved};

impl Thread {
    /// Its timer expired: makes it ready, out of turn if it waits for its turn.
    #[inline(always)]
    pub(crate) fn time_out(&'static self, kernel: &Kernel) {
        if options::cores() == 1 || self.waits.get() != Wait::Turn {
            self.leave_queue(kernel);
        } else if !self.is_too_late(kernel) {
            // Another core has given it its turn, and it is about to hear of that.
            return;
        }
        self.wake_at_home(kernel);
    }

    /// Leaves the queue it waits in, whosever that is, unless it was taken out of it before.
    fn is_too_late(&'static self, kernel: &Kernel) -> bool {
        let leave = || self.leave_queue(kernel);
        match self.gate.get() {
            Some(gate) if self.moves_on.get() => {
                CHAINS.within(|| self.blocked_on.get().is_none() && gate.within(leave))
            }
            Some(gate) => gate.within(leave),
            None => CHAINS.within(leave),
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
        if involved()
            && let Some(mutex) = self.blocked_on.take()
        {
            mutex.withdraw(kernel);
        } else {
            self.timed_out.set(true);
        }
        true
    }

    /// Whether its wait in a queue, no mutex's, ended out of turn; asked once, by itself.
    #[inline(always)]
    pub(crate) fn take_timed_out(&self) -> bool {
        self.timed_out.replace(false)
    }
}
