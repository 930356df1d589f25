//! The interface of all timer queues.

use crate::{DeadlineTable, RadixHeap, SortedTimerList, Step, Timed, TimingWheel};

/// The armed timers of one core.
///
/// Kernels call the inherent methods of their queue, which split these operations further for their
/// fast paths; the trait states what every queue has in common, and tests run all of them by it.
///
/// ```
/// use core_timer::{DeadlineTable, Step, TimerQueue};
///
/// /// Expires all timers that are due; returns the compare value of the hardware timer.
/// fn interrupt<Q: TimerQueue>(queue: &Q, now: u64, mut expired: impl FnMut(Q::Timer)) -> u64 {
///     loop {
///         match queue.expire(now) {
///             Step::Expired(timer) => expired(timer),
///             Step::Moved => {}
///             Step::Idle => return queue.alarm(),
///         }
///     }
/// }
///
/// let table = DeadlineTable::<4>::new();
/// assert_eq!(table.start(3, 700), Some(700));
/// assert_eq!(table.start(1, 900), None);
/// assert_eq!(interrupt(&table, 800, |index| assert_eq!(index, 3)), 900);
/// ```
pub trait TimerQueue {
    /// What names a timer: a reference to it, or its index.
    type Timer: Copy;

    /// Starts or restarts a timer for a deadline in the future. Returns the new compare value of
    /// the hardware timer, if this deadline determines it.
    fn start(&self, timer: Self::Timer, deadline: u64) -> Option<u64>;

    /// Cancels a timer; returns whether it was pending.
    fn cancel(&self, timer: Self::Timer) -> bool;

    /// Takes one bounded step of expiry at `now`; to be repeated until it returns [`Step::Idle`].
    fn expire(&self, now: u64) -> Step<Self::Timer>;

    /// The compare value of the hardware timer: not later than any deadline, `u64::MAX` if no
    /// interrupt is needed.
    fn alarm(&self) -> u64;
}

impl<T: Timed> TimerQueue for RadixHeap<T> {
    type Timer = T;

    fn start(&self, timer: T, deadline: u64) -> Option<u64> {
        RadixHeap::start(self, timer, deadline)
    }

    fn cancel(&self, timer: T) -> bool {
        RadixHeap::cancel(self, timer)
    }

    fn expire(&self, now: u64) -> Step<T> {
        RadixHeap::expire(self, now)
    }

    fn alarm(&self) -> u64 {
        RadixHeap::alarm(self)
    }
}

impl<T: Timed> TimerQueue for SortedTimerList<T> {
    type Timer = T;

    fn start(&self, timer: T, deadline: u64) -> Option<u64> {
        SortedTimerList::start(self, timer, deadline)
    }

    fn cancel(&self, timer: T) -> bool {
        SortedTimerList::cancel(self, timer)
    }

    fn expire(&self, now: u64) -> Step<T> {
        match SortedTimerList::expire(self, now) {
            Ok(timer) => {
                timer.state().set_idle();
                Step::Expired(timer)
            }
            Err(_) => Step::Idle,
        }
    }

    fn alarm(&self) -> u64 {
        self.first().unwrap_or(u64::MAX)
    }
}

/// Deadlines are ticks of the wheel, and each of them needs an interrupt.
impl<T: Timed> TimerQueue for TimingWheel<T> {
    type Timer = T;

    fn start(&self, timer: T, deadline: u64) -> Option<u64> {
        TimingWheel::start(self, timer, deadline);
        None
    }

    fn cancel(&self, timer: T) -> bool {
        TimingWheel::cancel(self, timer)
    }

    fn expire(&self, now: u64) -> Step<T> {
        TimingWheel::expire(self, now)
    }

    fn alarm(&self) -> u64 {
        self.tick().saturating_add(1)
    }
}

/// A timer is the index of an entry.
impl<const COUNT: usize> TimerQueue for DeadlineTable<COUNT> {
    type Timer = usize;

    fn start(&self, timer: usize, deadline: u64) -> Option<u64> {
        self.cancel(timer);
        let before = self.earliest();
        self.arm(timer, deadline);
        (deadline < before).then_some(deadline)
    }

    fn cancel(&self, timer: usize) -> bool {
        let armed = self.is_armed(timer);
        DeadlineTable::cancel(self, timer);
        armed
    }

    fn expire(&self, now: u64) -> Step<usize> {
        if let Some(index) = self.expire_single(now) {
            return Step::Expired(index);
        }
        match self.expire_step(now) {
            (Some(index), _) => Step::Expired(index),
            (None, false) => Step::Moved,
            (None, true) => Step::Idle,
        }
    }

    fn alarm(&self) -> u64 {
        self.earliest()
    }
}
