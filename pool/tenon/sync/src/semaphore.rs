//! The counting semaphore.

use crate::Error;
use core::cell::Cell;
use tenon_thread::time::Instant;
use tenon_thread::wait::{Guarded, WaitQueue};

/// The units that nobody has, and who waits for one.
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
    /// A semaphore with `units` to take at first, and no bound to speak of.
    pub const fn new(units: u32) -> Self {
        Self::bounded(units, u32::MAX)
    }

    /// A semaphore with `units` to take at first that never holds more than `most`; 1 makes it
    /// binary.
    pub const fn bounded(units: u32, most: u32) -> Self {
        assert!(units <= most, "more units than the semaphore holds");
        Self(Guarded::new(Units::new(units, most)))
    }

    /// Gives a unit: to the first who waits, otherwise to whoever takes it.
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

    /// Takes a unit if there is one.
    #[inline(always)]
    pub fn try_take(&self) -> bool {
        self.0.masked(|units, _| units.take())
    }

    /// Takes a unit, and waits until there is one.
    #[inline(always)]
    pub fn take(&'static self) {
        // Without a deadline nothing times out.
        let _ = self.take_in_turn(None);
    }

    /// Takes a unit, and waits until there is one, at the latest until `deadline`.
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
