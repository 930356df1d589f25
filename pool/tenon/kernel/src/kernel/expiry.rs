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

/// Performs the action of a timer in the timer interrupt; `now` is the counter value of that
/// interrupt. The timer is the first argument, as of the release of a periodic timer, so that no
/// instruction moves it.
#[inline(always)]
pub(super) fn expire(timer: &Timer, kernel: &Kernel, now: u64) {
    match timer.action() {
        Action::Release(timer) => release(timer, kernel, now),
        Action::Wake(thread) => {
            note_expired(timer);
            thread.expire_wait(kernel);
        }
        Action::Call(handler) => {
            kernel.record(Event::Expire, timer);
            notes::note_timer_call();
            note_expired(timer);
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

/// [`expire`] for one of several timers with the same expiry: periodic timers, which meet again in
/// each period, are inlined.
#[inline(always)]
pub(super) fn expire_in_batch(timer: &Timer, kernel: &Kernel, now: u64) {
    match timer.action() {
        Action::Release(timer) => release(timer, kernel, now),
        _ => expire_out_of_line(timer, kernel, now),
    }
}

/// [`expire`] out of line.
#[inline(never)]
pub(super) fn expire_out_of_line(timer: &Timer, kernel: &Kernel, now: u64) {
    expire(timer, kernel, now);
}

/// Releases a periodic timer at the counter value `now`.
#[inline(always)]
fn release(timer: &'static PeriodicTimer, kernel: &Kernel, now: u64) {
    notes::note_timer_call();
    timer.release(kernel, now);
}
