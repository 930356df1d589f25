//! Timers that several cores start and cancel.
//!
//! A timer is in the queue of the core that started it last, and expires there. Other cores can
//! cancel or restart it synchronously, so each core's queue is behind a lock, held for one
//! operation of the queue. Only the home core of a thread accesses the timer of that thread.

use super::core::Core;
use crate::kernel::Kernel;
use crate::time::Timer;
use core_timer::{RadixHeap, Step};

type Queue = RadixHeap<&'static Timer>;

impl Kernel {
    /// Calls `action` with the queue that the timer is in, if any, and the number of its core.
    fn with_timers_of<R>(
        &self,
        timer: &Timer,
        mut action: impl FnMut(&Queue, usize) -> R,
    ) -> Option<R> {
        loop {
            let owner = timer.core();
            let core: &Core = self.cores().get(owner)?;
            let _guard = core.timers_lock.lock();
            // Another core may have restarted it before the lock was taken.
            if timer.core() == owner {
                return core.timers.get().map(|timers| action(timers, owner));
            }
        }
    }

    /// Starts a timer on this core, after cancelling it wherever it is pending, at the counter
    /// value that `begin` returns under the lock. Returns the new compare value if it changes.
    pub fn start_shared_timer(
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

    /// Cancels a timer on whichever core it is pending.
    pub(crate) fn cancel_shared_timer(&self, timer: &'static Timer) -> bool {
        self.with_timers_of(timer, |timers, _| cancel(timers, timer))
            .unwrap_or(false)
    }

    /// Reads data that the lock of the timer's queue protects.
    pub fn read_shared_timer<R: Default>(&self, timer: &Timer, read: impl Fn() -> R) -> R {
        self.with_timers_of(timer, |_, _| read())
            .unwrap_or_default()
    }

    /// Restarts a periodic timer that expired on this core, unless it was cancelled or restarted
    /// since.
    pub fn restart_shared_timer(&self, timer: &'static Timer, next: impl Fn() -> u64) {
        let alarm = self.with_timers_of(timer, |timers, owner| {
            let restarts = owner == self.index() && timer.restarts().replace(false);
            restarts.then(|| timers.start(timer, next())).flatten()
        });
        if let Some(alarm) = alarm.flatten() {
            self.set_alarm(alarm);
        }
    }

    /// Expires the timers that are due, and releases the lock after each.
    pub(crate) fn expire_shared_timers(&self, now: u64) {
        let Some(core) = self.core() else {
            return;
        };
        let step = || {
            core.timers_lock.locked(|| {
                let step = match self.timers.heap().pop() {
                    Some(timer) => Step::Expired(timer),
                    None => self.timers.heap().cascade(now),
                };
                if let Step::Expired(timer) = &step {
                    timer.set_idle();
                    timer.restarts().set(timer.is_periodic());
                }
                step
            })
        };
        self.expire_by(step, now, || self.timers.heap().alarm());
    }
}

/// Cancels a timer under the lock of its queue. Returns whether it would have expired again.
fn cancel(timers: &Queue, timer: &'static Timer) -> bool {
    timer.restarts().replace(false) | timers.cancel(timer)
}
