//! Periodic work of Mortise, started by a timer.
//!
//! The hypervisor timer is used on the console's core, which takes interrupts to EL2 anyway. On a
//! shared core that timer is the scheduler's, which has another one for the work; it is done there in
//! bounded steps, between which pending interrupts are taken, so that it does not delay a guest's
//! interrupt.

use core::cell::Cell;
use core_list::{Link, Linked};
use core_sync::TicketLock;
use core_timer::{SortedTimerList, Timed, TimerState};
use hw_arch::El2;
use hw_clock::Clock;

/// A function that is called once per period, with a context of type `C`.
pub struct PeriodicWork<C: 'static> {
    link: Link<&'static PeriodicWork<C>>,
    state: TimerState<&'static PeriodicWork<C>>,
    /// Period in nanoseconds.
    period: u64,
    action: Action<C>,
}

/// Continues the work until `stop` returns true; returns whether the work is complete.
type Action<C> = fn(C, stop: &dyn Fn() -> bool) -> bool;

// SAFETY: the cells inside are changed by the timer queue only, which `HypervisorTimer` keeps
// behind its lock.
unsafe impl<C> Sync for PeriodicWork<C> {}

impl<C> PeriodicWork<C> {
    /// Work that is not armed.
    pub const fn new(period: u64, action: Action<C>) -> Self {
        Self {
            link: Link::new(),
            state: TimerState::new(),
            period,
            action,
        }
    }
}

impl<C> Linked for &'static PeriodicWork<C> {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

impl<C> Timed for &'static PeriodicWork<C> {
    fn state(&self) -> &TimerState<Self> {
        &self.state
    }
}

/// Timer queue of the periodic work.
pub struct HypervisorTimer<C: 'static>(TicketLock<Queue<C>>);

struct Queue<C: 'static> {
    armed: SortedTimerList<&'static PeriodicWork<C>>,
    /// The work that is in progress.
    current: Cell<Option<&'static PeriodicWork<C>>>,
}

/// Result of a step.
pub enum Progress {
    /// More work may be due.
    More,
    /// No work is due before this time, in ticks of the counter.
    IdleUntil(u64),
}

impl<C: Copy> HypervisorTimer<C> {
    /// An empty queue.
    pub const fn idle() -> Self {
        Self(TicketLock::new(Queue {
            armed: SortedTimerList::new(),
            current: Cell::new(None),
        }))
    }

    /// Arms periodic work and calls `enable` under the lock; returns the first expiry of the queue. Work expires at whole multiples of
    /// its period, as Linux's ticks do, and apart from the releases of Tenon's periodic tasks: where
    /// timers of two cores expire in the same tick, the order in which the emulator runs the cores
    /// would decide on a latency.
    #[inline(always)]
    pub fn arm(
        &self,
        clock: Clock<El2>,
        work: &'static PeriodicWork<C>,
        enable: impl FnOnce(),
    ) -> u64 {
        let queue = self.0.lock();
        let period = clock.frequency().ticks(work.period);
        queue
            .armed
            .start(work, next_multiple(clock.ticks(), period));
        enable();
        queue.first()
    }

    /// Continues work that is due until `stop` returns true. A late expiry skips periods: on a slow
    /// line writing may take longer than a period, and the guest of this core would never run.
    #[inline(always)]
    pub fn step(&self, clock: Clock<El2>, context: C, stop: &dyn Fn() -> bool) -> Progress {
        let queue = self.0.lock();
        if let Some(work) = queue.current.get() {
            drop(queue);
            if (work.action)(context, stop) {
                let period = clock.frequency().ticks(work.period);
                let queue = self.0.lock();
                queue.current.set(None);
                queue
                    .armed
                    .start(work, next_multiple(clock.ticks(), period));
            }
            return Progress::More;
        }
        let due = queue.armed.expire(clock.ticks()).ok();
        if let Some(work) = due {
            work.state().set_idle();
        }
        queue.current.set(due);
        let first = queue.first();
        match due {
            Some(_) => Progress::More,
            None => Progress::IdleUntil(first),
        }
    }
}

impl<C> Queue<C> {
    /// First expiry.
    fn first(&self) -> u64 {
        self.armed.first().unwrap_or(u64::MAX)
    }
}

/// The first multiple of `period` after `now`.
const fn next_multiple(now: u64, period: u64) -> u64 {
    let period = if period == 0 { 1 } else { period };
    (now / period).saturating_add(1).saturating_mul(period)
}

#[cfg(test)]
mod tests {
    use super::next_multiple;

    #[test]
    fn the_next_expiry_is_in_the_future() {
        assert_eq!(next_multiple(0, 10), 10);
        assert_eq!(next_multiple(9, 10), 10);
        assert_eq!(next_multiple(10, 10), 20, "not now");
        assert_eq!(next_multiple(57, 10), 60, "five periods are skipped");
        assert_eq!(next_multiple(3, 0), 4);
        assert_eq!(next_multiple(u64::MAX, 10), u64::MAX);
    }
}
