//! Registers with a field for each of several interrupts, alike in GICD and in SGI_base.

use crate::bank::{NOBODY, bit_of};
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
    ) -> Option<u64> {
        // What is pending or active may be so in this core's list registers.
        let live = !matches!(
            family,
            Family::Group | Family::SetEnable | Family::ClearEnable
        );
        let later = live && physical.postpone();
        if live && !self.leave(vcpu, physical) {
            return None;
        }
        let value = self.bank(whose, first).map_or(0, |bank| match family {
            Family::Group => bank.group & bank.present,
            Family::SetEnable | Family::ClearEnable => bank.enabled,
            Family::SetPending | Family::ClearPending => {
                let waiting = match bank.hardware {
                    0 => 0,
                    hardware => hardware & physical.pending_near(first, whose),
                };
                bank.pending() | bank.soft | waiting
            }
            Family::SetActive | Family::ClearActive => bank.active,
        });
        if live && !later {
            self.refresh(vcpu, physical);
        }
        Some(u64::from(value))
    }

    /// False if the guest is to write again.
    pub(crate) fn write_bank(
        &mut self,
        vcpu: usize,
        whose: usize,
        family: Family,
        first: u32,
        value: u32,
        physical: &mut impl Physical,
    ) -> bool {
        let present = self.bank(whose, first).map_or(0, |bank| bank.present);
        let value = value & present;
        match family {
            Family::Group => self.write_group(vcpu, whose, first, value, physical),
            _ if value == 0 => true,
            Family::SetEnable => self.set_enabled(vcpu, whose, first, value, true, physical),
            Family::ClearEnable => self.set_enabled(vcpu, whose, first, value, false, physical),
            _ => {
                let later = physical.postpone();
                if !self.leave(vcpu, physical) {
                    return false;
                }
                let mut whom = 1 << vcpu;
                let (mut left, soft) = match family {
                    Family::SetPending => {
                        let hardware = self.bank(whose, first).map_or(0, |bank| bank.hardware);
                        (value & hardware, value & !hardware)
                    }
                    _ => (value, 0),
                };
                // What was done may be done again: it was not over yet.
                while left != 0 {
                    if physical.is_wanted() {
                        self.tell(vcpu, whom, later, physical);
                        return false;
                    }
                    let bit = left.trailing_zeros();
                    left &= left - 1;
                    whom |= match family {
                        Family::SetPending => {
                            let intid = first + bit;
                            physical.set_pending(intid, self.concerned(whose, intid), true);
                            0
                        }
                        Family::SetActive => self.set_active(whose, first, bit),
                        Family::ClearPending => {
                            if !self.clear_pending(whose, first, bit, physical) {
                                return false;
                            }
                            0
                        }
                        _ => self.clear_active(whose, first, bit, physical),
                    };
                }
                if soft != 0 {
                    if physical.is_wanted() {
                        return false;
                    }
                    whom |= self.set_pending(whose, first, soft);
                }
                self.tell(vcpu, whom, later, physical);
                true
            }
        }
    }

    /// Before interrupts change, of which these are in list registers or are to be: whether those are
    /// brought up to date later. Nothing if something more urgent came, and the guest is to write again.
    #[inline]
    fn announce(concerned: u32, physical: &mut impl Physical) -> Option<bool> {
        if physical.is_wanted() {
            return None;
        }
        let later = concerned != 0 && physical.postpone();
        (!physical.is_wanted()).then_some(later)
    }

    fn write_group(
        &mut self,
        vcpu: usize,
        whose: usize,
        first: u32,
        value: u32,
        physical: &mut impl Physical,
    ) -> bool {
        let Some(bank) = self.bank_mut(whose, first) else {
            return true;
        };
        let changed = (bank.group ^ value) & bank.present;
        let concerned = changed & (bank.pending() | bank.in_flight(first));
        let Some(later) = Self::announce(concerned, physical) else {
            return false;
        };
        bank.group ^= changed;
        self.tell_owners(vcpu, whose, (first, concerned), later, physical);
        true
    }

    /// Lets the owners of interrupts know that these have changed, of the bank of `first`.
    #[inline]
    fn tell_owners(
        &mut self,
        vcpu: usize,
        whose: usize,
        (first, word): (u32, u32),
        later: bool,
        physical: &mut impl Physical,
    ) {
        let owners = match self.bank(whose, first) {
            Some(bank) if first >= PRIVATE => bank.owners(word),
            Some(bank) => {
                let stale = bank.hardware & word != 0;
                if let Some(lists) = self.lists.get_mut(whose) {
                    lists.stale |= stale;
                }
                u32::from(word != 0) << whose
            }
            None => 0,
        };
        self.tell(vcpu, owners, later, physical);
    }

    fn set_enabled(
        &mut self,
        vcpu: usize,
        whose: usize,
        first: u32,
        value: u32,
        enabled: bool,
        physical: &mut impl Physical,
    ) -> bool {
        let Some(bank) = self.bank(whose, first) else {
            return true;
        };
        let changed = if enabled {
            value & !bank.enabled
        } else {
            value & bank.enabled
        };
        let concerned = match (enabled, first < PRIVATE) {
            (true, false) => bank.pending(),
            // The template follows.
            (true, true) => bank.pending() | bank.hardware,
            (false, _) => bank.in_flight(first),
        };
        // That may be done twice: what arrives meanwhile, or does not, is as memory has it.
        for bit in bits(changed & bank.hardware) {
            let intid = first + bit;
            if physical.is_wanted() {
                return false;
            }
            physical.enable(intid, self.concerned(whose, intid), enabled);
        }
        let concerned = changed & concerned;
        let Some(later) = Self::announce(concerned, physical) else {
            return false;
        };
        if let Some(bank) = self.bank_mut(whose, first) {
            bank.enabled ^= changed;
        }
        self.tell_owners(vcpu, whose, (first, concerned), later, physical);
        true
    }

    /// What hardware backs becomes pending there, and comes back as an interrupt: this is of the rest.
    fn set_pending(&mut self, whose: usize, first: u32, value: u32) -> u32 {
        let Some(bank) = self.bank_mut(whose, first) else {
            return 0;
        };
        bank.latch |= value;
        let owners = bank.owners(value & bank.enabled);
        self.mark_busy(first);
        owners
    }

    /// False, and it is as it was, if something goes first.
    fn clear_pending(
        &mut self,
        whose: usize,
        first: u32,
        bit: u32,
        physical: &mut impl Physical,
    ) -> bool {
        let Some(bank) = self.bank(whose, first) else {
            return true;
        };
        let (held, hardware) = (bank.latch >> bit & 1 != 0, bank.hardware >> bit & 1 != 0);
        if hardware {
            let intid = first + bit;
            let vcpu = self.concerned(whose, intid);
            physical.set_pending(intid, vcpu, false);
            if physical.is_wanted() {
                return false;
            }
            if held {
                physical.deactivate(intid, vcpu);
            }
        }
        if let Some(bank) = self.bank_mut(whose, first) {
            bank.latch &= !(1 << bit);
        }
        true
    }

    /// Only for an interrupt without hardware: another's active state is the physical one, and
    /// nothing but saving and restoring a whole machine sets it.
    fn set_active(&mut self, whose: usize, first: u32, bit: u32) -> u32 {
        let Some(bank) = self.bank_mut(whose, first) else {
            return 0;
        };
        let mask = 1 << bit;
        // Active on nobody could never end.
        if (bank.hardware | bank.listed) & mask != 0 || bank.route(bit) == NOBODY {
            return 0;
        }
        bank.activate(bit);
        let owner = bank.owner(bit);
        self.mark_busy(first);
        bit_of(owner)
    }

    fn clear_active(
        &mut self,
        whose: usize,
        first: u32,
        bit: u32,
        physical: &mut impl Physical,
    ) -> u32 {
        let Some(bank) = self.bank_mut(whose, first) else {
            return 0;
        };
        let mask = 1 << bit;
        if bank.active & !bank.listed & mask == 0 {
            return 0;
        }
        let mut whom = bit_of(bank.owner(bit));
        bank.active &= !mask;
        if bank.pending() & bank.enabled & mask != 0 {
            whom |= bit_of(bank.owner(bit));
        }
        if bank.hardware & mask != 0 {
            let intid = first + bit;
            physical.deactivate(intid, self.concerned(whose, intid));
        }
        whom
    }

    pub(crate) fn read_priority(&self, whose: usize, first: u32, count: u32) -> u64 {
        let Some(bank) = self.bank(whose, first) else {
            return 0;
        };
        (0..count).rev().fold(0, |value, i| {
            value << 8 | u64::from(bank.priority(first % 32 + i))
        })
    }

    /// False if the guest is to write again.
    pub(crate) fn write_priority(
        &mut self,
        vcpu: usize,
        whose: usize,
        first: u32,
        count: u32,
        value: u64,
        physical: &mut impl Physical,
    ) -> bool {
        let Some(bank) = self.bank_mut(whose, first) else {
            return true;
        };
        let fields = (0..count).map(|i| (first % 32 + i, (value >> (8 * i)) as u8));
        let changed = fields
            .clone()
            .filter(|&(bit, priority)| bank.differs(bit, priority))
            .fold(0, |word, (bit, _)| word | 1 << bit);
        let waiting = bank.pending() & bank.enabled;
        let concerned = changed & (waiting | bank.in_flight(first));
        let Some(later) = Self::announce(concerned, physical) else {
            return false;
        };
        for (bit, priority) in fields {
            if changed >> bit & 1 != 0 {
                bank.set_priority(bit, priority);
            }
        }
        self.tell_owners(vcpu, whose, (first, concerned), later, physical);
        true
    }

    pub(crate) fn read_configuration(&self, whose: usize, first: u32) -> u64 {
        let Some(bank) = self.bank(whose, first) else {
            return 0;
        };
        u64::from(spread(bank.edge >> (first % 32) & 0xffff) << 1)
    }

    /// One by one; false if the guest is to write again, for what has not changed by then.
    pub(crate) fn write_configuration(
        &mut self,
        whose: usize,
        first: u32,
        value: u32,
        physical: &mut impl Physical,
    ) -> bool {
        // SGIs are edge-triggered, whatever is written (section 12.9.10).
        if first < 16 {
            return true;
        }
        let (base, shift) = (first & !31, first % 32);
        let Some(bank) = self.bank(whose, first) else {
            return true;
        };
        let half = 0xffff << shift;
        let mut changed = (bank.edge ^ gathered(value >> 1) << shift) & half & bank.present;
        while changed != 0 {
            if physical.is_wanted() {
                return false;
            }
            let one = changed & changed.wrapping_neg();
            changed &= !one;
            let Some(bank) = self.bank_mut(whose, first) else {
                return true;
            };
            bank.edge ^= one;
            let edge = bank.edge & one != 0;
            self.each_hardware(whose, base, one, |intid, vcpu| {
                physical.set_edge(intid, vcpu, edge);
            });
        }
        !physical.is_wanted()
    }
}

/// The lower half of a word, each bit where two are for it, in the lower one.
const fn spread(half: u32) -> u32 {
    let bytes = (half | half << 8) & 0x00ff_00ff;
    let nibbles = (bytes | bytes << 4) & 0x0f0f_0f0f;
    let pairs = (nibbles | nibbles << 2) & 0x3333_3333;
    (pairs | pairs << 1) & 0x5555_5555
}

/// What [`spread`] was given, from its word; the other bits do not count.
const fn gathered(word: u32) -> u32 {
    let bits = word & 0x5555_5555;
    let pairs = (bits | bits >> 1) & 0x3333_3333;
    let nibbles = (pairs | pairs >> 2) & 0x0f0f_0f0f;
    let bytes = (nibbles | nibbles >> 4) & 0x00ff_00ff;
    (bytes | bytes >> 8) & 0xffff
}
