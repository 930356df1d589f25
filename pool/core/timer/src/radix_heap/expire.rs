//! Expiry of a radix heap's timers in bounded steps.

use crate::RadixHeap;
use crate::radix_heap::Role;
use crate::state::{NOT_PENDING, PEER, Peer, SlotIndex, Timed};

/// The result of one step of expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// This timer expired; more may follow.
    Expired(T),
    /// Timers of one deadline were cascaded; more may follow.
    Moved,
    /// None is due: the hardware timer is to be set for the [alarm](RadixHeap::alarm).
    Idle,
}

impl<T: Timed> RadixHeap<T> {
    /// The fast path of expiry: exactly one timer is due, that of the alarm, and the next deadline
    /// is returned with it. In any other case nothing changes, and [`pop`](RadixHeap::pop) and
    /// [`cascade`](RadixHeap::cascade) handle it.
    ///
    /// The start of a timer stores its slot if it is the earliest, so that nothing is searched. The
    /// slot may have been emptied and reused since; if its earliest deadline still is the alarm, it
    /// is the first of all slots, because no deadline precedes the alarm.
    #[inline(always)]
    pub fn expire_single(&self, now: u64) -> Option<(T, u64)> {
        let (alarm, slot) = (self.alarm.get(), self.alarm_slot.get());
        let entry = self.slot(slot);
        let timer = entry.timers.only()?;
        let due = timer.state();
        let is_it = alarm <= now && entry.earliest.get() == alarm && due.deadline.get() == alarm;
        if !is_it || due.peers.next().is_some() {
            return None;
        }
        self.base.set(alarm);
        entry.timers.pop_only(timer);
        self.latest_leader.set(None);
        self.mark_first_empty(slot);
        let (next, slot) = self.first().map_or((u64::MAX, NOT_PENDING), |slot| {
            (self.slot(slot).earliest.get(), slot)
        });
        self.alarm.set(next);
        self.alarm_slot.set(slot);
        Some((timer, next))
    }

    /// Takes one step of expiry at `now`; to be repeated until it returns [`Step::Idle`].
    pub fn expire(&self, now: u64) -> Step<T> {
        let step = self.pop().map_or_else(|| self.cascade(now), Step::Expired);
        if let Step::Expired(timer) = step {
            timer.state().set_idle();
        }
        step
    }

    /// The short step: the next timer of the circle that expires. The caller [marks it
    /// idle](TimerState::set_idle) or lets it [rejoin](RadixHeap::rejoin) others.
    #[inline(always)]
    pub fn pop(&self) -> Option<T> {
        let Peer(timer) = self.expiring.pop()?;
        Some(timer)
    }

    /// The long step, when [`pop`](RadixHeap::pop) returns none: it finds or continues the earliest
    /// slot, and may move a timer. The caller marks an expired timer as after `pop`.
    #[inline(never)]
    pub fn cascade(&self, now: u64) -> Step<T> {
        let cascading = self.cascading.get();
        let slot = match cascading {
            NOT_PENDING => match self.begin_cascade(now) {
                Some(slot) => slot,
                None => return Step::Idle,
            },
            slot => slot,
        };
        let timers = &self.slot(slot).timers;
        let Some(timer) = timers.pop() else {
            // Unreachable: a slot without timers is not found.
            return Step::Idle;
        };
        self.latest_leader.set(None);
        match (timers.is_empty(), cascading) {
            (true, NOT_PENDING) => self.mark_first_empty(slot),
            (true, _) => {
                self.mark_empty(slot);
                self.cascading.set(NOT_PENDING);
            }
            (false, _) => self.cascading.set(slot),
        }
        let due = timer.state();
        let (deadline, base) = (due.deadline.get(), self.base.get());
        if deadline != base {
            let alone = due.peers.next().is_none();
            let role = if alone { Role::Started } else { Role::Leader };
            self.insert(timer, deadline, base, role);
            return Step::Moved;
        }
        // All peers are due too, and the next one ceases to be led.
        if let Some(Peer(next)) = due.peers.next() {
            self.expiring.take_others(Peer(timer));
            next.state().slot.set(PEER);
        }
        due.slot.set(PEER);
        Step::Expired(timer)
    }

    /// The earliest slot, if it is due: the base moves there. All other timers keep their slots,
    /// because their deadlines differ from the new base in the same digit as from the old one.
    /// Otherwise the alarm is set to it.
    fn begin_cascade(&self, now: u64) -> Option<SlotIndex> {
        let first = self.first();
        let earliest = first.map_or(u64::MAX, |slot| self.slot(slot).earliest.get());
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
