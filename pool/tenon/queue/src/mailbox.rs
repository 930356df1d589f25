//! Mailbox: the latest value.

use crate::Error;
use core::cell::Cell;
use tenon_thread::time::Instant;
use tenon_thread::wait::{Guarded, WaitQueue};

struct State<T> {
    value: Cell<Option<T>>,
    waiters: WaitQueue,
}

/// One value, replaced by each later one: for data of which only the latest counts, such as a
/// measurement or a set point.
///
/// ```no_run
/// use tenon_queue::Mailbox;
///
/// static SET_POINT: Mailbox<i32> = Mailbox::new();
///
/// // In one thread or a handler:
/// let missed = SET_POINT.post(20);
/// // In another thread:
/// let set_point = SET_POINT.fetch();
/// ```
pub struct Mailbox<T>(Guarded<State<T>>);

impl<T: Send> Mailbox<T> {
    /// An empty mailbox.
    pub const fn new() -> Self {
        Self(Guarded::new(State {
            value: Cell::new(None),
            waiters: WaitQueue::new(),
        }))
    }

    /// Stores `value`; returns the value it replaces, which was not fetched. Also from an interrupt
    /// handler.
    #[inline(always)]
    pub fn post(&self, value: T) -> Option<T> {
        let (replaced, waited_for) = self.0.masked(|state, _| {
            let replaced = state.value.replace(Some(value));
            (replaced, !state.waiters.is_empty())
        });
        if waited_for {
            self.wake();
        }
        replaced
    }

    /// Takes the value if there is one; also from an interrupt handler.
    #[inline(always)]
    pub fn try_fetch(&self) -> Result<T, Error> {
        let value = self.0.masked(|state, _| state.value.take());
        value.ok_or(Error::Empty)
    }

    /// Takes the value, blocking until there is one.
    #[inline(always)]
    pub fn fetch(&'static self) -> T {
        loop {
            // Without a deadline the wait cannot time out.
            if let Ok(value) = self.fetch_in_turn(None) {
                return value;
            }
        }
    }

    /// Takes the value, blocking until `deadline`.
    #[inline(always)]
    pub fn fetch_until(&'static self, deadline: Instant) -> Result<T, Error> {
        self.fetch_in_turn(Some(deadline))
    }

    fn fetch_in_turn(&'static self, deadline: Option<Instant>) -> Result<T, Error> {
        loop {
            if let Ok(value) = self.try_fetch() {
                return Ok(value);
            }
            // Another thread may take the value first; then the wait is restarted.
            self.wait(deadline)?;
        }
    }

    #[cold]
    fn wake(&self) {
        self.0.waking(|state, waking| {
            state.waiters.wake(waking);
        });
    }

    #[cold]
    fn wait(&'static self, deadline: Option<Instant>) -> Result<(), Error> {
        self.0.waiting(|state, waiting| {
            let value = state.value.take();
            let empty = value.is_none();
            state.value.set(value);
            if !empty {
                return Ok(());
            }
            let turn = waiting.wait(|state| &state.waiters, deadline);
            turn.map_err(|_| Error::TimedOut)
        })
    }
}

impl<T: Send> Default for Mailbox<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_counts() {
        let mailbox = Mailbox::new();
        assert_eq!(mailbox.try_fetch(), Err(Error::Empty));
        assert_eq!(mailbox.post(1), None);
        assert_eq!(mailbox.post(2), Some(1));
        assert_eq!(mailbox.try_fetch(), Ok(2));
        assert_eq!(mailbox.try_fetch(), Err(Error::Empty));
    }
}
