//! A handful of timers.

use crate::state::{PEER, Timed};
use core_list::List;

/// Timers in one sorted list, instead of a [`RadixHeap`](crate::RadixHeap): a quarter of its code
/// and none of its memory. Starting a timer passes those that are due before it, so this is for
/// images with a few; cancelling, and each expiry, is O(1).
pub struct SortedTimerList<T>(List<T>);

impl<T> SortedTimerList<T> {
    /// No timers.
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
    /// Starts a timer, anew if it is pending. Returns what to set the hardware for, if that
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

    /// Takes a timer out; returns whether it was pending.
    pub fn cancel(&self, timer: T) -> bool {
        let pending = timer.state().is_pending();
        if pending {
            self.0.remove(timer);
            timer.state().set_idle();
        }
        pending
    }

    /// The first deadline, if there is one.
    pub fn first(&self) -> Option<u64> {
        self.0.first().map(|first| first.state().deadline())
    }

    /// Takes out the first one, if it is due, and is to be [noted](crate::TimerState::set_idle); or says
    /// what to set the hardware for.
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
