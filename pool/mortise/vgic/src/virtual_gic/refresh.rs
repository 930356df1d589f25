//! Save, flush and refresh of list registers, in preemptible steps.
//!
//! On a shared core a more urgent vCPU may become ready. So each step checks whether the core
//! [should yield](PhysicalGic::should_yield), and the rest is
//! [deferred](PhysicalGic::defer_refresh). The deferred refresh starts again; interrupts that were saved
//! to memory stay there. It makes progress, because each interruption served a more urgent event.

use super::VirtualGic;
use crate::bank::{Bank, NO_VCPU};
use crate::select::{Candidate, Selection};
use crate::{ListRegister, Maintenance, PhysicalGic, State};
use mortise_gicd::{PRIVATE, bits};

impl<const VCPUS: usize, const ROWS: usize> VirtualGic<VCPUS, ROWS> {
    /// Brings the list registers of the vCPU of this core up to date: after a kick, a maintenance
    /// interrupt, or before its first guest entry. If the core should yield, the rest is deferred.
    pub fn refresh_lrs(&mut self, vcpu: usize, physical: &mut impl PhysicalGic) {
        let done = self.send_deferred_kicks(vcpu, physical)
            && self.save_lrs(vcpu, physical)
            && self.update_templates(vcpu, physical)
            && self.flush_lrs(vcpu, physical);
        if !done {
            physical.defer_refresh();
        }
    }

    /// Defers a refresh to the next guest entry; on a core that is not shared, refreshes at once.
    pub(crate) fn refresh_or_defer(&mut self, vcpu: usize, physical: &mut impl PhysicalGic) {
        if !physical.defer_refresh() {
            self.refresh_lrs(vcpu, physical);
        }
    }

    /// Sends the deferred kicks of this vCPU one by one. Returns false if the core should yield.
    pub(crate) fn send_deferred_kicks(
        &mut self,
        vcpu: usize,
        physical: &mut impl PhysicalGic,
    ) -> bool {
        let Some(lrs) = self.lrs.get_mut(vcpu) else {
            return true;
        };
        while lrs.deferred_kicks != 0 {
            let other = lrs.deferred_kicks.trailing_zeros() as usize;
            lrs.deferred_kicks &= lrs.deferred_kicks - 1;
            physical.kick(other);
            if physical.should_yield() {
                return false;
            }
        }
        true
    }

    /// Saves the list registers to memory and empties them. A pending interrupt that has been routed to
    /// another vCPU meanwhile is forwarded to it. Returns false if the core should yield: then call it
    /// again.
    pub fn save_lrs(&mut self, vcpu: usize, physical: &mut impl PhysicalGic) -> bool {
        self.last_pulse = 0;
        if vcpu >= self.vcpus {
            return true;
        }
        let Some(lrs) = self.lrs.get_mut(vcpu) else {
            return true;
        };
        if lrs.maintenance != Maintenance::NONE {
            // Empty list registers would keep the maintenance interrupt asserted.
            lrs.maintenance = Maintenance::NONE;
            lrs.templates_stale = true;
            physical.set_maintenance(Maintenance::NONE);
        }
        let active_unlisted = lrs.active_unlisted;
        if physical.should_yield() {
            return false;
        }
        if active_unlisted && (!self.end_unlisted(vcpu, physical) || physical.should_yield()) {
            return false;
        }
        // List register 0 last: a template may have been written to it although an earlier interrupt of
        // the same INTID is in another list register, as ended.
        let used = self.lrs.get(vcpu).map_or(0, |lrs| lrs.used & !1);
        bits(used).all(|index| self.save_and_free_lr(vcpu, index, physical))
            && self.save_and_free_lr(vcpu, 0, physical)
    }

    /// Saves one list register and marks it free. Returns false if the core should yield.
    #[inline]
    fn save_and_free_lr(
        &mut self,
        vcpu: usize,
        index: u32,
        physical: &mut impl PhysicalGic,
    ) -> bool {
        self.save_lr(vcpu, index as usize, physical);
        if let Some(lrs) = self.lrs.get_mut(vcpu) {
            lrs.used &= !(1 << index);
        }
        !physical.should_yield()
    }

    /// Saves one list register to memory and empties it.
    #[inline]
    pub(crate) fn save_lr(&mut self, vcpu: usize, index: usize, physical: &mut impl PhysicalGic) {
        self.last_pulse = 0;
        let value = physical.read_lr(index);
        if value == ListRegister::EMPTY {
            return;
        }
        physical.write_lr(index, ListRegister::EMPTY);
        let intid = value.intid();
        let forwarded = self.forwarded;
        let Some(bank) = self.bank_mut(vcpu, intid) else {
            return;
        };
        if bank.unlist(value, vcpu as u8, intid >= PRIVATE) && intid >= PRIVATE {
            let (bit, mask) = (intid % 32, 1 << (intid % 32));
            let (ready, _) = bank.candidates(forwarded);
            // It may have another target by now.
            let owner = bank.owner(bit);
            let moved = ready & mask != 0 && usize::from(owner) != vcpu && owner != NO_VCPU;
            if (bank.pending() | bank.active) & mask != 0 {
                self.mark_busy(intid);
            }
            if moved {
                self.kick_or_defer(vcpu, owner, physical);
            }
        }
    }

    /// Kicks the vCPU that is the new target of an interrupt saved here, or defers the kick if the core
    /// should yield.
    #[cold]
    fn kick_or_defer(&mut self, vcpu: usize, other: u8, physical: &mut impl PhysicalGic) {
        match self.lrs.get_mut(vcpu) {
            Some(lrs) if physical.should_yield() => {
                lrs.deferred_kicks |= 1 << other;
                physical.defer_refresh();
            }
            _ => physical.kick(other.into()),
        }
    }

    /// Publishes the templates again if a write of the guest changed them. Returns false if the core should
    /// yield.
    fn update_templates(&mut self, vcpu: usize, physical: &mut impl PhysicalGic) -> bool {
        let lrs = self.lrs.get_mut(vcpu);
        let stale = lrs.is_some_and(|lrs| core::mem::take(&mut lrs.templates_stale));
        if stale {
            self.publish_templates(vcpu, u32::MAX, physical);
        }
        !(stale && physical.should_yield())
    }

    /// Flushes the most urgent interrupts of this vCPU to the empty list registers, and requests a
    /// maintenance interrupt if some do not fit. Returns false if the core should yield.
    fn flush_lrs(&mut self, vcpu: usize, physical: &mut impl PhysicalGic) -> bool {
        if vcpu >= self.vcpus {
            return true;
        }
        let room = self.usable_lrs(vcpu, physical);
        let mut free = room;
        let mut wanted = false;
        let all_listed = self.each_candidate(vcpu, |bank, first, bit, state| {
            let index = free.trailing_zeros();
            wanted = physical.should_yield();
            let fits = index < 32 && !wanted;
            if fits {
                free &= free.wrapping_sub(1);
                physical.write_lr(index as usize, bank.list(first, bit, vcpu as u8, state));
            }
            fits
        });
        if let Some(lrs) = self.lrs.get_mut(vcpu) {
            lrs.used = room & !free;
        }
        if wanted || physical.should_yield() {
            return false;
        }
        if all_listed {
            self.request_maintenance(vcpu, Maintenance::NONE, physical);
            return true;
        }
        self.save_lrs(vcpu, physical) && self.flush_most_urgent(vcpu, room, physical)
    }

    /// Flushes like [`flush_lrs`](Self::flush_lrs) if there are more interrupts than list registers.
    #[cold]
    fn flush_most_urgent(
        &mut self,
        vcpu: usize,
        room: u32,
        physical: &mut impl PhysicalGic,
    ) -> bool {
        let mut selection = Selection::new(room.count_ones() as usize);
        let all_offered = self.each_candidate(vcpu, |bank, first, bit, state| {
            let active = state != State::Pending;
            selection.offer(Candidate::new(bank.priority(bit), active, first + bit));
            !physical.should_yield()
        });
        if !all_offered {
            return false;
        }
        let forwarded = self.forwarded;
        for (index, candidate) in bits(room).zip(selection.finish()) {
            let (first, bit) = (candidate.intid() & !31, candidate.intid() % 32);
            if let Some(bank) = self.bank_mut(vcpu, candidate.intid()) {
                let (ready, active) = bank.candidates(forwarded);
                let state = bank.state(bit, vcpu as u8, ready, active);
                physical.write_lr(index as usize, bank.list(first, bit, vcpu as u8, state));
            }
            if let Some(lrs) = self.lrs.get_mut(vcpu) {
                lrs.used |= 1 << index;
            }
            if physical.should_yield() {
                return false;
            }
        }
        let active_left = selection.active_left > 0;
        // With a single list register the underflow condition would always hold.
        let wanted = Maintenance::UNDERFLOW.when(active_left && room.count_ones() > 1)
            | Maintenance::ENTRY_NOT_PRESENT.when(active_left)
            | Maintenance::NO_PENDING.when(selection.pending_left > 0);
        self.request_maintenance(vcpu, wanted, physical);
        true
    }

    /// Requests a set of maintenance interrupts, and publishes the templates that depend on it.
    #[inline]
    fn request_maintenance(
        &mut self,
        vcpu: usize,
        wanted: Maintenance,
        physical: &mut impl PhysicalGic,
    ) {
        let Some(lrs) = self.lrs.get_mut(vcpu) else {
            return;
        };
        lrs.active_unlisted = wanted.has(Maintenance::ENTRY_NOT_PRESENT);
        if lrs.maintenance != wanted {
            lrs.maintenance = wanted;
            physical.set_maintenance(wanted);
            self.publish_templates(vcpu, u32::MAX, physical);
        }
    }

    /// The list registers available to this library, one bit each.
    #[inline]
    pub(crate) fn usable_lrs(&self, vcpu: usize, physical: &impl PhysicalGic) -> u32 {
        let count = physical.list_registers().clamp(1, 16);
        let all = (1 << count) - 1;
        if self.reserves_lr0(vcpu, count) {
            all & !1
        } else {
            all
        }
    }

    /// Calls `f` with each pending or active interrupt of this vCPU that is in no list register: its bank,
    /// the first INTID of the bank, its bit, and the state to list it in. Stops and returns false if `f`
    /// returns false.
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

    /// Accounts for ends of interrupts that were in no list register (`EOIcount`). These are the most urgent
    /// active ones, because interrupts end in the reverse order of their acknowledgement (section 4.8.2).
    /// Returns false if the core should yield.
    #[cold]
    fn end_unlisted(&mut self, vcpu: usize, physical: &mut impl PhysicalGic) -> bool {
        if let Some(lrs) = self.lrs.get_mut(vcpu) {
            lrs.eoi_count += physical.take_eoi_count();
        }
        while self.lrs.get(vcpu).is_some_and(|lrs| lrs.eoi_count > 0) {
            let mut first = None;
            let all_seen = self.each_candidate(vcpu, |bank, base, bit, state| {
                let active = state != State::Pending;
                let candidate = Candidate::new(bank.priority(bit), active, base + bit);
                if active && first.is_none_or(|other| candidate < other) {
                    first = Some(candidate);
                }
                !physical.should_yield()
            });
            if !all_seen {
                return false;
            }
            self.end_one(vcpu, first, physical);
        }
        true
    }

    /// Ends one active interrupt. With none left, the guest has ended interrupts that were never active.
    fn end_one(
        &mut self,
        vcpu: usize,
        candidate: Option<Candidate>,
        physical: &mut impl PhysicalGic,
    ) {
        if let Some(lrs) = self.lrs.get_mut(vcpu) {
            lrs.eoi_count = if candidate.is_some() {
                lrs.eoi_count - 1
            } else {
                0
            };
        }
        let Some(intid) = candidate.map(Candidate::intid) else {
            return;
        };
        let Some(bank) = self.bank_mut(vcpu, intid) else {
            return;
        };
        let mask = 1 << (intid % 32);
        bank.active &= !mask;
        // It may be pending again, with another target.
        let others = bank.owners(bank.pending() & bank.enabled & mask) & !(1 << vcpu);
        if bank.hardware & mask != 0 {
            physical.deactivate(intid, vcpu);
        }
        bits(others).for_each(|other| physical.kick(other as usize));
    }
}
