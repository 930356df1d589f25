//! Counting semaphore.

use crate::Error;
use core::cell::Cell;
use tenon_thread::time::Instant;
use tenon_thread::wait::{Guarded, WaitQueue};

/// Available units and waiting threads.
struct Units {
    free: Cell<u32>,
    most: u32,
    waiters: WaitQueue,
}

impl Units {
    const fn new(free: u32, most: u32) -> Self {
        Self {
            free: Cell::new(free),
            most,
            waiters: WaitQueue::new(),
        }
    }

    #[inline(always)]
    fn take(&self) -> bool {
        let free = self.free.get();
        if free > 0 {
            self.free.set(free - 1);
        }
        free > 0
    }

    #[inline(always)]
    fn give(&self) -> Result<(), Error> {
        let free = self.free.get();
        if free >= self.most {
            return Err(Error::Full);
        }
        self.free.set(free + 1);
        Ok(())
    }
}

/// A counting semaphore.
pub struct Semaphore(Guarded<Units>);

impl Semaphore {
    /// A semaphore with `units` available units and no effective maximum.
    pub const fn new(units: u32) -> Self {
        Self::bounded(units, u32::MAX)
    }

    /// A semaphore with `units` available units and a maximum of `most`; 1 makes it binary.
    pub const fn bounded(units: u32, most: u32) -> Self {
        assert!(units <= most, "more units than the semaphore holds");
        Self(Guarded::new(Units::new(units, most)))
    }

    /// Gives a unit to the first waiter, or makes it available.
    #[inline(always)]
    pub fn give(&self) -> Result<(), Error> {
        self.0.try_or_wake(
            |units, _| units.waiters.is_empty().then(|| units.give()),
            |units, waking| {
                units.waiters.wake(waking);
                Ok(())
            },
        )
    }

    /// Takes a unit if one is available.
    #[inline(always)]
    pub fn try_take(&self) -> bool {
        self.0.masked(|units, _| units.take())
    }

    /// Takes a unit, blocking until one is available.
    #[inline(always)]
    pub fn take(&'static self) {
        // Without a deadline the wait cannot time out.
        let _ = self.take_in_turn(None);
    }

    /// Takes a unit, blocking until `deadline`.
    #[inline(always)]
    pub fn take_until(&'static self, deadline: Instant) -> Result<(), Error> {
        self.take_in_turn(Some(deadline))
    }

    #[inline(always)]
    fn take_in_turn(&'static self, deadline: Option<Instant>) -> Result<(), Error> {
        self.0.try_or_wait(
            |units, _| units.take().then_some(Ok(())),
            |_, waiting| {
                let turn = waiting.wait(|units| &units.waiters, deadline);
                turn.map_err(|_| Error::TimedOut)
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_like_a_number(
            most in 0..5u32,
            operations in prop::collection::vec(any::<bool>(), 0..60),
        ) {
            let units = Units::new(0, most);
            let mut model = 0u32;
            for give in operations {
                if give {
                    prop_assert_eq!(units.give().is_ok(), model < most);
                    model = (model + 1).min(most);
                } else {
                    prop_assert_eq!(units.take(), model > 0);
                    model = model.saturating_sub(1);
                }
                prop_assert_eq!(units.free.get(), model);
            }
        }
    }
}
