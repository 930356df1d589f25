//! A sorted list of timers, for images with a few.

use crate::state::{PEER, Timed};
use core_list::List;

/// Timers in one sorted list: a quarter of the code of a [`RadixHeap`](crate::RadixHeap) and none
/// of its memory. Starting a timer passes those that expire before it; cancel and each expiry are
/// O(1).
pub struct SortedTimerList<T>(List<T>);

impl<T> SortedTimerList<T> {
    /// An empty list.
    pub const fn new() -> Self {
        Self(List::new())
    }
}

impl<T> Default for SortedTimerList<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Timed> SortedTimerList<T> {
    /// Starts or restarts a timer. Returns the new compare value of the hardware timer, if it
    /// changes.
    pub fn start(&self, timer: T, deadline: u64) -> Option<u64> {
        self.cancel(timer);
        timer.state().deadline.set(deadline);
        timer.state().slot.set(PEER);
        self.0.insert(timer, |one, other| {
            one.state().deadline() < other.state().deadline()
        });
        let first = self.0.first();
        first.filter(|first| first.is(&timer)).map(|_| deadline)
    }

    /// Cancels a timer; returns whether it was pending.
    pub fn cancel(&self, timer: T) -> bool {
        let pending = timer.state().is_pending();
        if pending {
            self.0.remove(timer);
            timer.state().set_idle();
        }
        pending
    }

    /// The first deadline, if a timer is pending.
    pub fn first(&self) -> Option<u64> {
        self.0.first().map(|first| first.state().deadline())
    }

    /// Removes the first timer if it is due, which the caller [marks
    /// idle](crate::TimerState::set_idle), or returns the compare value of the hardware timer.
    pub fn expire(&self, now: u64) -> Result<T, u64> {
        let first = self.0.first().ok_or(u64::MAX)?;
        let deadline = first.state().deadline();
        if deadline > now {
            return Err(deadline);
        }
        self.0.remove(first);
        Ok(first)
    }
}
