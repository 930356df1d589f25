//! Timers of a core: start, cancel and expiry.

use super::{EXPIRY_STEPS, Kernel, expiry};
use crate::thread::Thread;
use crate::time::Timer;
use core_timer::{Step, TimerQueue};
use tenon_machine::options;
use tenon_timer::{Selected, selected};

impl Kernel {
    /// Starts a timer for a counter value.
    #[inline(always)]
    pub fn start_timer(&self, timer: &'static Timer, ticks: u64) {
        let alarm = match options::cores() {
            0..=1 => self.timers.start(timer, ticks),
            _ => self.start_shared_timer(timer, || ticks),
        };
        if let Some(alarm) = alarm {
            self.set_alarm(alarm);
        }
    }

    /// Starts a timer that is not pending; returns the new compare value, if it changes.
    #[inline(always)]
    pub fn start_idle_timer(&self, timer: &'static Timer, ticks: u64) -> Option<u64> {
        self.timers.start_idle(timer, ticks)
    }

    /// Restarts an expiring timer together with others of its next deadline, if the queue can.
    #[inline(always)]
    pub fn rejoin_timer(&self, timer: &'static Timer, ticks: u64) -> bool {
        self.timers.rejoin(timer, ticks)
    }

    /// Restarts an expiring timer for its next deadline.
    #[inline(always)]
    pub fn restart_timer(&self, timer: &'static Timer, ticks: u64) -> Option<u64> {
        self.timers.restart(timer, ticks)
    }

    /// Cancels a timer; returns whether it was pending. The compare value is kept: most timers that
    /// are cancelled are timeouts far ahead, and one that was next costs an interrupt that finds
    /// none due.
    #[inline(always)]
    pub fn cancel_timer(&self, timer: &'static Timer) -> bool {
        match options::cores() {
            0..=1 => self.timers.cancel(timer),
            _ => self.cancel_shared_timer(timer),
        }
    }

    /// Starts the timeout of a wait that `thread` is about to begin. Returns false if `deadline`,
    /// in nanoseconds, has passed.
    #[inline(always)]
    pub fn limit_wait(&self, thread: &'static Thread, deadline: Option<u64>) -> bool {
        let Some(deadline) = deadline else {
            return true;
        };
        let clock = self.clock();
        let ticks = clock.frequency().ticks(deadline);
        let ahead = ticks > clock.ticks();
        if ahead {
            self.start_timer(thread.timer(), ticks);
        }
        ahead
    }

    /// Expires timers that are due: the timer interrupt's work.
    #[inline(always)]
    pub(crate) fn expire(&self) {
        let now = self.clock().ticks();
        if self.is_unqueued_due(now) {
            self.expire_all(now);
        } else {
            self.expire_queue(now);
        }
    }

    /// Expires the timers of the queue that are due.
    #[inline(always)]
    pub(crate) fn expire_queue(&self, now: u64) {
        if options::cores() > 1 {
            return self.expire_shared_timers(now);
        }
        match selected() {
            Selected::Heap => {
                // An image made for size leaves out the fast path for a single due timer.
                if !options::small()
                    && let Some((timer, alarm)) = self.timers.heap().expire_single(now)
                {
                    self.set_alarm(alarm);
                    return expiry::expire(timer, self, now);
                }
                self.expire_several(now);
            }
            Selected::List => self.expire_few(now),
            Selected::Wheel => self.advance_wheel(now),
        }
    }

    /// Expires the timers of a list.
    fn expire_few(&self, now: u64) {
        for _ in 0..EXPIRY_STEPS {
            match self.timers.list().expire(now) {
                Ok(timer) => expiry::expire(timer, self, now),
                Err(next) => return self.set_alarm(next),
            }
        }
    }

    /// Advances a wheel to the current tick and sets the compare value for the next one.
    fn advance_wheel(&self, now: u64) {
        let length = self.timers.tick_length();
        let tick = now / length;
        let step = || self.timers.wheel().expire(tick);
        self.expire_by(step, now, || (tick + 1).saturating_mul(length));
    }

    /// Takes steps of expiry, and sets the compare value to `alarm` once none is due.
    #[inline(always)]
    pub(super) fn expire_by(
        &self,
        step: impl Fn() -> Step<&'static Timer>,
        now: u64,
        alarm: impl FnOnce() -> u64,
    ) {
        for _ in 0..EXPIRY_STEPS {
            match step() {
                Step::Expired(timer) => expiry::expire_out_of_line(timer, self, now),
                Step::Moved => {}
                Step::Idle => return self.set_alarm(alarm()),
            }
        }
        // If more timers are due, the compare value is still in the past and interrupts at once.
    }

    /// Expires the timers of a heap, if not exactly one is due. Out of line, because it uses many
    /// registers, which the expiry of a single timer would have to save.
    #[inline(never)]
    fn expire_several(&self, now: u64) {
        let timers = self.timers.heap();
        let mut steps = EXPIRY_STEPS;
        while steps > 0 {
            steps -= 1;
            if let Some(timer) = timers.pop() {
                expiry::expire_in_batch(timer, self, now);
                continue;
            }
            steps = steps.saturating_sub(1);
            match timers.cascade(now) {
                Step::Expired(timer) => expiry::expire_out_of_line(timer, self, now),
                Step::Moved => {}
                Step::Idle => return self.set_alarm(timers.alarm()),
            }
        }
        // More timers may be due: the compare value has passed, so the interrupt stays pending.
    }
}
