//! Registers with a field for each of several interrupts, alike in GICD and in SGI_base.

use crate::bank::NOBODY;
use crate::{Physical, Virtual};
use mortise_gic_frame::{Bank as Family, PRIVATE, bits};

impl<const VCPUS: usize, const ROWS: usize> Virtual<VCPUS, ROWS> {
    pub(crate) fn read_bank(
        &mut self,
        vcpu: usize,
        whose: usize,
        family: Family,
        first: u32,
        physical: &mut impl Physical,
    ) -> u64 {
        // What is pending or active may be so in this core's list registers.
        let live = !matches!(
            family,
            Family::Group | Family::SetEnable | Family::ClearEnable
        );
        if live {
            self.leave(vcpu, physical);
        }
        let value = self.bank(whose, first).map_or(0, |bank| match family {
            Family::Group => bank.group & bank.present,
            Family::SetEnable | Family::ClearEnable => bank.enabled,
            Family::SetPending | Family::ClearPending => bank.pending() | bank.soft,
            Family::SetActive | Family::ClearActive => bank.active,
        });
        if live {
            self.enter(vcpu, physical);
        }
        u64::from(value)
    }

    pub(crate) fn write_bank(
        &mut self,
        vcpu: usize,
        whose: usize,
        family: Family,
        first: u32,
        value: u32,
        physical: &mut impl Physical,
    ) {
        let present = self.bank(whose, first).map_or(0, |bank| bank.present);
        let value = value & present;
        match family {
            Family::Group => self.write_group(vcpu, whose, first, value, physical),
            _ if value == 0 => {}
            Family::SetEnable => self.set_enabled(vcpu, whose, first, value, true, physical),
            Family::ClearEnable => self.set_enabled(vcpu, whose, first, value, false, physical),
            _ => {
                self.leave(vcpu, physical);
                let whom = match family {
                    Family::SetPending => self.set_pending(whose, first, value, physical),
                    Family::ClearPending => self.clear_pending(whose, first, value, physical),
                    Family::SetActive => self.set_active(whose, first, value),
                    _ => self.clear_active(whose, first, value, physical),
                };
                self.enter(vcpu, physical);
                self.tell(vcpu, whom & !(1 << vcpu), physical);
            }
        }
    }

    fn write_group(
        &mut self,
        vcpu: usize,
        whose: usize,
        first: u32,
        value: u32,
        physical: &mut impl Physical,
    ) {
        let Some(bank) = self.bank_mut(whose, first) else {
            return;
        };
        let changed = (bank.group ^ value) & bank.present;
        bank.group ^= changed;
        let owners = bank.owners(changed & (bank.pending() | bank.in_flight(first)));
        if changed != 0 && first < PRIVATE {
            self.publish(whose, changed, physical);
        }
        self.tell(vcpu, owners, physical);
    }

    fn set_enabled(
        &mut self,
        vcpu: usize,
        whose: usize,
        first: u32,
        value: u32,
        enabled: bool,
        physical: &mut impl Physical,
    ) {
        let Some(bank) = self.bank_mut(whose, first) else {
            return;
        };
        let changed = if enabled {
            value & !bank.enabled
        } else {
            value & bank.enabled
        };
        if changed == 0 {
            return;
        }
        bank.enabled ^= changed;
        let concerned = if enabled {
            bank.pending()
        } else {
            bank.in_flight(first)
        };
        let owners = bank.owners(changed & concerned);
        if first < PRIVATE {
            self.publish(whose, changed, physical);
        }
        self.each_hardware(whose, first, changed, |intid, vcpu| {
            physical.enable(intid, vcpu, enabled);
        });
        self.tell(vcpu, owners, physical);
    }

    /// What hardware backs becomes pending there, and comes back as an interrupt.
    fn set_pending(
        &mut self,
        whose: usize,
        first: u32,
        value: u32,
        physical: &mut impl Physical,
    ) -> u32 {
        self.each_hardware(whose, first, value, |intid, vcpu| {
            physical.set_pending(intid, vcpu, true);
        });
        let Some(bank) = self.bank_mut(whose, first) else {
            return 0;
        };
        let value = value & !bank.hardware;
        bank.latch |= value;
        let owners = bank.owners(value & bank.enabled);
        self.mark_busy(first);
        owners
    }

    fn clear_pending(
        &mut self,
        whose: usize,
        first: u32,
        value: u32,
        physical: &mut impl Physical,
    ) -> u32 {
        let Some(bank) = self.bank_mut(whose, first) else {
            return 0;
        };
        let held = value & bank.latch;
        bank.latch &= !value;
        self.each_hardware(whose, first, value, |intid, vcpu| {
            physical.set_pending(intid, vcpu, false);
            if held >> (intid - first) & 1 != 0 {
                physical.deactivate(intid, vcpu);
            }
        });
        0
    }

    /// Only for interrupts without hardware: the others' active state is the physical one, and
    /// nothing but saving and restoring a whole machine sets it.
    fn set_active(&mut self, whose: usize, first: u32, value: u32) -> u32 {
        let Some(bank) = self.bank_mut(whose, first) else {
            return 0;
        };
        let value = value & !bank.hardware & !bank.listed;
        // Active on nobody could never end.
        let value = bits(value)
            .filter(|&bit| bank.route(bit) != NOBODY)
            .fold(0, |word, bit| word | 1 << bit);
        bank.activate(value);
        let owners = bank.owners(value);
        self.mark_busy(first);
        owners
    }

    fn clear_active(
        &mut self,
        whose: usize,
        first: u32,
        value: u32,
        physical: &mut impl Physical,
    ) -> u32 {
        let Some(bank) = self.bank_mut(whose, first) else {
            return 0;
        };
        let ended = value & bank.active & !bank.listed;
        let before = bank.owners(ended);
        bank.active &= !ended;
        let after = bank.owners(ended & bank.pending() & bank.enabled);
        self.each_hardware(whose, first, ended, |intid, vcpu| {
            physical.deactivate(intid, vcpu)
        });
        before | after
    }

    pub(crate) fn read_priority(&self, whose: usize, first: u32, count: u32) -> u64 {
        let Some(bank) = self.bank(whose, first) else {
            return 0;
        };
        (0..count).rev().fold(0, |value, i| {
            value << 8 | u64::from(bank.priority(first % 32 + i))
        })
    }

    pub(crate) fn write_priority(
        &mut self,
        vcpu: usize,
        whose: usize,
        first: u32,
        count: u32,
        value: u64,
        physical: &mut impl Physical,
    ) {
        let shift = first % 32;
        let Some(bank) = self.bank_mut(whose, first) else {
            return;
        };
        let mut changed = 0;
        for i in 0..count {
            let bit = shift + i;
            if bank.present >> bit & 1 != 0 && bank.set_priority(bit, (value >> (8 * i)) as u8) {
                changed |= 1 << bit;
            }
        }
        if changed == 0 {
            return;
        }
        let waiting = bank.pending() & bank.enabled;
        let owners = bank.owners(changed & (waiting | bank.in_flight(first)));
        if first < PRIVATE {
            self.publish(whose, changed, physical);
        }
        self.tell(vcpu, owners, physical);
    }

    pub(crate) fn read_configuration(&self, whose: usize, first: u32) -> u64 {
        let Some(bank) = self.bank(whose, first) else {
            return 0;
        };
        let edge = bank.edge >> (first % 32) & 0xffff;
        bits(edge).fold(0, |word, bit| word | 2 << (2 * bit))
    }

    pub(crate) fn write_configuration(
        &mut self,
        whose: usize,
        first: u32,
        value: u32,
        physical: &mut impl Physical,
    ) {
        // SGIs are edge-triggered, whatever is written (section 12.9.10).
        if first < 16 {
            return;
        }
        let old = self.read_configuration(whose, first) as u32;
        let (base, shift) = (first & !31, first % 32);
        let mut changed = 0;
        for field in bits((old ^ value) & 0xaaaa_aaaa) {
            changed |= 1 << (shift + field / 2);
        }
        let Some(bank) = self.bank_mut(whose, first) else {
            return;
        };
        changed &= bank.present;
        bank.edge ^= changed;
        let edge = bank.edge;
        self.each_hardware(whose, base, changed, |intid, vcpu| {
            physical.set_edge(intid, vcpu, edge >> (intid - base) & 1 != 0);
        });
    }
}
