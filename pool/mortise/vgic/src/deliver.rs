//! Between the state in memory and the list registers.

use crate::bank::Bank;
use crate::select::{Claim, Selection};
use crate::virtual_gic::row;
use crate::{ListRegister, Maintenance, Physical, State, Virtual};
use mortise_gic_frame::{PRIVATE, bits};

impl<const VCPUS: usize, const ROWS: usize> Virtual<VCPUS, ROWS> {
    /// Brings the list registers of this core's vCPU up to date: after a kick, a maintenance
    /// interrupt, or before its first entry.
    pub fn refresh(&mut self, vcpu: usize, physical: &mut impl Physical) {
        self.leave(vcpu, physical);
        self.enter(vcpu, physical);
    }

    /// Takes back what is in the list registers, leaving them empty. An interrupt that has been
    /// routed elsewhere meanwhile is passed on.
    pub fn leave(&mut self, vcpu: usize, physical: &mut impl Physical) {
        if vcpu >= self.vcpus {
            return;
        }
        let Some(lists) = self.lists.get_mut(vcpu) else {
            return;
        };
        let (used, absent) = (core::mem::take(&mut lists.used), lists.absent);
        if absent {
            self.end_absent(vcpu, physical);
        }
        // A template may have filled list register 0, with news of what is ended in another: last.
        bits(used & !1).for_each(|index| self.take_back(vcpu, index as usize, physical));
        self.take_back(vcpu, 0, physical);
    }

    /// Takes back what is in one list register, leaving it empty.
    #[inline]
    fn take_back(&mut self, vcpu: usize, index: usize, physical: &mut impl Physical) {
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
            let mask = 1 << (intid % 32);
            let (ready, _) = bank.candidates(forwarded);
            // It may be another's by now.
            let others = bank.owners(ready & mask) & !(1 << vcpu);
            if (bank.pending() | bank.active) & mask != 0 {
                self.mark_busy(intid);
            }
            bits(others).for_each(|other| physical.kick(other as usize));
        }
    }

    /// Fills the list registers, which are empty, with the most urgent interrupts of this vCPU,
    /// and asks for a maintenance interrupt if some must wait.
    pub fn enter(&mut self, vcpu: usize, physical: &mut impl Physical) {
        if vcpu >= self.vcpus {
            return;
        }
        let room = self.room(vcpu, physical);
        let mut free = room;
        let all_listed = self.each_candidate(vcpu, |bank, first, bit, state| {
            let index = free.trailing_zeros();
            free &= free.wrapping_sub(1);
            let fits = index < 32;
            if fits {
                physical.write(index as usize, bank.list(first, bit, vcpu as u8, state));
            }
            fits
        });
        if let Some(lists) = self.lists.get_mut(vcpu) {
            lists.used = room & !free;
        }
        let wanted = if all_listed {
            Maintenance::NONE
        } else {
            self.leave(vcpu, physical);
            self.enter_most_urgent(vcpu, room, physical)
        };
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

    /// The same where there are more interrupts than list registers.
    #[cold]
    fn enter_most_urgent(
        &mut self,
        vcpu: usize,
        room: u32,
        physical: &mut impl Physical,
    ) -> Maintenance {
        let mut selection = Selection::new(room.count_ones() as usize);
        self.each_candidate(vcpu, |bank, first, bit, state| {
            let active = state != State::Pending;
            selection.offer(Claim::new(bank.priority(bit), active, first + bit));
            true
        });
        let forwarded = self.forwarded;
        for (index, claim) in bits(room).zip(selection.finish()) {
            let (first, bit) = (claim.intid() & !31, claim.intid() % 32);
            if let Some(bank) = self.bank_mut(vcpu, claim.intid()) {
                let (ready, active) = bank.candidates(forwarded);
                let state = bank.state(bit, vcpu as u8, ready, active);
                physical.write(index as usize, bank.list(first, bit, vcpu as u8, state));
            }
        }
        if let Some(lists) = self.lists.get_mut(vcpu) {
            lists.used = room;
        }
        let active_left = selection.active_left > 0;
        // With room for one only, underflow would be permanent.
        Maintenance::UNDERFLOW.when(active_left && room.count_ones() > 1)
            | Maintenance::ABSENT_END.when(active_left)
            | Maintenance::NO_PENDING.when(selection.pending_left > 0)
    }

    /// Lists one more interrupt of this vCPU, which has become pending: the quick way if there is
    /// room, else by a look at everything.
    #[inline]
    pub(crate) fn deliver(&mut self, vcpu: usize, intid: u32, physical: &mut impl Physical) {
        let (first, bit) = (intid & !31, intid % 32);
        let forwarded = self.forwarded;
        self.retire(vcpu, intid, physical);
        let Some(index) = self.vacancy(vcpu, physical) else {
            return self.refresh(vcpu, physical);
        };
        let Some(bank) = self.bank_mut(vcpu, intid) else {
            return;
        };
        let (ready, active) = bank.candidates(forwarded);
        if (ready | active) >> bit & 1 != 0 && usize::from(bank.owner(bit)) == vcpu {
            let state = bank.state(bit, vcpu as u8, ready, active);
            physical.write(index as usize, bank.list(first, bit, vcpu as u8, state));
            if let Some(lists) = self.lists.get_mut(vcpu) {
                lists.used |= 1 << index;
            }
        }
    }

    /// Takes back one interrupt if it is in a list register of this vCPU.
    #[inline]
    pub(crate) fn retire(&mut self, vcpu: usize, intid: u32, physical: &mut impl Physical) {
        let listed = self
            .bank(vcpu, intid)
            .is_some_and(|bank| bank.listed & 1 << (intid % 32) != 0);
        let Some(lists) = self.lists.get_mut(vcpu).filter(|_| listed) else {
            return;
        };
        let holds = |&index: &u32| physical.read(index as usize).intid() == intid;
        if let Some(index) = bits(lists.used).find(holds) {
            lists.used &= !(1 << index);
            self.take_back(vcpu, index as usize, physical);
        }
    }

    /// Lists a shared hardware interrupt that came again where its last one was listed, which the
    /// guest has ended since: the usual way. False, and nothing is done, if it is not so.
    #[inline]
    pub(crate) fn list_again(
        &mut self,
        vcpu: usize,
        intid: u32,
        physical: &mut impl Physical,
    ) -> bool {
        let bit = intid % 32;
        let forwarded = self.forwarded;
        let Some(lists) = self.lists.get(vcpu) else {
            return false;
        };
        let Some(bank) = self.shared.get_mut(row(intid)) else {
            return false;
        };
        let taken = bank.hardware & bank.enabled & forwarded.mask(bank.group) & bank.listed;
        let stays = taken & 1 << bit != 0 && bank.stays(bit, vcpu as u8);
        // While others wait in memory, one of them may be more urgent.
        stays
            && lists.maintenance == Maintenance::NONE
            && bits(lists.used).any(|index| relist(bank, index, intid, physical))
    }

    /// The same for an SGI of Group 1 that this vCPU asks for itself alone, in place of
    /// [`send_sgi`](Self::send_sgi), if it was in list register 1: that is behind the one for
    /// templates, where an only interrupt is.
    #[inline(always)]
    pub fn list_sgi_again(
        &mut self,
        vcpu: usize,
        intid: u32,
        physical: &mut impl Physical,
    ) -> bool {
        let forwarded = self.forwarded;
        let (Some(lists), Some(bank)) = (self.lists.get(vcpu), self.private.get_mut(vcpu)) else {
            return false;
        };
        let taken = bank.enabled & forwarded.mask(bank.group) & bank.listed & !bank.latch;
        taken >> (intid % 32) & lists.used >> 1 & 1 != 0
            && lists.maintenance == Maintenance::NONE
            && relist(bank, 1, intid, physical)
    }

    /// A list register that is empty now, unless interrupts wait for one in memory.
    #[inline]
    fn vacancy(&mut self, vcpu: usize, physical: &mut impl Physical) -> Option<u32> {
        let lists = self.lists.get(vcpu)?;
        if lists.maintenance != Maintenance::NONE {
            return None;
        }
        let room = self.room(vcpu, physical);
        let unused = room & !lists.used;
        if unused != 0 {
            return Some(unused.trailing_zeros());
        }
        let index = bits(room).find(|&index| physical.read(index as usize).is_free())?;
        self.take_back(vcpu, index as usize, physical);
        Some(index)
    }

    /// The list registers to fill, one bit each.
    #[inline]
    fn room(&self, vcpu: usize, physical: &impl Physical) -> u32 {
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
    #[cold]
    fn end_absent(&mut self, vcpu: usize, physical: &mut impl Physical) {
        for _ in 0..physical.take_absent_ends() {
            let mut first = None;
            self.each_candidate(vcpu, |bank, base, bit, state| {
                let active = state != State::Pending;
                let claim = Claim::new(bank.priority(bit), active, base + bit);
                if active && first.is_none_or(|other| claim < other) {
                    first = Some(claim);
                }
                true
            });
            let Some(claim) = first else { return };
            let intid = claim.intid();
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
}

/// Lists an interrupt in this list register, if its last one is there and the guest has ended that.
#[inline(always)]
fn relist(bank: &mut Bank, index: u32, intid: u32, physical: &mut impl Physical) -> bool {
    let last = physical.read(index as usize);
    let found = last.intid() == intid && last.is_free();
    if found {
        bank.list_again(intid % 32);
        // How urgent it is another vCPU may have changed, whose word of it is on its way.
        physical.write(index as usize, last.with_state(State::Pending));
    }
    found
}
