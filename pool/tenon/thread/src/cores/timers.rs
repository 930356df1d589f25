//! Timers that several cores start and cancel.
//!
//! A timer is in the queue of the core that started it last, where it expires. Others may cancel it
//! or start it anew, with an answer at once, so that a core's queue is behind a gate of its own, held
//! for one step of it. A thread's own timer is touched by its home alone.

use super::Core;
use crate::kernel::{EXPIRY_STEPS, Kernel};
use crate::timer::Timer;
use core_timer::{RadixHeap, Step};

type Queue = RadixHeap<&'static Timer>;

impl Kernel {
    /// Calls `action` with the queue that the timer is in, if in any, and the number of its core.
    fn with_timers_of<R>(
        &self,
        timer: &Timer,
        mut action: impl FnMut(&Queue, usize) -> R,
    ) -> Option<R> {
        loop {
            let owner = timer.core();
            let core: &Core = self.cores().get(owner)?;
            let _guard = core.timers_lock.lock();
            // Another core may have started it anew at this instant.
            if timer.core() == owner {
                return core.timers.get().map(|timers| action(timers, owner));
            }
        }
    }

    /// Starts a timer on this core, wherever it was pending, at the counter value that `begin` then
    /// says; returns what to set the alarm for, if that changes.
    pub(crate) fn start_shared_timer(
        &self,
        timer: &'static Timer,
        begin: impl Fn() -> u64,
    ) -> Option<u64> {
        loop {
            let started = self.with_timers_of(timer, |timers, owner| {
                cancel(timers, timer);
                if owner == self.index() {
                    return Some(timers.start(timer, begin()));
                }
                timer.set_core(self.index());
                None
            })?;
            if let Some(alarm) = started {
                return alarm;
            }
        }
    }

    /// Stops a timer, wherever it is pending.
    pub(crate) fn cancel_shared_timer(&self, timer: &'static Timer) -> bool {
        self.with_timers_of(timer, |timers, _| cancel(timers, timer))
            .unwrap_or(false)
    }

    /// Reads what goes with a timer.
    pub(crate) fn read_shared_timer<R: Default>(&self, timer: &Timer, read: impl Fn() -> R) -> R {
        self.with_timers_of(timer, |_, _| read())
            .unwrap_or_default()
    }

    /// Starts a periodic timer that has expired on this core once more, unless it was cancelled or
    /// started anew since.
    pub(crate) fn restart_shared_timer(&self, timer: &'static Timer, next: impl Fn() -> u64) {
        let alarm = self.with_timers_of(timer, |timers, owner| {
            let restarts = owner == self.index() && timer.restarts().replace(false);
            restarts.then(|| timers.start(timer, next())).flatten()
        });
        if let Some(alarm) = alarm.flatten() {
            self.clock().move_alarm(alarm);
        }
    }

    /// Expires what is due, one step of the queue at a time.
    pub(crate) fn expire_shared_timers(&self, now: u64) {
        let Some(core) = self.core() else {
            return;
        };
        for _ in 0..EXPIRY_STEPS {
            let step = core.timers_lock.locked(|| {
                let step = match self.timers.heap().pop() {
                    Some(timer) => Step::Expired(timer),
                    None => self.timers.heap().cascade(now),
                };
                if let Step::Expired(timer) = &step {
                    timer.set_idle();
                    timer.restarts().set(timer.is_periodic());
                }
                step
            });
            match step {
                Step::Expired(timer) => timer.expire_out_of_line(self, now),
                Step::Moved => {}
                Step::Idle => return self.clock().move_alarm(self.timers.heap().alarm()),
            }
        }
        // There may be more: the alarm is still due and interrupts at once again.
    }
}

/// Stops a timer in whose queue's gate this is; returns whether it would have expired once more.
fn cancel(timers: &Queue, timer: &'static Timer) -> bool {
    timer.restarts().replace(false) | timers.cancel(timer)
}
