//! The counting semaphore.

use crate::Error;
use core::cell::Cell;
use tenon_thread::time::Instant;
use tenon_thread::wait::{Guarded, WaitQueue, masked, waiting, waking};

/// The units that nobody has.
#[derive(Debug)]
struct Units {
    free: Cell<u32>,
    most: u32,
}

impl Units {
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
pub struct Semaphore {
    units: Guarded<Units>,
    waiters: WaitQueue,
}

impl Semaphore {
    /// A semaphore with `units` to take at first, and no bound to speak of.
    pub const fn new(units: u32) -> Self {
        Self::bounded(units, u32::MAX)
    }

    /// A semaphore with `units` to take at first that never holds more than `most`; 1 makes it
    /// binary.
    pub const fn bounded(units: u32, most: u32) -> Self {
        assert!(units <= most, "more units than the semaphore holds");
        Self {
            units: Guarded::new(Units {
                free: Cell::new(units),
                most,
            }),
            waiters: WaitQueue::new(),
        }
    }

    /// Gives a unit: to the first who waits, otherwise to whoever takes it.
    #[inline(always)]
    pub fn give(&self) -> Result<(), Error> {
        let given = masked(|masked| {
            let alone = self.waiters.is_empty(masked);
            alone.then(|| self.units.get(masked).give())
        });
        given.unwrap_or_else(|| self.hand_over())
    }

    /// Takes a unit if there is one.
    #[inline(always)]
    pub fn try_take(&self) -> bool {
        masked(|masked| self.units.get(masked).take())
    }

    /// Takes a unit, and waits until there is one.
    #[inline(always)]
    pub fn take(&'static self) {
        if !self.try_take() {
            // Without a deadline nothing times out.
            let _ = self.wait(None);
        }
    }

    /// Takes a unit, and waits until there is one, at the latest until `deadline`.
    #[inline(always)]
    pub fn take_until(&'static self, deadline: Instant) -> Result<(), Error> {
        if self.try_take() {
            return Ok(());
        }
        self.wait(Some(deadline))
    }

    #[cold]
    fn hand_over(&self) -> Result<(), Error> {
        waking(|masked| match self.waiters.wake(masked) {
            Some(_) => Ok(()),
            // Its time was over meanwhile.
            None => self.units.get(masked).give(),
        })
    }

    #[cold]
    fn wait(&'static self, deadline: Option<Instant>) -> Result<(), Error> {
        waiting(|masked| {
            if self.units.get(masked).take() {
                return Ok(());
            }
            let turn = self.waiters.wait(masked, deadline);
            turn.map_err(|_| Error::TimedOut)
        })
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
            let units = Units { free: Cell::new(0), most };
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
