//! One interrupt more in a list register, or one less.

use crate::bank::Bank;
use crate::virtual_gic::{pulse_key, row};
use crate::{Maintenance, PhysicalGic, State, VirtualGic};
use mortise_gicd::bits;

impl<const VCPUS: usize, const ROWS: usize> VirtualGic<VCPUS, ROWS> {
    /// Lists one more interrupt of this vCPU, which has become pending: the quick way if there is
    /// room, else by a look at everything.
    #[inline]
    pub(crate) fn deliver(&mut self, vcpu: usize, intid: u32, physical: &mut impl PhysicalGic) {
        self.withdraw(vcpu, intid, physical);
        self.list_pending(vcpu, intid, physical);
    }

    /// The same with one that is in no list register. It stands in memory: where something more urgent
    /// comes, the rest is postponed.
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

    /// Takes back one interrupt if it is in a list register of this vCPU.
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

    /// Lists a shared hardware interrupt that came again where its last one was listed, which the
    /// guest has ended since: the usual way. False, and nothing is done, if it is not so.
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
        // While others wait in memory, one of them may be more urgent.
        stays
            && lrs.maintenance == Maintenance::NONE
            && bits(lrs.used).any(|index| relist(bank, index, intid, physical))
    }

    /// The same for an SGI of Group 1 that this vCPU asks for itself alone, in place of
    /// [`send_sgi`](Self::send_sgi), if it was in list register 1: that is behind the one for
    /// templates, where an only interrupt is.
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

    /// The same for an emulated SPI that is raised for an instant.
    pub(crate) fn relist_pulse(
        &mut self,
        vcpu: usize,
        intid: u32,
        physical: &mut impl PhysicalGic,
    ) -> bool {
        let mut places = bits(self.pulse_lrs(vcpu, intid));
        let Some(bank) = self.shared.get_mut(row(intid)) else {
            return false;
        };
        let found = places.find(|&index| relist(bank, index, intid, physical));
        if let Some(index) = found {
            self.last_pulse = pulse_key(vcpu, index, intid);
        }
        found.is_some()
    }

    /// The list registers in one of which a pulsed interrupt may be listed again once it has ended, one
    /// bit each: the one behind the timer's, and the next, where an SGI has that.
    fn pulse_lrs(&self, vcpu: usize, intid: u32) -> u32 {
        let (Some(lrs), Some(bank)) = (self.lrs.get(vcpu), self.shared.get(row(intid))) else {
            return 0;
        };
        let bit = intid % 32;
        let taken = bank.enabled & self.forwarded.mask(bank.group) & bank.listed;
        let alone = taken & !(bank.hardware | bank.latch | bank.line);
        // While others wait in memory, one of them may be more urgent.
        let quiet = lrs.maintenance == Maintenance::NONE;
        if alone >> bit & 1 != 0 && bank.stays_on(bit, vcpu as u8) && quiet {
            lrs.used & 0b110
        } else {
            0
        }
    }

    /// The same if it was the last time too and nothing else was done since, so that all stands in
    /// memory as it is to be.
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
            "what was done is forgotten"
        );
        same(1) && pend_if_free(1, physical) || same(2) && pend_if_free(2, physical)
    }

    /// A list register that is empty now, unless interrupts wait for one in memory.
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

/// Makes the interrupt of this list register pending, if the guest has ended it.
#[inline(always)]
fn pend_if_free(index: usize, physical: &mut impl PhysicalGic) -> bool {
    let last = physical.read_lr(index);
    if last.is_free() {
        physical.write_lr(index, last.with_state(State::Pending));
    }
    last.is_free()
}

/// Lists an interrupt in this list register, if its last one is there and the guest has ended that.
#[inline(always)]
fn relist(bank: &mut Bank, index: u32, intid: u32, physical: &mut impl PhysicalGic) -> bool {
    let last = physical.read_lr(index as usize);
    let found = last.intid() == intid && last.is_free();
    if found {
        bank.relist(intid % 32);
        // How urgent it is another vCPU may have changed, whose word of it is on its way.
        physical.write_lr(index as usize, last.with_state(State::Pending));
    }
    found
}
