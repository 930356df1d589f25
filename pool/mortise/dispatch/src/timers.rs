//! When those who wait on a core are to be woken.

use core::cell::Cell;

/// Of how many deadlines one is looked for at a time: some ten instructions each.
const AT_ONCE: usize = 3;

/// Deadlines of up to `COUNT` waiters, by number, at most one each, and an alarm of the core's own.
///
/// There are few, so a table does: setting a deadline is a store and a comparison, and
/// expiry looks at those who wait only, a few at a time, in rounds.
pub(crate) struct Timers<const COUNT: usize> {
    /// No later than any of them.
    earliest: Cell<u64>,
    alarm: Cell<u64>,
    /// Who waits, one bit each.
    pending: Cell<u32>,
    /// Who of them was looked at in this round, and the first of their deadlines.
    seen: Cell<u32>,
    later: Cell<u64>,
    /// Of those who were looked at, whose deadline had come and who are yet to be told. Who was not
    /// looked at in this round is not meant.
    noted: Cell<u32>,
    deadlines: [Cell<u64>; COUNT],
}

impl<const COUNT: usize> Timers<COUNT> {
    pub const fn new() -> Self {
        const { assert!(COUNT <= u32::BITS as usize) };
        Self {
            earliest: Cell::new(u64::MAX),
            alarm: Cell::new(u64::MAX),
            pending: Cell::new(0),
            seen: Cell::new(0),
            later: Cell::new(u64::MAX),
            noted: Cell::new(0),
            deadlines: [const { Cell::new(0) }; COUNT],
        }
    }

    /// No later than any deadline and the alarm; the end of time without one.
    #[inline]
    pub fn earliest(&self) -> u64 {
        self.earliest.get()
    }

    /// Whether anybody waits for a deadline.
    #[inline]
    pub fn is_awaited(&self) -> bool {
        self.pending.get() != 0
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

    /// Sets the deadline of somebody who has none.
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
        // Who comes back with another one is to be looked at again.
        self.seen.set(0);
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
        self.noted.set(0);
        self.earliest.set(self.alarm.get());
        Some(first)
    }

    /// Takes out one of all whose deadline has come, of the next few of a round of those who wait; and
    /// whether the round is over. Until then [`earliest`](Self::earliest) is what it was.
    #[inline(always)]
    pub fn expire_one(&self, now: u64) -> (Option<usize>, bool) {
        let mut pending = self.pending.get();
        let seen = match self.noted.replace(0) {
            0 => self.seen.get(),
            _ => 0,
        };
        let mut later = match seen {
            0 => u64::MAX,
            _ => self.later.get(),
        };
        let mut due = None;
        let mut rest = pending & !seen;
        for _ in 0..AT_ONCE {
            if rest == 0 {
                break;
            }
            let number = rest.trailing_zeros() as usize % COUNT;
            let deadline = self.deadlines[number].get();
            if deadline > now {
                later = later.min(deadline);
            } else if due.is_none() {
                pending &= !(1 << number);
                due = Some(number);
            } else {
                break;
            }
            rest &= rest - 1;
        }
        self.pending.set(pending);
        let over = rest == 0;
        if over {
            self.seen.set(0);
            self.earliest.set(self.alarm.get().min(later));
        } else {
            self.seen.set(pending & !rest);
            self.later.set(later);
        }
        (due, over)
    }

    /// Looks at the next one of a round of those who wait, and notes it if its deadline has come; whether
    /// the round is over. Until all who were noted [are told](Self::take_noted) `earliest` is what it was.
    pub fn note(&self, now: u64) -> bool {
        let (pending, seen) = (self.pending.get(), self.seen.get());
        if seen == 0 {
            self.noted.set(0);
            self.later.set(u64::MAX);
        }
        let rest = pending & !seen;
        if rest != 0 {
            let number = rest.trailing_zeros() as usize % COUNT;
            let deadline = self.deadlines[number].get();
            match deadline > now {
                true => self.later.set(self.later.get().min(deadline)),
                false => self.noted.set(self.noted.get() | 1 << number),
            }
        }
        // But the lowest one of them, which was looked at.
        let left = rest & rest.wrapping_sub(1);
        self.seen.set(pending & !left);
        if left == 0 && self.noted.get() == 0 {
            self.end_round();
        }
        left == 0
    }

    /// Takes out one who was noted, and says whether there are more. If others began to wait or ceased
    /// to meanwhile, there is an early look at all of them.
    pub fn take_noted(&self) -> Option<(usize, bool)> {
        let noted = self.noted.get() & self.seen.get();
        if noted == 0 {
            return None;
        }
        let (number, rest) = (noted.trailing_zeros() as usize, noted & (noted - 1));
        let others = !(1 << number);
        self.noted.set(rest);
        self.pending.set(self.pending.get() & others);
        self.seen.set(self.seen.get() & others);
        if rest == 0 && self.pending.get() == self.seen.get() {
            self.end_round();
        }
        Some((number % COUNT, rest != 0))
    }

    fn end_round(&self) {
        self.seen.set(0);
        self.earliest.set(self.alarm.get().min(self.later.get()));
    }
}

#[cfg(test)]
mod tests {
    use super::Timers;
    use proptest::prelude::*;

    const WAITERS: usize = 9;
    /// Steps of more than a round.
    const WHOLE: usize = 20;

    /// Who is told of in so many steps, at most to the end of the round: noted first, or at once.
    fn look<const COUNT: usize>(
        timers: &Timers<COUNT>,
        now: u64,
        most: usize,
        noted_first: bool,
    ) -> u32 {
        let mut told = 0;
        if let Some(number) = timers.expire_alone(now) {
            told |= 1 << number;
        }
        if noted_first {
            let mut steps = 0..most;
            let over = |_: &usize| timers.note(now);
            let mut left = most;
            if steps.find(over).is_some() {
                left = WHOLE;
            }
            for _ in 0..left {
                let Some((number, more)) = timers.take_noted() else {
                    break;
                };
                assert!(told >> number & 1 == 0, "told twice");
                told |= 1 << number;
                assert!(more || timers.take_noted().is_none());
            }
            return told;
        }
        for _ in 0..most {
            let (due, over) = timers.expire_one(now);
            if let Some(number) = due {
                assert!(told >> number & 1 == 0, "told twice");
                told |= 1 << number;
            }
            if over {
                break;
            }
        }
        told
    }

    proptest! {
        #[test]
        fn everybody_is_told_once_and_in_time(
            steps in prop::collection::vec(
                (0usize..=WAITERS, 0u64..40, any::<bool>(), prop_oneof![0usize..4, Just(WHOLE)], any::<bool>()), 1..60,
            ),
        ) {
            // The last one is the alarm, which nobody is told of.
            let (timers, mut model, mut now) = (Timers::<WAITERS>::new(), [None::<u64>; WAITERS + 1], 0);
            for (number, span, start, most, noted) in steps {
                if number < WAITERS {
                    timers.cancel(number);
                }
                model[number] = start.then_some(now + span);
                match (number, start) {
                    (WAITERS, _) => timers.set_alarm(model[WAITERS].unwrap_or(u64::MAX)),
                    (_, true) => timers.start(number, now + span),
                    (_, false) => {}
                }
                let first = model.iter().flatten().min();
                prop_assert!(first.is_none_or(|first| timers.earliest() <= *first));
                prop_assert!(first.is_some() || timers.earliest() == u64::MAX);
                now += span / 2;
                // Something may go before the end of a round, which goes on the next time.
                let mut due = look(&timers, now, most, noted);
                if most == WHOLE {
                    // Of whom a round saw before something went first, the next one knows what is over.
                    due |= look(&timers, now, most, noted);
                }
                for (number, deadline) in model[..WAITERS].iter_mut().enumerate() {
                    let over = deadline.is_some_and(|deadline| deadline <= now);
                    prop_assert!(over || due >> number & 1 == 0, "told too soon");
                    if due >> number & 1 != 0 {
                        *deadline = None;
                    }
                    prop_assert!(most < WHOLE || deadline.is_none_or(|deadline| deadline > now));
                }
                let first = model.iter().flatten().min().copied().unwrap_or(u64::MAX);
                prop_assert!(timers.earliest() <= first);
                prop_assert!(most < WHOLE || timers.earliest() == first);
            }
        }
    }
}
