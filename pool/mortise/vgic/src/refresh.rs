//! List registers as they are to be, in steps.
//!
//! On a core that is shared somebody more urgent may wait. So there is a look after each list
//! register, and what is not done is [postponed](Physical::postpone): it begins again, with what has
//! come back to memory staying there. Each time something else was served, so that it comes through.

use crate::bank::{Bank, NOBODY};
use crate::select::{Claim, Selection};
use crate::{ListRegister, Maintenance, Physical, State, Virtual};
use mortise_gic_frame::{PRIVATE, bits};

impl<const VCPUS: usize, const ROWS: usize> Virtual<VCPUS, ROWS> {
    /// Brings the list registers of this core's vCPU up to date: after a kick, a maintenance
    /// interrupt, or before its first entry. What something more urgent does not leave the time for
    /// is postponed.
    pub fn refresh(&mut self, vcpu: usize, physical: &mut impl Physical) {
        let done = self.pass_on(vcpu, physical)
            && self.leave(vcpu, physical)
            && self.hand_out(vcpu, physical)
            && self.enter(vcpu, physical);
        if !done {
            physical.postpone();
        }
    }

    /// The same before this core's vCPU goes on: at once, if nobody may have to wait for it.
    pub(crate) fn renew(&mut self, vcpu: usize, physical: &mut impl Physical) {
        if !physical.postpone() {
            self.refresh(vcpu, physical);
        }
    }

    /// Kicks whom this vCPU has news for, one by one; whether that is done.
    pub(crate) fn pass_on(&mut self, vcpu: usize, physical: &mut impl Physical) -> bool {
        let Some(lists) = self.lists.get_mut(vcpu) else {
            return true;
        };
        while lists.owed != 0 {
            let other = lists.owed.trailing_zeros() as usize;
            lists.owed &= lists.owed - 1;
            physical.kick(other);
            if physical.is_wanted() {
                return false;
            }
        }
        true
    }

    /// Takes back what is in the list registers, leaving them empty. An interrupt that has been
    /// routed elsewhere meanwhile is passed on. Whether that is done: if something more urgent came,
    /// it is to be called again.
    pub fn leave(&mut self, vcpu: usize, physical: &mut impl Physical) -> bool {
        self.again = 0;
        if vcpu >= self.vcpus {
            return true;
        }
        let Some(lists) = self.lists.get_mut(vcpu) else {
            return true;
        };
        if lists.maintenance != Maintenance::NONE {
            // Empty list registers would raise it all the while.
            lists.maintenance = Maintenance::NONE;
            lists.stale = true;
            physical.set_maintenance(Maintenance::NONE);
        }
        let absent = lists.absent;
        if physical.is_wanted() {
            return false;
        }
        if absent && (!self.end_absent(vcpu, physical) || physical.is_wanted()) {
            return false;
        }
        // A template may have filled list register 0, with news of what is ended in another: last.
        let used = self.lists.get(vcpu).map_or(0, |lists| lists.used & !1);
        bits(used).all(|index| self.give_back(vcpu, index, physical))
            && self.give_back(vcpu, 0, physical)
    }

    /// Takes back what is in one list register; false if something more urgent came.
    #[inline]
    fn give_back(&mut self, vcpu: usize, index: u32, physical: &mut impl Physical) -> bool {
        self.take_back(vcpu, index as usize, physical);
        if let Some(lists) = self.lists.get_mut(vcpu) {
            lists.used &= !(1 << index);
        }
        !physical.is_wanted()
    }

    /// Takes back what is in one list register, leaving it empty.
    #[inline]
    pub(crate) fn take_back(&mut self, vcpu: usize, index: usize, physical: &mut impl Physical) {
        self.again = 0;
        let value = physical.read(index);
        if value == ListRegister::EMPTY {
            return;
        }
        physical.write(index, ListRegister::EMPTY);
        let intid = value.intid();
        let forwarded = self.forwarded;
        let Some(bank) = self.bank_mut(vcpu, intid) else {
            return;
        };
        if bank.unlist(value, vcpu as u8, intid >= PRIVATE) && intid >= PRIVATE {
            let (bit, mask) = (intid % 32, 1 << (intid % 32));
            let (ready, _) = bank.candidates(forwarded);
            // It may be another's by now.
            let owner = bank.owner(bit);
            let moved = ready & mask != 0 && usize::from(owner) != vcpu && owner != NOBODY;
            if (bank.pending() | bank.active) & mask != 0 {
                self.mark_busy(intid);
            }
            if moved {
                self.kick_or_owe(vcpu, owner, physical);
            }
        }
    }

    /// Has another vCPU hear of something that came back from this one's list registers: behind what is
    /// more urgent, if that came.
    #[cold]
    fn kick_or_owe(&mut self, vcpu: usize, other: u8, physical: &mut impl Physical) {
        match self.lists.get_mut(vcpu) {
            Some(lists) if physical.is_wanted() => {
                lists.owed |= 1 << other;
                physical.postpone();
            }
            _ => physical.kick(other.into()),
        }
    }

    /// Hands out the templates that follow from what the guest wrote; whether that is done.
    fn hand_out(&mut self, vcpu: usize, physical: &mut impl Physical) -> bool {
        let lists = self.lists.get_mut(vcpu);
        let stale = lists.is_some_and(|lists| core::mem::take(&mut lists.stale));
        if stale {
            self.publish(vcpu, u32::MAX, physical);
        }
        !(stale && physical.is_wanted())
    }

    /// Fills the list registers, which are empty, with the most urgent interrupts of this vCPU,
    /// and asks for a maintenance interrupt if some must wait. Whether that is done.
    fn enter(&mut self, vcpu: usize, physical: &mut impl Physical) -> bool {
        if vcpu >= self.vcpus {
            return true;
        }
        let room = self.room(vcpu, physical);
        let mut free = room;
        let mut wanted = false;
        let all_listed = self.each_candidate(vcpu, |bank, first, bit, state| {
            let index = free.trailing_zeros();
            wanted = physical.is_wanted();
            let fits = index < 32 && !wanted;
            if fits {
                free &= free.wrapping_sub(1);
                physical.write(index as usize, bank.list(first, bit, vcpu as u8, state));
            }
            fits
        });
        if let Some(lists) = self.lists.get_mut(vcpu) {
            lists.used = room & !free;
        }
        if wanted || physical.is_wanted() {
            return false;
        }
        if all_listed {
            self.ask(vcpu, Maintenance::NONE, physical);
            return true;
        }
        self.leave(vcpu, physical) && self.enter_most_urgent(vcpu, room, physical)
    }

    /// The same where there are more interrupts than list registers.
    #[cold]
    fn enter_most_urgent(&mut self, vcpu: usize, room: u32, physical: &mut impl Physical) -> bool {
        let mut selection = Selection::new(room.count_ones() as usize);
        let all_offered = self.each_candidate(vcpu, |bank, first, bit, state| {
            let active = state != State::Pending;
            selection.offer(Claim::new(bank.priority(bit), active, first + bit));
            !physical.is_wanted()
        });
        if !all_offered {
            return false;
        }
        let forwarded = self.forwarded;
        for (index, claim) in bits(room).zip(selection.finish()) {
            let (first, bit) = (claim.intid() & !31, claim.intid() % 32);
            if let Some(bank) = self.bank_mut(vcpu, claim.intid()) {
                let (ready, active) = bank.candidates(forwarded);
                let state = bank.state(bit, vcpu as u8, ready, active);
                physical.write(index as usize, bank.list(first, bit, vcpu as u8, state));
            }
            if let Some(lists) = self.lists.get_mut(vcpu) {
                lists.used |= 1 << index;
            }
            if physical.is_wanted() {
                return false;
            }
        }
        let active_left = selection.active_left > 0;
        // With room for one only, underflow would be permanent.
        let wanted = Maintenance::UNDERFLOW.when(active_left && room.count_ones() > 1)
            | Maintenance::ABSENT_END.when(active_left)
            | Maintenance::NO_PENDING.when(selection.pending_left > 0);
        self.ask(vcpu, wanted, physical);
        true
    }

    /// Asks for a maintenance interrupt, or for none, and hands out what templates follow from that.
    #[inline]
    fn ask(&mut self, vcpu: usize, wanted: Maintenance, physical: &mut impl Physical) {
        let Some(lists) = self.lists.get_mut(vcpu) else {
            return;
        };
        lists.absent = wanted.has(Maintenance::ABSENT_END);
        if lists.maintenance != wanted {
            lists.maintenance = wanted;
            physical.set_maintenance(wanted);
            self.publish(vcpu, u32::MAX, physical);
        }
    }

    /// The list registers to fill, one bit each.
    #[inline]
    pub(crate) fn room(&self, vcpu: usize, physical: &impl Physical) -> u32 {
        let count = physical.list_registers().clamp(1, 16);
        let all = (1 << count) - 1;
        if self.has_templates(vcpu, count) {
            all & !1
        } else {
            all
        }
    }

    /// Calls `f` with each interrupt that this vCPU has or would get and that is in no list
    /// register: its bank, the bank's first INTID, its bit, and the state to list it in. Stops
    /// when that returns false, and returns that.
    #[inline]
    fn each_candidate(
        &mut self,
        vcpu: usize,
        mut f: impl FnMut(&mut Bank, u32, u32, State) -> bool,
    ) -> bool {
        let forwarded = self.forwarded;
        let Some(private) = self.private.get_mut(vcpu) else {
            return true;
        };
        let (ready, active) = private.candidates(forwarded);
        for bit in bits(ready | active) {
            let state = private.state(bit, vcpu as u8, ready, active);
            if !f(private, 0, bit, state) {
                return false;
            }
        }
        for row in bits(self.busy) {
            let Some(bank) = self.shared.get_mut(row as usize) else {
                return true;
            };
            if bank.pending() | bank.active == 0 {
                self.busy &= !(1 << row);
                continue;
            }
            let (ready, active) = bank.candidates(forwarded);
            for bit in bits(ready | active) {
                let state = bank.state(bit, vcpu as u8, ready, active);
                if usize::from(bank.owner(bit)) == vcpu && !f(bank, PRIVATE * (row + 1), bit, state)
                {
                    return false;
                }
            }
        }
        true
    }

    /// The guest ended interrupts that had lost their list register: these are the most urgent
    /// active ones, because ends come in the reverse order of their beginnings (section 4.8.2).
    /// Whether all are accounted for.
    #[cold]
    fn end_absent(&mut self, vcpu: usize, physical: &mut impl Physical) -> bool {
        if let Some(lists) = self.lists.get_mut(vcpu) {
            lists.ends += physical.take_absent_ends();
        }
        while self.lists.get(vcpu).is_some_and(|lists| lists.ends > 0) {
            let mut first = None;
            let all_seen = self.each_candidate(vcpu, |bank, base, bit, state| {
                let active = state != State::Pending;
                let claim = Claim::new(bank.priority(bit), active, base + bit);
                if active && first.is_none_or(|other| claim < other) {
                    first = Some(claim);
                }
                !physical.is_wanted()
            });
            if !all_seen {
                return false;
            }
            self.end_one(vcpu, first, physical);
        }
        true
    }

    /// Ends this one, which the guest has; if there is none, what it ended was never its.
    fn end_one(&mut self, vcpu: usize, claim: Option<Claim>, physical: &mut impl Physical) {
        if let Some(lists) = self.lists.get_mut(vcpu) {
            lists.ends = if claim.is_some() { lists.ends - 1 } else { 0 };
        }
        let Some(intid) = claim.map(Claim::intid) else {
            return;
        };
        let Some(bank) = self.bank_mut(vcpu, intid) else {
            return;
        };
        let mask = 1 << (intid % 32);
        bank.active &= !mask;
        // Pending again, it may be another's by now.
        let others = bank.owners(bank.pending() & bank.enabled & mask) & !(1 << vcpu);
        if bank.hardware & mask != 0 {
            physical.deactivate(intid, vcpu);
        }
        bits(others).for_each(|other| physical.kick(other as usize));
    }
}
