//! Emulated registers with a field per interrupt, common to GICD and SGI_base.

use super::VirtualGic;
use crate::PhysicalGic;
use crate::bank::{NO_VCPU, bit_of};
use mortise_gicd::{BitBank, PRIVATE, bits};

impl<const VCPUS: usize, const ROWS: usize> VirtualGic<VCPUS, ROWS> {
    pub(crate) fn read_bank(
        &mut self,
        vcpu: usize,
        frame_vcpu: usize,
        family: BitBank,
        first: u32,
        physical: &mut impl PhysicalGic,
    ) -> Option<u64> {
        // Pending and active states may be in the list registers of this core.
        let live = !matches!(
            family,
            BitBank::Group | BitBank::SetEnable | BitBank::ClearEnable
        );
        let deferred = live && physical.defer_refresh();
        if live && !self.save_lrs(vcpu, physical) {
            return None;
        }
        let value = self.bank(frame_vcpu, first).map_or(0, |bank| match family {
            BitBank::Group => bank.group & bank.present,
            BitBank::SetEnable | BitBank::ClearEnable => bank.enabled,
            BitBank::SetPending | BitBank::ClearPending => {
                let waiting = match bank.hardware {
                    0 => 0,
                    hardware => hardware & physical.pending_word(first, frame_vcpu),
                };
                bank.pending() | bank.from_latch | waiting
            }
            BitBank::SetActive | BitBank::ClearActive => bank.active,
        });
        if live && !deferred {
            self.refresh_lrs(vcpu, physical);
        }
        Some(u64::from(value))
    }

    /// Returns false if the guest must repeat the write.
    pub(crate) fn write_bank(
        &mut self,
        vcpu: usize,
        frame_vcpu: usize,
        family: BitBank,
        first: u32,
        value: u32,
        physical: &mut impl PhysicalGic,
    ) -> bool {
        let present = self.bank(frame_vcpu, first).map_or(0, |bank| bank.present);
        let value = value & present;
        match family {
            BitBank::Group => self.write_group(vcpu, frame_vcpu, first, value, physical),
            _ if value == 0 => true,
            BitBank::SetEnable => self.set_enabled(vcpu, frame_vcpu, first, value, true, physical),
            BitBank::ClearEnable => {
                self.set_enabled(vcpu, frame_vcpu, first, value, false, physical)
            }
            _ => {
                let deferred = physical.defer_refresh();
                if !self.save_lrs(vcpu, physical) {
                    return false;
                }
                let mut targets = 1 << vcpu;
                let (mut left, soft) = match family {
                    BitBank::SetPending => {
                        let hardware = self.bank(frame_vcpu, first).map_or(0, |bank| bank.hardware);
                        (value & hardware, value & !hardware)
                    }
                    _ => (value, 0),
                };
                // Each step may be repeated if the guest repeats the write.
                while left != 0 {
                    if physical.should_yield() {
                        self.notify(vcpu, targets, deferred, physical);
                        return false;
                    }
                    let bit = left.trailing_zeros();
                    left &= left - 1;
                    targets |= match family {
                        BitBank::SetPending => {
                            let intid = first + bit;
                            physical.set_pending(
                                intid,
                                self.physical_target(frame_vcpu, intid),
                                true,
                            );
                            0
                        }
                        BitBank::SetActive => self.set_active(frame_vcpu, first, bit),
                        BitBank::ClearPending => {
                            if !self.clear_pending(frame_vcpu, first, bit, physical) {
                                return false;
                            }
                            0
                        }
                        _ => self.clear_active(frame_vcpu, first, bit, physical),
                    };
                }
                if soft != 0 {
                    if physical.should_yield() {
                        return false;
                    }
                    targets |= self.set_pending(frame_vcpu, first, soft);
                }
                self.notify(vcpu, targets, deferred, physical);
                true
            }
        }
    }

    /// Prepares a change of interrupts, of which the `affected` ones are or will be in list registers.
    /// Returns whether the refresh is deferred, or `None` if the core should yield and the guest must
    /// repeat the write.
    #[inline]
    fn begin_change(affected: u32, physical: &mut impl PhysicalGic) -> Option<bool> {
        if physical.should_yield() {
            return None;
        }
        let deferred = affected != 0 && physical.defer_refresh();
        (!physical.should_yield()).then_some(deferred)
    }

    fn write_group(
        &mut self,
        vcpu: usize,
        frame_vcpu: usize,
        first: u32,
        value: u32,
        physical: &mut impl PhysicalGic,
    ) -> bool {
        let Some(bank) = self.bank_mut(frame_vcpu, first) else {
            return true;
        };
        let changed = (bank.group ^ value) & bank.present;
        let affected = changed & (bank.pending() | bank.maybe_listed(first));
        let Some(deferred) = Self::begin_change(affected, physical) else {
            return false;
        };
        bank.group ^= changed;
        self.notify_owners(vcpu, frame_vcpu, (first, affected), deferred, physical);
        true
    }

    /// Notifies the vCPUs that own the changed interrupts of the bank of `first`.
    #[inline]
    fn notify_owners(
        &mut self,
        vcpu: usize,
        frame_vcpu: usize,
        (first, word): (u32, u32),
        deferred: bool,
        physical: &mut impl PhysicalGic,
    ) {
        let owners = match self.bank(frame_vcpu, first) {
            Some(bank) if first >= PRIVATE => bank.owners(word),
            Some(bank) => {
                let stale = bank.hardware & word != 0;
                if let Some(lrs) = self.lrs.get_mut(frame_vcpu) {
                    lrs.templates_stale |= stale;
                }
                u32::from(word != 0) << frame_vcpu
            }
            None => 0,
        };
        self.notify(vcpu, owners, deferred, physical);
    }

    fn set_enabled(
        &mut self,
        vcpu: usize,
        frame_vcpu: usize,
        first: u32,
        value: u32,
        enabled: bool,
        physical: &mut impl PhysicalGic,
    ) -> bool {
        let Some(bank) = self.bank(frame_vcpu, first) else {
            return true;
        };
        let changed = if enabled {
            value & !bank.enabled
        } else {
            value & bank.enabled
        };
        let affected = match (enabled, first < PRIVATE) {
            (true, false) => bank.pending(),
            // The template depends on the enable bit.
            (true, true) => bank.pending() | bank.hardware,
            (false, _) => bank.maybe_listed(first),
        };
        // May be repeated: memory decides on interrupts that arrive meanwhile.
        for bit in bits(changed & bank.hardware) {
            let intid = first + bit;
            if physical.should_yield() {
                return false;
            }
            physical.enable(intid, self.physical_target(frame_vcpu, intid), enabled);
        }
        let affected = changed & affected;
        let Some(deferred) = Self::begin_change(affected, physical) else {
            return false;
        };
        if let Some(bank) = self.bank_mut(frame_vcpu, first) {
            bank.enabled ^= changed;
        }
        self.notify_owners(vcpu, frame_vcpu, (first, affected), deferred, physical);
        true
    }

    /// Pends interrupts that are not backed by hardware. Those that are pend in the physical GIC and arrive
    /// from there.
    fn set_pending(&mut self, frame_vcpu: usize, first: u32, value: u32) -> u32 {
        let Some(bank) = self.bank_mut(frame_vcpu, first) else {
            return 0;
        };
        bank.latch |= value;
        let owners = bank.owners(value & bank.enabled);
        self.mark_busy(first);
        owners
    }

    /// Returns false, without a change in memory, if the core should yield.
    fn clear_pending(
        &mut self,
        frame_vcpu: usize,
        first: u32,
        bit: u32,
        physical: &mut impl PhysicalGic,
    ) -> bool {
        let Some(bank) = self.bank(frame_vcpu, first) else {
            return true;
        };
        let (held, hardware) = (bank.latch >> bit & 1 != 0, bank.hardware >> bit & 1 != 0);
        if hardware {
            let intid = first + bit;
            let vcpu = self.physical_target(frame_vcpu, intid);
            physical.set_pending(intid, vcpu, false);
            if physical.should_yield() {
                return false;
            }
            if held {
                physical.deactivate(intid, vcpu);
            }
        }
        if let Some(bank) = self.bank_mut(frame_vcpu, first) {
            bank.latch &= !(1 << bit);
        }
        true
    }

    /// Only for an interrupt that is not backed by hardware: the active state of the others is physical,
    /// and only the restore of a suspended machine sets it.
    fn set_active(&mut self, frame_vcpu: usize, first: u32, bit: u32) -> u32 {
        let Some(bank) = self.bank_mut(frame_vcpu, first) else {
            return 0;
        };
        let mask = 1 << bit;
        // An active interrupt without a target could never end.
        if (bank.hardware | bank.listed) & mask != 0 || bank.route(bit) == NO_VCPU {
            return 0;
        }
        bank.activate(bit);
        let owner = bank.owner(bit);
        self.mark_busy(first);
        bit_of(owner)
    }

    fn clear_active(
        &mut self,
        frame_vcpu: usize,
        first: u32,
        bit: u32,
        physical: &mut impl PhysicalGic,
    ) -> u32 {
        let Some(bank) = self.bank_mut(frame_vcpu, first) else {
            return 0;
        };
        let mask = 1 << bit;
        if bank.active & !bank.listed & mask == 0 {
            return 0;
        }
        let mut targets = bit_of(bank.owner(bit));
        bank.active &= !mask;
        if bank.pending() & bank.enabled & mask != 0 {
            targets |= bit_of(bank.owner(bit));
        }
        if bank.hardware & mask != 0 {
            let intid = first + bit;
            physical.deactivate(intid, self.physical_target(frame_vcpu, intid));
        }
        targets
    }

    pub(crate) fn read_priority(&self, frame_vcpu: usize, first: u32, count: u32) -> u64 {
        let Some(bank) = self.bank(frame_vcpu, first) else {
            return 0;
        };
        (0..count).rev().fold(0, |value, i| {
            value << 8 | u64::from(bank.priority(first % 32 + i))
        })
    }

    /// Returns false if the guest must repeat the write.
    pub(crate) fn write_priority(
        &mut self,
        vcpu: usize,
        frame_vcpu: usize,
        first: u32,
        count: u32,
        value: u64,
        physical: &mut impl PhysicalGic,
    ) -> bool {
        let Some(bank) = self.bank_mut(frame_vcpu, first) else {
            return true;
        };
        let fields = (0..count).map(|i| (first % 32 + i, (value >> (8 * i)) as u8));
        let changed = fields
            .clone()
            .filter(|&(bit, priority)| bank.differs(bit, priority))
            .fold(0, |word, (bit, _)| word | 1 << bit);
        let waiting = bank.pending() & bank.enabled;
        let affected = changed & (waiting | bank.maybe_listed(first));
        let Some(deferred) = Self::begin_change(affected, physical) else {
            return false;
        };
        for (bit, priority) in fields {
            if changed >> bit & 1 != 0 {
                bank.set_priority(bit, priority);
            }
        }
        self.notify_owners(vcpu, frame_vcpu, (first, affected), deferred, physical);
        true
    }

    pub(crate) fn read_configuration(&self, frame_vcpu: usize, first: u32) -> u64 {
        let Some(bank) = self.bank(frame_vcpu, first) else {
            return 0;
        };
        u64::from(spread(bank.edge >> (first % 32) & 0xffff) << 1)
    }

    /// Changes the triggers one by one. Returns false if the guest must repeat the write, which then changes
    /// the remaining ones.
    pub(crate) fn write_configuration(
        &mut self,
        frame_vcpu: usize,
        first: u32,
        value: u32,
        physical: &mut impl PhysicalGic,
    ) -> bool {
        // SGIs are edge-triggered, whatever is written (section 12.9.10).
        if first < 16 {
            return true;
        }
        let (base, shift) = (first & !31, first % 32);
        let Some(bank) = self.bank(frame_vcpu, first) else {
            return true;
        };
        let half = 0xffff << shift;
        let mut changed = (bank.edge ^ gathered(value >> 1) << shift) & half & bank.present;
        while changed != 0 {
            if physical.should_yield() {
                return false;
            }
            let one = changed & changed.wrapping_neg();
            changed &= !one;
            let Some(bank) = self.bank_mut(frame_vcpu, first) else {
                return true;
            };
            bank.edge ^= one;
            let edge = bank.edge & one != 0;
            self.each_hardware(frame_vcpu, base, one, |intid, vcpu| {
                physical.set_edge(intid, vcpu, edge);
            });
        }
        !physical.should_yield()
    }
}

/// Spreads bits 15 to 0 to the even bits of a word.
const fn spread(half: u32) -> u32 {
    let bytes = (half | half << 8) & 0x00ff_00ff;
    let nibbles = (bytes | bytes << 4) & 0x0f0f_0f0f;
    let pairs = (nibbles | nibbles << 2) & 0x3333_3333;
    (pairs | pairs << 1) & 0x5555_5555
}

/// Inverse of [`spread`]; the odd bits are ignored.
const fn gathered(word: u32) -> u32 {
    let bits = word & 0x5555_5555;
    let pairs = (bits | bits >> 1) & 0x3333_3333;
    let nibbles = (pairs | pairs >> 2) & 0x0f0f_0f0f;
    let bytes = (nibbles | nibbles >> 4) & 0x00ff_00ff;
    (bytes | bytes >> 8) & 0xffff
}
