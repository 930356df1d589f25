//! Wake-up, blocking and exit of a thread.

use super::{Thread, Wait};
use crate::kernel::Kernel;
use crate::kernel::smp::core::request;
use crate::trace;
use core_trace::Event;
use tenon_machine::object_lock::PI_CHAIN_LOCK;

impl Thread {
    /// Ends its wait in [`park`](super::park). If it has not parked, its next park returns at once.
    /// Also callable from an interrupt handler.
    #[inline(always)]
    pub fn unpark(&'static self) {
        Kernel::with_reschedule(|kernel| self.unpark_in(kernel));
    }

    #[inline(always)]
    pub(super) fn unpark_in(&'static self, kernel: &Kernel) {
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
    pub(crate) fn wake(&'static self, kernel: &Kernel) {
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
    pub(crate) fn exit(&'static self, kernel: &Kernel) {
        kernel.detach_server(self);
        PI_CHAIN_LOCK.locked(|| {
            self.release_held_mutexes(kernel);
            // A thread that joins reads the identifier and begins its wait under this lock.
            self.joiners.lock().locked(|| {
                self.id.set(0);
                self.wake_joiners(kernel);
            });
        });
        self.wait(kernel, Wait::Dormant);
    }

    /// Releases its storage if it has ended: it no longer runs, and its context is saved.
    pub(crate) fn switched_out(&self) {
        if self.wait_reason.get() == Wait::Dormant {
            self.smp.release();
        }
    }

    /// Blocks it, the current thread.
    #[inline(always)]
    pub(crate) fn wait(&self, kernel: &Kernel, reason: Wait) {
        self.wait_reason.set(reason);
        trace::record_wait(kernel, self, reason);
        kernel.block();
    }

    /// Switches to another thread until this one, which has moved from the run queue to a wait
    /// queue, is woken.
    #[inline(always)]
    pub(crate) fn wait_in_queue(&self, kernel: &Kernel) {
        self.wait_reason.set(Wait::Queue);
        trace::record_wait(kernel, self, Wait::Queue);
        kernel.switch_away();
    }
}
