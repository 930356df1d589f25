//! When those who wait on a core are to be woken.

use core::cell::Cell;

/// Deadlines of up to `COUNT` waiters, by number; at most one each.
///
/// There are few, so a table does: setting a deadline is a store and a comparison, and
/// expiry looks at those who wait only.
pub(crate) struct Timers<const COUNT: usize> {
    /// Who waits, one bit each.
    pending: Cell<u32>,
    deadlines: [Cell<u64>; COUNT],
    /// No later than any of them.
    earliest: Cell<u64>,
}

impl<const COUNT: usize> Timers<COUNT> {
    pub const fn new() -> Self {
        const { assert!(COUNT <= u32::BITS as usize) };
        Self {
            pending: Cell::new(0),
            deadlines: [const { Cell::new(0) }; COUNT],
            earliest: Cell::new(u64::MAX),
        }
    }

    /// No later than any deadline; the end of time without one.
    #[inline]
    pub fn earliest(&self) -> u64 {
        self.earliest.get()
    }

    /// Sets somebody's deadline.
    #[inline]
    pub fn start(&self, number: usize, deadline: u64) {
        if let Some(own) = self.deadlines.get(number) {
            own.set(deadline);
            self.pending.set(self.pending.get() | 1 << number);
            if deadline < self.earliest.get() {
                self.earliest.set(deadline);
            }
        }
    }

    /// Takes a deadline back. It may cost an early look, never a late one, but for the last.
    #[inline]
    pub fn cancel(&self, number: usize) {
        let rest = self.pending.get() & !(1 << number);
        self.pending.set(rest);
        if rest == 0 {
            self.earliest.set(u64::MAX);
        }
    }

    /// Takes out whose deadline has come, and tells each; who is told may start anew.
    #[inline(always)]
    pub fn expire(&self, now: u64, mut tell: impl FnMut(usize)) {
        let mut rest = self.pending.replace(0);
        self.earliest.set(u64::MAX);
        while rest != 0 {
            let number = rest.trailing_zeros() as usize % COUNT;
            rest &= rest - 1;
            let deadline = self.deadlines[number].get();
            if deadline > now {
                self.start(number, deadline);
            } else {
                tell(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Timers;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn everybody_is_told_once_and_in_time(
            steps in prop::collection::vec((0usize..4, 0u64..40, any::<bool>()), 1..60),
        ) {
            let (timers, mut model, mut now) = (Timers::<4>::new(), [None::<u64>; 4], 0);
            for (number, span, start) in steps {
                if start {
                    timers.start(number, now + span);
                    model[number] = Some(now + span);
                } else {
                    timers.cancel(number);
                    model[number] = None;
                }
                let first = model.iter().flatten().min();
                prop_assert!(first.is_none_or(|first| timers.earliest() <= *first));
                prop_assert!(first.is_some() || timers.earliest() == u64::MAX);
                now += span / 2;
                let mut due = 0;
                timers.expire(now, |number| due |= 1 << number);
                for (number, deadline) in model.iter_mut().enumerate() {
                    let over = deadline.is_some_and(|deadline| deadline <= now);
                    prop_assert_eq!(due >> number & 1 != 0, over);
                    if over {
                        *deadline = None;
                    }
                }
                prop_assert_eq!(timers.earliest(), model.iter().flatten().min().copied().unwrap_or(u64::MAX));
            }
        }
    }
}
