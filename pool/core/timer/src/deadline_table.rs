//! A table of deadlines, one per vCPU of a core.

use core::cell::Cell;

/// Entries that one step of expiry visits, some ten instructions each.
const VISITS_PER_STEP: usize = 3;

/// Up to `COUNT` deadlines by index, at most one each, and a deadline of the owner's own.
///
/// Arming is a store and a comparison. Expiry visits the armed entries only, a few per step, in
/// rounds.
///
/// ```
/// use core_timer::DeadlineTable;
///
/// let table = DeadlineTable::<4>::new();
/// table.arm(2, 1_000);
/// assert_eq!(table.earliest(), 1_000);
/// assert_eq!(table.expire_single(999), None);
/// assert_eq!(table.expire_single(1_000), Some(2));
/// assert_eq!(table.earliest(), u64::MAX);
/// ```
pub struct DeadlineTable<const COUNT: usize> {
    /// Not later than any deadline.
    earliest: Cell<u64>,
    own_deadline: Cell<u64>,
    /// The armed entries, one bit each.
    pending: Cell<u32>,
    /// The entries visited in this round, and the earliest of their deadlines.
    visited: Cell<u32>,
    next_earliest: Cell<u64>,
    /// The visited entries that expired and were not returned yet. Only those in `visited` are
    /// valid.
    collected: Cell<u32>,
    deadlines: [Cell<u64>; COUNT],
}

impl<const COUNT: usize> Default for DeadlineTable<COUNT> {
    fn default() -> Self {
        Self::new()
    }
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

    /// Not later than any deadline; `u64::MAX` without one.
    #[inline]
    pub fn earliest(&self) -> u64 {
        self.earliest.get()
    }

    /// Whether any entry is armed.
    #[inline]
    pub fn has_pending(&self) -> bool {
        self.pending.get() != 0
    }

    /// The owner's own deadline.
    #[inline]
    pub fn own_deadline(&self) -> u64 {
        self.own_deadline.get()
    }

    /// Sets the owner's own deadline. It may cost an early expiry, never a late one.
    pub fn set_own_deadline(&self, deadline: u64) {
        self.own_deadline.set(deadline);
        let earliest = match self.pending.get() {
            0 => deadline,
            _ => deadline.min(self.earliest.get()),
        };
        self.earliest.set(earliest);
    }

    /// Arms an entry that is not armed.
    #[inline]
    pub fn arm(&self, index: usize, deadline: u64) {
        if let Some(own) = self.deadlines.get(index) {
            own.set(deadline);
            self.pending.set(self.pending.get() | 1 << index);
            if deadline < self.earliest.get() {
                self.earliest.set(deadline);
            }
        }
    }

    /// Whether an entry is armed.
    pub fn is_armed(&self, index: usize) -> bool {
        index < COUNT && self.pending.get() >> index & 1 != 0
    }

    /// Disarms an entry. Unless it is the last, it may cost an early expiry, never a late one.
    #[inline]
    pub fn cancel(&self, index: usize) {
        let rest = self.pending.get() & !(1 << index);
        self.pending.set(rest);
        // If it is armed again, it must be visited again.
        self.visited.set(0);
        if rest == 0 {
            self.earliest.set(self.own_deadline.get());
        }
    }

    /// Disarms and returns the only armed entry, if it expired. If none or several are armed,
    /// [`expire_step`](Self::expire_step) applies.
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

    /// Takes one step of a round: disarms and returns one expired entry of the next few, and tells
    /// whether the round is over. Until then [`earliest`](Self::earliest) is unchanged.
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
            let index = rest.trailing_zeros() as usize % COUNT;
            let deadline = self.deadlines[index].get();
            if deadline > now {
                next_earliest = next_earliest.min(deadline);
            } else if due.is_none() {
                pending &= !(1 << index);
                due = Some(index);
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

    /// Takes one step of a round without disarming: visits one entry, collects it if it expired,
    /// and returns whether the round is over. [`earliest`](Self::earliest) is unchanged until all
    /// collected entries are [taken](Self::take_collected).
    pub fn collect_step(&self, now: u64) -> bool {
        let (pending, visited) = (self.pending.get(), self.visited.get());
        if visited == 0 {
            self.collected.set(0);
            self.next_earliest.set(u64::MAX);
        }
        let rest = pending & !visited;
        if rest != 0 {
            let index = rest.trailing_zeros() as usize % COUNT;
            let deadline = self.deadlines[index].get();
            match deadline > now {
                true => self
                    .next_earliest
                    .set(self.next_earliest.get().min(deadline)),
                false => self.collected.set(self.collected.get() | 1 << index),
            }
        }
        // All remaining entries but the one visited.
        let left = rest & rest.wrapping_sub(1);
        self.visited.set(pending & !left);
        if left == 0 && self.collected.get() == 0 {
            self.end_round();
        }
        left == 0
    }

    /// Disarms and returns one collected entry, and whether more follow. If entries were armed or
    /// disarmed meanwhile, all are visited again early.
    pub fn take_collected(&self) -> Option<(usize, bool)> {
        let collected = self.collected.get() & self.visited.get();
        if collected == 0 {
            return None;
        }
        let (index, rest) = (
            collected.trailing_zeros() as usize,
            collected & (collected - 1),
        );
        let others = !(1 << index);
        self.collected.set(rest);
        self.pending.set(self.pending.get() & others);
        self.visited.set(self.visited.get() & others);
        if rest == 0 && self.pending.get() == self.visited.get() {
            self.end_round();
        }
        Some((index % COUNT, rest != 0))
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
    /// More steps than a round has.
    const WHOLE: usize = 20;

    /// The entries that expire in at most so many steps of a round, collected first or directly.
    fn expire<const COUNT: usize>(
        timers: &DeadlineTable<COUNT>,
        now: u64,
        most: usize,
        collected_first: bool,
    ) -> u32 {
        let mut expired = 0;
        if let Some(index) = timers.expire_single(now) {
            expired |= 1 << index;
        }
        if collected_first {
            let mut steps = 0..most;
            let over = |_: &usize| timers.collect_step(now);
            let mut left = most;
            if steps.find(over).is_some() {
                left = WHOLE;
            }
            for _ in 0..left {
                let Some((index, more)) = timers.take_collected() else {
                    break;
                };
                assert!(expired >> index & 1 == 0, "expired twice");
                expired |= 1 << index;
                assert!(more || timers.take_collected().is_none());
            }
            return expired;
        }
        for _ in 0..most {
            let (due, over) = timers.expire_step(now);
            if let Some(index) = due {
                assert!(expired >> index & 1 == 0, "expired twice");
                expired |= 1 << index;
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
            // The last entry stands for the owner's deadline, which does not expire.
            let (timers, mut model, mut now) = (DeadlineTable::<ENTRIES>::new(), [None::<u64>; ENTRIES + 1], 0);
            for (index, span, start, most, collected) in steps {
                if index < ENTRIES {
                    timers.cancel(index);
                }
                model[index] = start.then_some(now + span);
                match (index, start) {
                    (ENTRIES, _) => timers.set_own_deadline(model[ENTRIES].unwrap_or(u64::MAX)),
                    (_, true) => timers.arm(index, now + span),
                    (_, false) => {}
                }
                let first = model.iter().flatten().min();
                prop_assert!(first.is_none_or(|first| timers.earliest() <= *first));
                prop_assert!(first.is_some() || timers.earliest() == u64::MAX);
                now += span / 2;
                // An interrupted round continues the next time.
                let mut due = expire(&timers, now, most, collected);
                if most == WHOLE {
                    // A second round sees the entries that the first one had visited before their
                    // expiry.
                    due |= expire(&timers, now, most, collected);
                }
                for (index, deadline) in model[..ENTRIES].iter_mut().enumerate() {
                    let over = deadline.is_some_and(|deadline| deadline <= now);
                    prop_assert!(over || due >> index & 1 == 0, "expired too soon");
                    if due >> index & 1 != 0 {
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
