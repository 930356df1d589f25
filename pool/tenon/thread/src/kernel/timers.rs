//! The timers of a core, as its kernel uses them: one queue for any number of them; in an image with a
//! few, a sorted list; in one with a fixed tick, a wheel.

use super::{EXPIRY_STEPS, Kernel};
use crate::options;
use crate::timer::Timer;
use core_timer::Step;

impl Kernel {
    /// Starts a timer at a counter value.
    #[inline(always)]
    pub(crate) fn start_timer(&self, timer: &'static Timer, ticks: u64) {
        let alarm = if options::cores() > 1 {
            self.start_shared_timer(timer, || ticks)
        } else if options::tick() {
            self.timers.start_at_tick(timer, ticks);
            None
        } else if options::few_timers() {
            self.few_timers.start(timer, ticks)
        } else {
            self.timers.queue().start(timer, ticks)
        };
        if let Some(alarm) = alarm {
            self.clock().move_alarm(alarm);
        }
    }

    /// Starts a timer that is not pending; returns what to set the alarm for, if that changes.
    #[inline(always)]
    pub(crate) fn start_idle_timer(&self, timer: &'static Timer, ticks: u64) -> Option<u64> {
        if options::tick() {
            self.timers.start_at_tick(timer, ticks);
            return None;
        }
        if options::few_timers() {
            return self.few_timers.start(timer, ticks);
        }
        self.timers.queue().start_idle(timer, ticks)
    }

    /// Lets a timer that expires join the others of its next deadline, if it can.
    #[inline(always)]
    pub(crate) fn rejoin_timer(&self, timer: &'static Timer, ticks: u64) -> bool {
        !options::tick() && !options::few_timers() && self.timers.queue().rejoin(timer, ticks)
    }

    /// Starts a timer that expires for its next deadline.
    #[inline(always)]
    pub(crate) fn restart_timer(&self, timer: &'static Timer, ticks: u64) -> Option<u64> {
        if options::tick() || options::few_timers() {
            timer.set_idle();
            return self.start_idle_timer(timer, ticks);
        }
        self.timers.queue().restart(timer, ticks)
    }

    /// Stops a timer; returns whether it was pending. The alarm stays: most timers that are stopped
    /// are timeouts far ahead, and one that was next costs an interrupt that finds nothing due.
    #[inline(always)]
    pub(crate) fn cancel_timer(&self, timer: &'static Timer) -> bool {
        if options::cores() > 1 {
            return self.cancel_shared_timer(timer);
        }
        if options::tick() {
            return self.timers.wheel().cancel(timer);
        }
        if options::few_timers() {
            return self.few_timers.cancel(timer);
        }
        self.timers.queue().cancel(timer)
    }

    /// Expires what is due: the timer interrupt's work.
    #[inline(always)]
    pub(crate) fn expire(&self) {
        let clock = self.clock();
        let now = clock.ticks();
        if options::cores() > 1 {
            return self.expire_shared_timers(now);
        }
        if options::tick() {
            return self.turn(now);
        }
        if options::few_timers() {
            return self.expire_few(now);
        }
        // The short way for the only one that is due is left out of an image made for size.
        if !options::small()
            && let Some((timer, alarm)) = self.timers.queue().expire_single(now)
        {
            clock.move_alarm(alarm);
            return timer.expire_timer(self, now);
        }
        self.expire_several(now);
    }

    /// Expires what is due of a few timers.
    fn expire_few(&self, now: u64) {
        for _ in 0..EXPIRY_STEPS {
            match self.few_timers.expire(now) {
                Ok(timer) => timer.expire_timer(self, now),
                Err(next) => return self.clock().move_alarm(next),
            }
        }
    }

    /// Expires what is due, if that is not just one timer. Out of line: its many registers are
    /// nothing that one timer should wait for.
    #[inline(never)]
    fn expire_several(&self, now: u64) {
        let timers = self.timers.queue();
        let mut steps = EXPIRY_STEPS;
        while steps > 0 {
            steps -= 1;
            if let Some(timer) = timers.pop() {
                timer.expire_in_batch(self, now);
                continue;
            }
            steps = steps.saturating_sub(1);
            match timers.cascade(now) {
                Step::Expired(timer) => timer.expire_out_of_line(self, now),
                Step::Moved => {}
                Step::Idle => return self.clock().move_alarm(timers.alarm()),
            }
        }
        // There may be more: the alarm is still due and interrupts at once again.
    }
}
