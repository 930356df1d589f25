//! Expiry, in steps.

use crate::RadixHeap;
use crate::radix_heap::Role;
use crate::state::{NOT_PENDING, PEER, Peer, SlotIndex, Timed};

/// What one step of expiry did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// This timer expired; there may be more.
    Expired(T),
    /// Timers of one deadline were moved nearer; there may be more.
    Moved,
    /// Nothing is due: the hardware is to be set for the [alarm](RadixHeap::alarm).
    Idle,
}

impl<T: Timed> RadixHeap<T> {
    /// The common case of expiry: one timer is due, the one the hardware was set for, and no other
    /// one before the time that is returned with it. If it is another case, nothing happened, and
    /// [`pop`](RadixHeap::pop) and [`cascade`](RadixHeap::cascade) find out which.
    ///
    /// Who starts a timer notes its slot if it is the earliest, so that nothing is searched. The
    /// noted slot may have been emptied since and taken by others; if its earliest deadline still
    /// is the alarm, it is the first of all slots, since no deadline is before the alarm.
    #[inline(always)]
    pub fn expire_single(&self, now: u64) -> Option<(T, u64)> {
        let (alarm, place) = (self.alarm.get(), self.alarm_slot.get());
        let slot = self.slot(place);
        let timer = slot.timers.only()?;
        let due = timer.state();
        let is_it = alarm <= now && slot.earliest.get() == alarm && due.deadline.get() == alarm;
        if !is_it || due.peers.next().is_some() {
            return None;
        }
        self.base.set(alarm);
        slot.timers.pop_only(timer);
        self.latest_leader.set(None);
        self.mark_first_empty(place);
        let (next, place) = self.first().map_or((u64::MAX, NOT_PENDING), |place| {
            (self.slot(place).earliest.get(), place)
        });
        self.alarm.set(next);
        self.alarm_slot.set(place);
        Some((timer, next))
    }

    /// Takes one step of expiry at the present time; to be repeated until nothing is due.
    pub fn expire(&self, now: u64) -> Step<T> {
        let step = self.pop().map_or_else(|| self.cascade(now), Step::Expired);
        if let Step::Expired(timer) = step {
            timer.state().set_idle();
        }
        step
    }

    /// The small step: the next one of a circle that expires, which is to be
    /// [noted](TimerState::set_idle), or to [rejoin](RadixHeap::rejoin) others.
    #[inline(always)]
    pub fn pop(&self) -> Option<T> {
        let Peer(timer) = self.expiring.pop()?;
        Some(timer)
    }

    /// The large step, when none is to [pop](RadixHeap::pop): it begins with a slot, which may have
    /// to be found, and may move a timer. If one expires, that is to be noted as with `pop`.
    #[inline(never)]
    pub fn cascade(&self, now: u64) -> Step<T> {
        let cascading = self.cascading.get();
        let place = match cascading {
            NOT_PENDING => match self.begin_cascade(now) {
                Some(place) => place,
                None => return Step::Idle,
            },
            place => place,
        };
        let timers = &self.slot(place).timers;
        let Some(timer) = timers.pop() else {
            // Unreachable: a slot without timers is not found.
            return Step::Idle;
        };
        self.latest_leader.set(None);
        match (timers.is_empty(), cascading) {
            (true, NOT_PENDING) => self.mark_first_empty(place),
            (true, _) => {
                self.mark_empty(place);
                self.cascading.set(NOT_PENDING);
            }
            (false, _) => self.cascading.set(place),
        }
        let due = timer.state();
        let (deadline, base) = (due.deadline.get(), self.base.get());
        if deadline != base {
            let alone = due.peers.next().is_none();
            let role = if alone { Role::Started } else { Role::Leader };
            self.insert(timer, deadline, base, role);
            return Step::Moved;
        }
        // All its peers are due with it, and the first of them stands for nobody.
        if let Some(Peer(next)) = due.peers.next() {
            self.expiring.take_others(Peer(timer));
            next.state().slot.set(PEER);
        }
        due.slot.set(PEER);
        Step::Expired(timer)
    }

    /// The earliest slot, if its time has come: the base moves there. All other timers keep their
    /// places: their deadlines differ from the new base in the same digit as from the old one. If
    /// it has not, the alarm is set for it.
    fn begin_cascade(&self, now: u64) -> Option<SlotIndex> {
        let first = self.first();
        let earliest = first.map_or(u64::MAX, |place| self.slot(place).earliest.get());
        if earliest <= now && first.is_some() {
            self.base.set(earliest);
            self.alarm_slot.set(NOT_PENDING);
            return first;
        }
        self.alarm_slot.set(first.unwrap_or(NOT_PENDING));
        self.alarm.set(earliest);
        None
    }
}
