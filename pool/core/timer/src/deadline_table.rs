//! When those who wait on a core are to be woken.

use core::cell::Cell;

/// Of how many deadlines one is looked for at a time: some ten instructions each.
const VISITS_PER_STEP: usize = 3;

/// Deadlines of up to `COUNT` waiters, by number, at most one each, and an alarm of the core's own.
///
/// There are few, so a table does: setting a deadline is a store and a comparison, and
/// expiry looks at those who wait only, a few at a time, in rounds.
pub struct DeadlineTable<const COUNT: usize> {
    /// No later than any of them.
    earliest: Cell<u64>,
    own_deadline: Cell<u64>,
    /// Who waits, one bit each.
    pending: Cell<u32>,
    /// Who of them was looked at in this round, and the first of their deadlines.
    visited: Cell<u32>,
    next_earliest: Cell<u64>,
    /// Of those who were looked at, whose deadline had come and who are yet to be told. Who was not
    /// looked at in this round is not meant.
    collected: Cell<u32>,
    deadlines: [Cell<u64>; COUNT],
}

impl<const COUNT: usize> DeadlineTable<COUNT> {
    /// An empty table.
    pub const fn new() -> Self {
        const { assert!(COUNT <= u32::BITS as usize) };
        Self {
            earliest: Cell::new(u64::MAX),
            own_deadline: Cell::new(u64::MAX),
            pending: Cell::new(0),
            visited: Cell::new(0),
            next_earliest: Cell::new(u64::MAX),
            collected: Cell::new(0),
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
    pub fn has_pending(&self) -> bool {
        self.pending.get() != 0
    }

    /// The alarm.
    #[inline]
    pub fn own_deadline(&self) -> u64 {
        self.own_deadline.get()
    }

    /// Sets the alarm. It may cost an early look, never a late one.
    pub fn set_own_deadline(&self, deadline: u64) {
        self.own_deadline.set(deadline);
        let earliest = match self.pending.get() {
            0 => deadline,
            _ => deadline.min(self.earliest.get()),
        };
        self.earliest.set(earliest);
    }

    /// Sets the deadline of somebody who has none.
    #[inline]
    pub fn arm(&self, number: usize, deadline: u64) {
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
        self.visited.set(0);
        if rest == 0 {
            self.earliest.set(self.own_deadline.get());
        }
    }

    /// Takes out who waits alone, if its deadline has come. If nobody does or several do,
    /// [`expire_step`](Self::expire_step) says.
    #[inline(always)]
    pub fn expire_single(&self, now: u64) -> Option<usize> {
        let pending = self.pending.get();
        let first = pending.trailing_zeros() as usize % COUNT;
        let alone = pending != 0 && pending & pending.wrapping_sub(1) == 0;
        if !alone || self.deadlines[first].get() > now {
            return None;
        }
        self.pending.set(0);
        self.collected.set(0);
        self.earliest.set(self.own_deadline.get());
        Some(first)
    }

    /// Takes out one of all whose deadline has come, of the next few of a round of those who wait; and
    /// whether the round is over. Until then [`earliest`](Self::earliest) is what it was.
    #[inline(always)]
    pub fn expire_step(&self, now: u64) -> (Option<usize>, bool) {
        let mut pending = self.pending.get();
        let visited = match self.collected.replace(0) {
            0 => self.visited.get(),
            _ => 0,
        };
        let mut next_earliest = match visited {
            0 => u64::MAX,
            _ => self.next_earliest.get(),
        };
        let mut due = None;
        let mut rest = pending & !visited;
        for _ in 0..VISITS_PER_STEP {
            if rest == 0 {
                break;
            }
            let number = rest.trailing_zeros() as usize % COUNT;
            let deadline = self.deadlines[number].get();
            if deadline > now {
                next_earliest = next_earliest.min(deadline);
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
            self.visited.set(0);
            self.earliest
                .set(self.own_deadline.get().min(next_earliest));
        } else {
            self.visited.set(pending & !rest);
            self.next_earliest.set(next_earliest);
        }
        (due, over)
    }

    /// Looks at the next one of a round of those who wait, and notes it if its deadline has come; whether
    /// the round is over. Until all who were noted [are told](Self::take_collected) `earliest` is what it was.
    pub fn collect_step(&self, now: u64) -> bool {
        let (pending, visited) = (self.pending.get(), self.visited.get());
        if visited == 0 {
            self.collected.set(0);
            self.next_earliest.set(u64::MAX);
        }
        let rest = pending & !visited;
        if rest != 0 {
            let number = rest.trailing_zeros() as usize % COUNT;
            let deadline = self.deadlines[number].get();
            match deadline > now {
                true => self
                    .next_earliest
                    .set(self.next_earliest.get().min(deadline)),
                false => self.collected.set(self.collected.get() | 1 << number),
            }
        }
        // But the lowest one of them, which was looked at.
        let left = rest & rest.wrapping_sub(1);
        self.visited.set(pending & !left);
        if left == 0 && self.collected.get() == 0 {
            self.end_round();
        }
        left == 0
    }

    /// Takes out one who was noted, and says whether there are more. If others began to wait or ceased
    /// to meanwhile, there is an early look at all of them.
    pub fn take_collected(&self) -> Option<(usize, bool)> {
        let collected = self.collected.get() & self.visited.get();
        if collected == 0 {
            return None;
        }
        let (number, rest) = (
            collected.trailing_zeros() as usize,
            collected & (collected - 1),
        );
        let others = !(1 << number);
        self.collected.set(rest);
        self.pending.set(self.pending.get() & others);
        self.visited.set(self.visited.get() & others);
        if rest == 0 && self.pending.get() == self.visited.get() {
            self.end_round();
        }
        Some((number % COUNT, rest != 0))
    }

    fn end_round(&self) {
        self.visited.set(0);
        self.earliest
            .set(self.own_deadline.get().min(self.next_earliest.get()));
    }
}

#[cfg(test)]
mod tests {
    use super::DeadlineTable;
    use proptest::prelude::*;

    const ENTRIES: usize = 9;
    /// Steps of more than a round.
    const WHOLE: usize = 20;

    /// Who is told of in so many steps, at most to the end of the round: noted first, or at once.
    fn expire<const COUNT: usize>(
        timers: &DeadlineTable<COUNT>,
        now: u64,
        most: usize,
        collected_first: bool,
    ) -> u32 {
        let mut expired = 0;
        if let Some(number) = timers.expire_single(now) {
            expired |= 1 << number;
        }
        if collected_first {
            let mut steps = 0..most;
            let over = |_: &usize| timers.collect_step(now);
            let mut left = most;
            if steps.find(over).is_some() {
                left = WHOLE;
            }
            for _ in 0..left {
                let Some((number, more)) = timers.take_collected() else {
                    break;
                };
                assert!(expired >> number & 1 == 0, "expired twice");
                expired |= 1 << number;
                assert!(more || timers.take_collected().is_none());
            }
            return expired;
        }
        for _ in 0..most {
            let (due, over) = timers.expire_step(now);
            if let Some(number) = due {
                assert!(expired >> number & 1 == 0, "expired twice");
                expired |= 1 << number;
            }
            if over {
                break;
            }
        }
        expired
    }

    proptest! {
        #[test]
        fn every_deadline_expires_once_and_in_time(
            steps in prop::collection::vec(
                (0usize..=ENTRIES, 0u64..40, any::<bool>(), prop_oneof![0usize..4, Just(WHOLE)], any::<bool>()), 1..60,
            ),
        ) {
            // The last one is the alarm, which nobody is told of.
            let (timers, mut model, mut now) = (DeadlineTable::<ENTRIES>::new(), [None::<u64>; ENTRIES + 1], 0);
            for (number, span, start, most, collected) in steps {
                if number < ENTRIES {
                    timers.cancel(number);
                }
                model[number] = start.then_some(now + span);
                match (number, start) {
                    (ENTRIES, _) => timers.set_own_deadline(model[ENTRIES].unwrap_or(u64::MAX)),
                    (_, true) => timers.arm(number, now + span),
                    (_, false) => {}
                }
                let first = model.iter().flatten().min();
                prop_assert!(first.is_none_or(|first| timers.earliest() <= *first));
                prop_assert!(first.is_some() || timers.earliest() == u64::MAX);
                now += span / 2;
                // Something may go before the end of a round, which goes on the next time.
                let mut due = expire(&timers, now, most, collected);
                if most == WHOLE {
                    // Of whom a round saw before something went first, the next one knows what is over.
                    due |= expire(&timers, now, most, collected);
                }
                for (number, deadline) in model[..ENTRIES].iter_mut().enumerate() {
                    let over = deadline.is_some_and(|deadline| deadline <= now);
                    prop_assert!(over || due >> number & 1 == 0, "expired too soon");
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
