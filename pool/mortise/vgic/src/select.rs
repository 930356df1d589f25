//! Selection of the most urgent interrupts if there are too few list registers.

/// An interrupt to be listed; the smaller is the more urgent.
///
/// At equal priority an active interrupt precedes a pending one, which cannot preempt it; then the lower
/// INTID precedes, as in the physical GIC of QEMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate(u32);

impl Candidate {
    const PENDING: u32 = 1 << 16;

    #[inline]
    pub const fn new(priority: u8, active: bool, intid: u32) -> Self {
        let pending = if active { 0 } else { Self::PENDING };
        Self((priority as u32) << 24 | pending | intid & 0xffff)
    }

    #[inline]
    pub const fn intid(self) -> u32 {
        self.0 & 0xffff
    }

    #[inline]
    const fn is_pending(self) -> bool {
        self.0 & Self::PENDING != 0
    }
}

/// The most urgent candidates, as many as there are list registers. They are unordered, as the virtual
/// CPU interface finds the highest priority.
pub(crate) struct Selection {
    chosen: [Candidate; 16],
    len: usize,
    capacity: usize,
    /// The most urgent pending candidate that was not selected.
    next_pending: Option<Candidate>,
    /// Numbers of pending and active candidates that were not selected.
    pub pending_left: usize,
    pub active_left: usize,
}

impl Selection {
    #[inline]
    pub fn new(capacity: usize) -> Self {
        Self {
            chosen: [Candidate(0); 16],
            len: 0,
            capacity: capacity.clamp(1, 16),
            next_pending: None,
            pending_left: 0,
            active_left: 0,
        }
    }

    #[inline]
    pub fn offer(&mut self, candidate: Candidate) {
        match self.chosen.get_mut(self.len) {
            Some(slot) if self.len < self.capacity => {
                *slot = candidate;
                self.len += 1;
            }
            _ => self.displace(candidate),
        }
    }

    /// The candidates selected so far. The compiler knows the bound, so no check remains.
    #[inline]
    fn chosen(&mut self) -> &mut [Candidate] {
        let len = self.len.min(self.chosen.len());
        &mut self.chosen[..len]
    }

    /// Drops the least urgent of the selected candidates and this one.
    #[cold]
    fn displace(&mut self, candidate: Candidate) {
        let mut out = candidate;
        for slot in self.chosen() {
            if *slot > out {
                core::mem::swap(slot, &mut out);
            }
        }
        if out.is_pending() {
            self.pending_left += 1;
            self.next_pending = Some(self.next_pending.map_or(out, |next| next.min(out)));
        } else {
            self.active_left += 1;
        }
    }

    /// The candidates to list. At least one of them is pending if any candidate was: with EOImode 1 a
    /// guest may be able to acknowledge it although all other selected interrupts are active.
    #[inline]
    pub fn finish(&mut self) -> &[Candidate] {
        if let Some(next) = self.next_pending {
            self.ensure_pending(next);
        }
        self.chosen()
    }

    #[cold]
    fn ensure_pending(&mut self, next: Candidate) {
        let chosen = self.chosen();
        if chosen.iter().any(|candidate| candidate.is_pending()) {
            return;
        }
        if let Some(last) = chosen.iter_mut().max() {
            *last = next;
            self.pending_left -= 1;
            self.active_left += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn active_before_pending_at_one_priority() {
        assert!(Candidate::new(0xa0, true, 90) < Candidate::new(0xa0, false, 1));
        assert!(Candidate::new(0x80, false, 90) < Candidate::new(0xa0, true, 1));
        assert!(Candidate::new(0xa0, false, 1) < Candidate::new(0xa0, false, 2));
    }

    #[test]
    fn a_pending_candidate_replaces_the_last_of_too_many_active_ones() {
        let mut selection = Selection::new(2);
        for intid in 0..3 {
            selection.offer(Candidate::new(0, true, intid));
        }
        selection.offer(Candidate::new(0xf0, false, 40));
        let chosen: Vec<_> = selection
            .finish()
            .iter()
            .map(|candidate| candidate.intid())
            .collect();
        assert_eq!(chosen, [0, 40]);
        assert_eq!((selection.pending_left, selection.active_left), (0, 2));
    }

    proptest! {
        #[test]
        fn chooses_the_most_urgent(
            candidates in prop::collection::vec((any::<u8>(), any::<bool>(), 0u32..1020), 0..40),
            capacity in 1usize..17,
        ) {
            let mut all: Vec<_> = candidates.iter().map(|&(p, a, i)| Candidate::new(p, a, i)).collect();
            let mut selection = Selection::new(capacity);
            all.iter().for_each(|&candidate| selection.offer(candidate));
            let mut chosen = selection.finish().to_vec();
            chosen.sort();
            all.sort();
            let n = all.len().min(capacity);
            prop_assert_eq!(chosen.len(), n);
            prop_assert_eq!(selection.pending_left + selection.active_left, all.len() - n);
            let pending = all.iter().find(|candidate| candidate.is_pending());
            if pending.is_none_or(|p| all[..n].contains(p)) {
                prop_assert_eq!(&chosen[..], &all[..n]);
            } else {
                prop_assert_eq!(&chosen[..n - 1], &all[..n - 1]);
                prop_assert_eq!(chosen.last(), pending);
            }
        }
    }
}
