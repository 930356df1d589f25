//! Delivery of one interrupt to a list register, and its withdrawal.

use super::{VirtualGic, pulse_key, row};
use crate::bank::Bank;
use crate::{Maintenance, PhysicalGic, State};
use mortise_gicd::bits;

impl<const VCPUS: usize, const ROWS: usize> VirtualGic<VCPUS, ROWS> {
    /// Delivers an interrupt that has become pending to this vCPU: into a free list register, else by a
    /// refresh of all of them.
    #[inline]
    pub(crate) fn deliver(&mut self, vcpu: usize, intid: u32, physical: &mut impl PhysicalGic) {
        self.withdraw(vcpu, intid, physical);
        self.list_pending(vcpu, intid, physical);
    }

    /// Delivers an interrupt that is in no list register. Its state is in memory, so the refresh can be
    /// deferred if the core should yield.
    pub(crate) fn list_pending(
        &mut self,
        vcpu: usize,
        intid: u32,
        physical: &mut impl PhysicalGic,
    ) {
        if physical.should_yield() {
            physical.defer_refresh();
            return;
        }
        let Some(index) = self.free_lr(vcpu, physical) else {
            return self.refresh_or_defer(vcpu, physical);
        };
        if physical.should_yield() {
            physical.defer_refresh();
            return;
        }
        let (first, bit) = (intid & !31, intid % 32);
        let forwarded = self.forwarded;
        let Some(bank) = self.bank_mut(vcpu, intid) else {
            return;
        };
        let (ready, active) = bank.candidates(forwarded);
        if (ready | active) >> bit & 1 != 0 && usize::from(bank.owner(bit)) == vcpu {
            let state = bank.state(bit, vcpu as u8, ready, active);
            if physical.should_yield() {
                physical.defer_refresh();
                return;
            }
            physical.write_lr(index as usize, bank.list(first, bit, vcpu as u8, state));
            if let Some(lrs) = self.lrs.get_mut(vcpu) {
                lrs.used |= 1 << index;
            }
        }
    }

    /// Saves and empties the list register of this vCPU that holds the interrupt, if there is one.
    #[inline]
    pub(crate) fn withdraw(&mut self, vcpu: usize, intid: u32, physical: &mut impl PhysicalGic) {
        let listed = self
            .bank(vcpu, intid)
            .is_some_and(|bank| bank.listed & 1 << (intid % 32) != 0);
        let Some(lrs) = self.lrs.get_mut(vcpu).filter(|_| listed) else {
            return;
        };
        let holds = |&index: &u32| physical.read_lr(index as usize).intid() == intid;
        if let Some(index) = bits(lrs.used).find(holds) {
            lrs.used &= !(1 << index);
            self.save_lr(vcpu, index as usize, physical);
        }
    }

    /// Fast path for a shared hardware interrupt that arrives again after the guest has ended the last
    /// one: it is listed in the same list register. Returns false, without a change, in all other cases.
    #[inline]
    pub(crate) fn relist_hardware(
        &mut self,
        vcpu: usize,
        intid: u32,
        physical: &mut impl PhysicalGic,
    ) -> bool {
        let bit = intid % 32;
        let forwarded = self.forwarded;
        let Some(lrs) = self.lrs.get(vcpu) else {
            return false;
        };
        let Some(bank) = self.shared.get_mut(row(intid)) else {
            return false;
        };
        let taken = bank.hardware & bank.enabled & forwarded.mask(bank.group) & bank.listed;
        let stays = taken & 1 << bit != 0 && bank.stays_on(bit, vcpu as u8);
        // With a maintenance interrupt requested, a more urgent interrupt may be pending in memory.
        stays
            && lrs.maintenance == Maintenance::NONE
            && bits(lrs.used).any(|index| relist(bank, index, intid, physical))
    }

    /// Fast path of [`send_sgi`](Self::send_sgi) for a Group 1 SGI that this vCPU sends to itself only, if
    /// its last one is in list register 1. That is the first list register after the one for templates, so
    /// it holds an interrupt that is alone.
    #[inline(always)]
    pub fn relist_sgi(&mut self, vcpu: usize, intid: u32, physical: &mut impl PhysicalGic) -> bool {
        let forwarded = self.forwarded;
        let (Some(lrs), Some(bank)) = (self.lrs.get(vcpu), self.private.get_mut(vcpu)) else {
            return false;
        };
        let taken = bank.enabled & forwarded.mask(bank.group) & bank.listed & !bank.latch;
        taken >> (intid % 32) & lrs.used >> 1 & 1 != 0
            && lrs.maintenance == Maintenance::NONE
            && relist(bank, 1, intid, physical)
    }

    /// Fast path for a pulsed emulated SPI.
    pub(crate) fn relist_pulse(
        &mut self,
        vcpu: usize,
        intid: u32,
        physical: &mut impl PhysicalGic,
    ) -> bool {
        let mut candidates = bits(self.pulse_lrs(vcpu, intid));
        let Some(bank) = self.shared.get_mut(row(intid)) else {
            return false;
        };
        let found = candidates.find(|&index| relist(bank, index, intid, physical));
        if let Some(index) = found {
            self.last_pulse = pulse_key(vcpu, index, intid);
        }
        found.is_some()
    }

    /// The list registers, one bit each, in which a pulsed interrupt may be listed again after its end:
    /// the first after the timer's, and the second, if an SGI uses the first.
    fn pulse_lrs(&self, vcpu: usize, intid: u32) -> u32 {
        let (Some(lrs), Some(bank)) = (self.lrs.get(vcpu), self.shared.get(row(intid))) else {
            return 0;
        };
        let bit = intid % 32;
        let taken = bank.enabled & self.forwarded.mask(bank.group) & bank.listed;
        let exclusive = taken & !(bank.hardware | bank.latch | bank.line);
        // With a maintenance interrupt requested, a more urgent interrupt may be pending in memory.
        let quiet = lrs.maintenance == Maintenance::NONE;
        if exclusive >> bit & 1 != 0 && bank.stays_on(bit, vcpu as u8) && quiet {
            lrs.used & 0b110
        } else {
            0
        }
    }

    /// Fast path for the pulsed SPI that was listed again last, with no other operation since: its state
    /// in memory is already right.
    #[inline(always)]
    pub(crate) fn relist_last_pulse(
        &mut self,
        vcpu: usize,
        intid: u32,
        physical: &mut impl PhysicalGic,
    ) -> bool {
        let last = self.last_pulse;
        let same = |index| last == pulse_key(vcpu, index, intid);
        debug_assert!(
            [1, 2]
                .iter()
                .all(|&index| !same(index) || self.pulse_lrs(vcpu, intid) >> index & 1 != 0),
            "other operations reset it"
        );
        same(1) && pend_if_free(1, physical) || same(2) && pend_if_free(2, physical)
    }

    /// An empty list register, or `None` if there is none or interrupts in memory wait for one.
    #[inline]
    fn free_lr(&mut self, vcpu: usize, physical: &mut impl PhysicalGic) -> Option<u32> {
        let lrs = self.lrs.get(vcpu)?;
        if lrs.maintenance != Maintenance::NONE {
            return None;
        }
        let room = self.usable_lrs(vcpu, physical);
        let unused = room & !lrs.used;
        if unused != 0 {
            return Some(unused.trailing_zeros());
        }
        let index = bits(room).find(|&index| physical.read_lr(index as usize).is_free())?;
        self.save_lr(vcpu, index as usize, physical);
        Some(index)
    }
}

/// Sets the interrupt of this list register pending, if the guest has ended it.
#[inline(always)]
fn pend_if_free(index: usize, physical: &mut impl PhysicalGic) -> bool {
    let last = physical.read_lr(index);
    if last.is_free() {
        physical.write_lr(index, last.with_state(State::Pending));
    }
    last.is_free()
}

/// Lists an interrupt again in this list register, if the guest has ended its last one there.
#[inline(always)]
fn relist(bank: &mut Bank, index: u32, intid: u32, physical: &mut impl PhysicalGic) -> bool {
    let last = physical.read_lr(index as usize);
    let found = last.intid() == intid && last.is_free();
    if found {
        bank.relist(intid % 32);
        // Another vCPU may have changed its priority; the kick for that is outstanding.
        physical.write_lr(index as usize, last.with_state(State::Pending));
    }
    found
}
