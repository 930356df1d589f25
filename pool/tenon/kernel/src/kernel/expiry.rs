//! Expiry of timers, in the timer interrupt.

use super::Kernel;
use crate::thread::Thread;
use crate::time::{Action, PeriodicTimer, Timer};
use core_trace::Event;
use tenon_machine::analysis_notes as notes;
use tenon_machine::options;
use tenon_timer::Wakeable;

impl Wakeable for Thread {
    type Kernel = Kernel;
}

impl Kernel {
    /// Performs the action of a timer in the timer interrupt; `now` is the counter value of that
    /// interrupt.
    #[inline(always)]
    pub(crate) fn expire_timer(&self, timer: &Timer, now: u64) {
        match timer.action() {
            Action::Release(timer) => self.release_timer(timer, now),
            Action::Wake(thread) => {
                Self::note_expired(timer);
                thread.expire_wait(self);
            }
            Action::Call(handler) => {
                self.record(Event::Expire, timer);
                notes::note_timer_call();
                Self::note_expired(timer);
                let Some(handler) = handler else { return };
                handler();
            }
        }
    }

    /// Marks a timer as not pending, unless the queue of several cores did so under its lock.
    #[inline(always)]
    fn note_expired(timer: &Timer) {
        if options::cores() == 1 {
            timer.set_idle();
        }
    }

    /// [`expire_timer`](Kernel::expire_timer) for one of several timers with the same expiry:
    /// periodic timers, which meet again in each period, are inlined.
    #[inline(always)]
    pub(crate) fn expire_timer_in_batch(&self, timer: &Timer, now: u64) {
        match timer.action() {
            Action::Release(timer) => self.release_timer(timer, now),
            _ => self.expire_timer_out_of_line(timer, now),
        }
    }

    /// [`expire_timer`](Kernel::expire_timer) out of line.
    #[inline(never)]
    pub(crate) fn expire_timer_out_of_line(&self, timer: &Timer, now: u64) {
        self.expire_timer(timer, now);
    }

    /// Releases a periodic timer at the counter value `now`.
    #[inline(always)]
    fn release_timer(&self, timer: &'static PeriodicTimer, now: u64) {
        notes::note_timer_call();
        timer.release(self, now);
    }
}
