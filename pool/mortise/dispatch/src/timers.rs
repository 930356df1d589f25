//! When those who wait on a core are to be woken.

use core::cell::Cell;

/// Deadlines of up to `COUNT` waiters, by number, at most one each, and an alarm of the core's own.
///
/// There are few, so a table does: setting a deadline is a store and a comparison, and
/// expiry looks at those who wait only.
pub(crate) struct Timers<const COUNT: usize> {
    /// No later than any of them.
    earliest: Cell<u64>,
    alarm: Cell<u64>,
    /// Who waits, one bit each.
    pending: Cell<u32>,
    deadlines: [Cell<u64>; COUNT],
}

impl<const COUNT: usize> Timers<COUNT> {
    pub const fn new() -> Self {
        const { assert!(COUNT <= u32::BITS as usize) };
        Self {
            earliest: Cell::new(u64::MAX),
            alarm: Cell::new(u64::MAX),
            pending: Cell::new(0),
            deadlines: [const { Cell::new(0) }; COUNT],
        }
    }

    /// No later than any deadline and the alarm; the end of time without one.
    #[inline]
    pub fn earliest(&self) -> u64 {
        self.earliest.get()
    }

    /// The alarm.
    #[inline]
    pub fn alarm(&self) -> u64 {
        self.alarm.get()
    }

    /// Sets the alarm. It may cost an early look, never a late one.
    pub fn set_alarm(&self, alarm: u64) {
        self.alarm.set(alarm);
        let earliest = match self.pending.get() {
            0 => alarm,
            _ => alarm.min(self.earliest.get()),
        };
        self.earliest.set(earliest);
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
            self.earliest.set(self.alarm.get());
        }
    }

    /// Takes out who waits alone, if its deadline has come. If nobody does or several do,
    /// [`expire_one`](Self::expire_one) says.
    #[inline(always)]
    pub fn expire_alone(&self, now: u64) -> Option<usize> {
        let pending = self.pending.get();
        let first = pending.trailing_zeros() as usize % COUNT;
        let alone = pending != 0 && pending & pending.wrapping_sub(1) == 0;
        if !alone || self.deadlines[first].get() > now {
            return None;
        }
        self.pending.set(0);
        self.earliest.set(self.alarm.get());
        Some(first)
    }

    /// Takes out one of all whose deadline has come, if there is one. If there are more,
    /// [`earliest`](Self::earliest) has come too.
    pub fn expire_one(&self, now: u64) -> Option<usize> {
        let pending = self.pending.get();
        let (mut due, mut earliest) = (None, self.alarm.get());
        let mut others = pending;
        while others != 0 {
            let number = others.trailing_zeros() as usize % COUNT;
            others &= others - 1;
            match (due, self.deadlines[number].get()) {
                (None, deadline) if deadline <= now => due = Some(number),
                (_, deadline) => earliest = earliest.min(deadline),
            }
        }
        let taken = due.map_or(0, |number| 1 << number);
        self.pending.set(pending & !taken);
        self.earliest.set(earliest);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::Timers;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn everybody_is_told_once_and_in_time(
            steps in prop::collection::vec((0usize..5, 0u64..40, any::<bool>()), 1..60),
        ) {
            // The last one is the alarm, which nobody is told of.
            let (timers, mut model, mut now) = (Timers::<4>::new(), [None::<u64>; 5], 0);
            for (number, span, start) in steps {
                model[number] = start.then_some(now + span);
                match (number, start) {
                    (4, _) => timers.set_alarm(model[4].unwrap_or(u64::MAX)),
                    (_, true) => timers.start(number, now + span),
                    (_, false) => timers.cancel(number),
                }
                let first = model.iter().flatten().min();
                prop_assert!(first.is_none_or(|first| timers.earliest() <= *first));
                prop_assert!(first.is_some() || timers.earliest() == u64::MAX);
                now += span / 2;
                let mut due = 0;
                while let Some(number) = timers.expire_alone(now).or_else(|| timers.expire_one(now)) {
                    prop_assert!(due >> number & 1 == 0, "told twice");
                    due |= 1 << number;
                }
                for (number, deadline) in model[..4].iter_mut().enumerate() {
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
