//! Wake-up, blocking and exit of a thread.

use super::{Thread, Wait};
use crate::kernel::Kernel;
use crate::kernel::smp::core::request;
use crate::kernel::trace;
use crate::wait::TimedOut;
use core::sync::atomic::{AtomicBool, Ordering};
use core_trace::Event;
use tenon_machine::irq_mask::without_irqs;
use tenon_machine::object_lock::Guard;
use tenon_machine::object_lock::PI_CHAIN_LOCK;

/// Some thread was joined. In an image without joins no code sets this, so that the linker knows
/// its value and the exit of a thread does not look for joiners.
static JOINED: AtomicBool = AtomicBool::new(false);

impl Thread {
    /// Parks it, the current thread, unless it was unparked before.
    #[inline(always)]
    pub fn park(&self, kernel: &Kernel) {
        if !self.unpark_token.take() {
            self.wait(kernel, Wait::Unpark);
        }
    }

    /// Ends its wait in [`park`](Thread::park). If it has not parked, its next park returns at once.
    #[inline(always)]
    pub fn unpark(&'static self, kernel: &Kernel) {
        if kernel.is_home_core_of(self) {
            self.unpark_local(kernel);
        } else {
            kernel.post(self, request::UNPARK);
        }
    }

    /// [`unpark`](Thread::unpark) on its home core.
    #[inline(always)]
    pub(crate) fn unpark_local(&'static self, kernel: &Kernel) {
        if self.wait_reason.get() == Wait::Unpark {
            self.wake_local(kernel);
        } else {
            self.unpark_token.set(true);
        }
    }

    /// Makes it ready.
    #[inline(always)]
    pub fn wake(&'static self, kernel: &Kernel) {
        if kernel.is_home_core_of(self) {
            self.wake_local(kernel);
        } else {
            kernel.post(self, request::WAKE);
        }
    }

    /// Makes it ready on its home core.
    #[inline(always)]
    pub(crate) fn wake_local(&'static self, kernel: &Kernel) {
        self.wait_reason.set(Wait::None);
        kernel.record(Event::Ready, self);
        kernel.make_ready(self);
    }

    /// Ends it, the current thread.
    pub fn exit(&'static self, kernel: &Kernel) {
        kernel.detach_server(self);
        PI_CHAIN_LOCK.locked(|| {
            self.release_held_mutexes(kernel);
            // A thread that joins reads the identifier and begins its wait under this lock.
            self.joiners.lock.locked(|| {
                self.id.set(0);
                self.wake_joiners(kernel);
            });
        });
        self.wait(kernel, Wait::Dormant);
    }

    /// Blocks the current thread until this one, with identifier `id`, has ended, at the latest until
    /// `deadline`. `guard` is that of the joiners.
    pub fn wait_for_end(
        &'static self,
        kernel: &Kernel,
        id: u64,
        deadline: Option<u64>,
        guard: &Guard<'static>,
    ) -> Result<(), TimedOut> {
        JOINED.store(true, Ordering::Relaxed);
        if self.id() != id {
            return Ok(());
        }
        self.joiners.queue.wait_in(kernel, deadline, guard)
    }

    /// Wakes the threads that joined it; the caller holds the lock of their queue.
    #[inline(always)]
    fn wake_joiners(&self, kernel: &Kernel) {
        if JOINED.load(Ordering::Relaxed) {
            while self.joiners.queue.wake_in(kernel).is_some() {}
        }
    }

    /// Whether it has ended but its storage is not free yet.
    pub fn is_exiting(&self) -> bool {
        without_irqs(|| PI_CHAIN_LOCK.locked(|| self.id() == 0)) && self.smp.is_claimed()
    }

    /// Releases its storage if it has ended: it no longer runs, and its context is saved.
    pub(crate) fn switched_out(&self) {
        if self.wait_reason.get() == Wait::Dormant {
            self.smp.release();
        }
    }

    /// Blocks it, the current thread.
    #[inline(always)]
    pub fn wait(&self, kernel: &Kernel, reason: Wait) {
        self.wait_reason.set(reason);
        trace::record_wait(kernel, self, reason);
        kernel.block();
    }

    /// Switches to another thread until this one, which has moved from the run queue to a wait
    /// queue, is woken.
    #[inline(always)]
    pub fn wait_in_queue(&self, kernel: &Kernel) {
        self.wait_reason.set(Wait::Queue);
        trace::record_wait(kernel, self, Wait::Queue);
        kernel.switch_away();
    }
}
