//! Expiry of timers, in the timer interrupt.

use super::{Action, PeriodicTimer, Timer};
use crate::kernel::Kernel;
use core_trace::Event;
use tenon_machine::analysis_notes as notes;
use tenon_machine::options;

impl Timer {
    /// Performs its action in the timer interrupt; `now` is the counter value of that interrupt.
    #[inline(always)]
    pub(crate) fn expire(&self, kernel: &Kernel, now: u64) {
        match self.action.get() {
            Action::Release(timer) => timer.expire(kernel, now),
            Action::Wake(thread) => {
                self.note_expired();
                thread.expire_wait(kernel);
            }
            Action::Call(handler) => {
                kernel.record(Event::Expire, self);
                notes::note_timer_call();
                self.note_expired();
                let Some(handler) = handler else { return };
                handler();
            }
        }
    }

    /// Marks it as not pending, unless the queue of several cores did so under its lock.
    #[inline(always)]
    fn note_expired(&self) {
        if options::cores() == 1 {
            self.set_idle();
        }
    }

    /// [`expire`](Timer::expire) for one of several timers with the same expiry: periodic timers,
    /// which meet again in each period, are inlined.
    #[inline(always)]
    pub(crate) fn expire_in_batch(&self, kernel: &Kernel, now: u64) {
        match self.action.get() {
            Action::Release(timer) => timer.expire(kernel, now),
            _ => self.expire_out_of_line(kernel, now),
        }
    }

    /// [`expire`](Timer::expire) out of line.
    #[inline(never)]
    pub(crate) fn expire_out_of_line(&self, kernel: &Kernel, now: u64) {
        self.expire(kernel, now);
    }
}

impl PeriodicTimer {
    /// Releases it at the counter value `now`.
    #[inline(always)]
    fn expire(&'static self, kernel: &Kernel, now: u64) {
        notes::note_timer_call();
        (self.release)(self, kernel.opaque(), now);
    }
}

/// Calls the handler of type `F`, which captures nothing.
#[inline(always)]
pub(super) fn call<F: Fn() + Copy + 'static>() {
    const { assert!(size_of::<F>() == 0, "a timer's handler captures nothing") };
    notes::note_timer_handler();
    // SAFETY: F has no size, so any aligned address holds a value. The timer was given an F, so the
    // type has values, and F is Copy, so reading another one is allowed.
    let handler = unsafe { core::ptr::NonNull::<F>::dangling().read() };
    handler();
}
