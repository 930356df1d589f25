//! Events that pend interrupts: physical interrupts, lines, pulses, SGIs.

use super::{VirtualGic, row};
use crate::PhysicalGic;
use crate::bank::NO_VCPU;
use mortise_gicd::{SgiRequest, bits};

impl<const VCPUS: usize, const ROWS: usize> VirtualGic<VCPUS, ROWS> {
    /// Injects a physical interrupt that this core has acknowledged, with its priority dropped. The
    /// guest's end of interrupt deactivates it. Returns false if the VM does not own it.
    pub fn inject_hardware(
        &mut self,
        vcpu: usize,
        intid: u32,
        physical: &mut impl PhysicalGic,
    ) -> bool {
        self.relist_hardware(vcpu, intid, physical) || self.inject_slow(vcpu, intid, physical)
    }

    /// Slow path of [`inject_hardware`](Self::inject_hardware).
    #[cold]
    #[inline(never)]
    fn inject_slow(&mut self, vcpu: usize, intid: u32, physical: &mut impl PhysicalGic) -> bool {
        let mut deferred = physical.should_yield();
        self.last_pulse = 0;
        let (bit, mask) = (intid % 32, 1 << (intid % 32));
        if vcpu >= self.vcpus {
            return false;
        }
        let Some(bank) = self.bank(vcpu, intid) else {
            return false;
        };
        if bank.hardware & mask == 0 {
            return false;
        }
        if bank.listed & mask != 0 && !deferred {
            // The last one of this INTID may still be listed here, as ended: save that first. If the core
            // should yield, the deferred refresh saves it with all others.
            deferred = physical.should_yield();
            if !deferred {
                self.withdraw(vcpu, intid, physical);
                deferred = physical.should_yield();
            }
        }
        let owner = self.bank_mut(vcpu, intid).map_or(NO_VCPU, |bank| {
            bank.record_arrival(bit);
            bank.owner(bit)
        });
        self.mark_busy(intid);
        if usize::from(owner) == vcpu {
            match deferred {
                true => _ = physical.defer_refresh(),
                false => self.list_pending(vcpu, intid, physical),
            }
        } else if owner != NO_VCPU {
            physical.kick(usize::from(owner));
        }
        true
    }

    /// Sets the level of an emulated device's line; `vcpu` selects the bank of a PPI. May kick any vCPU,
    /// including that of this core.
    pub fn set_line(
        &mut self,
        vcpu: usize,
        intid: u32,
        high: bool,
        physical: &mut impl PhysicalGic,
    ) {
        self.last_pulse = 0;
        let mask = 1 << (intid % 32);
        let Some(bank) = self.bank_mut(vcpu, intid) else {
            return;
        };
        if bank.present & !bank.hardware & mask == 0 || (bank.line & mask != 0) == high {
            return;
        }
        bank.line ^= mask;
        if high {
            bank.latch |= bank.edge & mask;
        }
        // A level that changes while listed changes the list register.
        let edge_fell = bank.edge & mask != 0 && !high;
        let affected = bank.listed | if high { bank.enabled } else { 0 };
        let owner = bank.owner(intid % 32);
        let notifies = affected & mask != 0 && !edge_fell && owner != NO_VCPU;
        self.mark_busy(intid);
        if notifies {
            physical.kick(owner.into());
        }
    }

    /// Pulses an emulated SPI, as a doorbell does. May kick any vCPU, including that of this core.
    pub fn pulse(&mut self, intid: u32, physical: &mut impl PhysicalGic) {
        if let Some(owner) = self.latch_pulse(intid) {
            physical.kick(owner);
        }
    }

    /// Latches an emulated SPI as pending in memory. Returns the vCPU to notify.
    fn latch_pulse(&mut self, intid: u32) -> Option<usize> {
        self.last_pulse = 0;
        let mask = 1 << (intid % 32);
        let bank = self.shared.get_mut(row(intid))?;
        if bank.present & !bank.hardware & mask == 0 {
            return None;
        }
        bank.latch |= mask;
        let owner = bank.owner(intid % 32);
        let enabled = bank.enabled & mask != 0;
        self.mark_busy(intid);
        (enabled && owner != NO_VCPU).then_some(owner.into())
    }

    /// Pulses an emulated SPI on the core of `vcpu`, and brings the list registers of this core up to date.
    /// Never kicks `vcpu`.
    #[inline(always)]
    pub fn pulse_local(&mut self, vcpu: usize, intid: u32, physical: &mut impl PhysicalGic) {
        if !self.relist_last_pulse(vcpu, intid, physical) {
            self.pulse_slow(vcpu, intid, physical);
        }
    }

    #[cold]
    #[inline(never)]
    fn pulse_slow(&mut self, vcpu: usize, intid: u32, physical: &mut impl PhysicalGic) {
        if self.relist_pulse(vcpu, intid, physical) {
            return;
        }
        match self.latch_pulse(intid) {
            Some(owner) if owner == vcpu => self.deliver(vcpu, intid, physical),
            Some(owner) => physical.kick(owner),
            None => {}
        }
    }

    /// Sends the SGI that a guest requested by ICC_SGI1R_EL1 (`group1`), or by ICC_SGI0R_EL1 or
    /// ICC_ASGI1R_EL1, which pend it only where it is in Group 0 (section 12.1.10).
    pub fn send_sgi(
        &mut self,
        vcpu: usize,
        request: SgiRequest,
        group1: bool,
        physical: &mut impl PhysicalGic,
    ) {
        if vcpu >= self.vcpus {
            return;
        }
        let mask = 1u32 << request.intid();
        let mut targets = 0u32;
        for target in bits(request.targets(vcpu, self.vcpus)) {
            let Some(bank) = self.private.get_mut(target as usize) else {
                return;
            };
            if !group1 && bank.group & mask != 0 {
                continue;
            }
            bank.latch |= mask;
            if bank.enabled & mask != 0 {
                targets |= 1 << target;
            }
        }
        if targets == 1 << vcpu {
            self.deliver(vcpu, request.intid(), physical);
        } else {
            let single = targets & targets.wrapping_sub(1) == 0;
            let deferred = (physical.should_yield() || !single) && physical.defer_refresh();
            self.notify(vcpu, targets, deferred, physical);
        }
    }

    /// Notifies vCPUs of a change: refreshes the list registers of this core, and kicks the others. With
    /// `deferred`, a refresh is deferred already and does both.
    #[inline]
    pub(crate) fn notify(
        &mut self,
        vcpu: usize,
        targets: u32,
        deferred: bool,
        physical: &mut impl PhysicalGic,
    ) {
        let others = targets & ((1 << self.vcpus) - 1) & !(1 << vcpu);
        if deferred {
            if let Some(lrs) = self.lrs.get_mut(vcpu) {
                lrs.deferred_kicks |= others;
            }
            return;
        }
        bits(others).for_each(|other| physical.kick(other as usize));
        if targets >> vcpu & 1 != 0 {
            self.refresh_lrs(vcpu, physical);
        }
    }
}
