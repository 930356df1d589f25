//! The virtual CPU interface of the interrupt controller, for cores that several virtual
//! CPUs share (IHI 0069, 12.4).

use crate::{ColdContext, Context};
use core::cell::Cell;
use hw_arch::registers::ich_lr;

/// Where the interrupt stands that a guest's virtual timer raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerIrq {
    /// NotListed: it is not active in the physical controller.
    NotListed,
    /// In the first list register, by its template, and active as long as it is there. Of a virtual
    /// CPU that is not on its core: it is to be there, as the deadline passed.
    InLr0,
    /// Where the virtual interrupt controller put it, and the physical one knows. Of a virtual CPU
    /// that is not on its core: it was active.
    InOtherLr,
}

/// What stands in list registers: those that were written since they were empty, one bit each from
/// bit 0 on, and where the [timer's](TimerIrq) interrupt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LrUsage(u32);

const REGISTERS: u32 = 0xffff;
/// Beside the bits of what takes some time to exchange, so that one mask tells.
const IN_OTHER_LR: u32 = 1 << 16;
const IN_LR0: u32 = 1 << 31;
/// The list registers that are always exchanged.
const EAGER_LRS: u32 = 3;
const SLOW_SWITCH: u32 = (REGISTERS | IN_OTHER_LR) & !EAGER_LRS;

impl LrUsage {
    /// Nothing.
    pub const EMPTY: Self = Self(0);

    /// The list registers.
    #[inline]
    #[must_use]
    pub const fn registers(self) -> u32 {
        self.0 & REGISTERS
    }

    /// Whether the timer's interrupt is in the first list register, or is to be there.
    #[inline(always)]
    #[must_use]
    pub const fn has_timer_in_lr0(self) -> bool {
        self.0 & IN_LR0 != 0
    }

    /// Where the timer's interrupt is.
    #[inline(always)]
    #[must_use]
    pub const fn timer_irq(self) -> TimerIrq {
        match self.0 & (IN_LR0 | IN_OTHER_LR) {
            0 => TimerIrq::NotListed,
            IN_LR0 => TimerIrq::InLr0,
            _ => TimerIrq::InOtherLr,
        }
    }

    /// The same with the timer's there.
    #[inline(always)]
    #[must_use]
    pub const fn with_timer_irq(self, timer: TimerIrq) -> Self {
        Self(
            self.registers()
                | match timer {
                    TimerIrq::NotListed => 0,
                    TimerIrq::InLr0 => IN_LR0,
                    TimerIrq::InOtherLr => IN_OTHER_LR,
                },
        )
    }

    /// Whether it takes the fewest steps to exchange this for that, or that for this: there are no list
    /// registers but those that are always exchanged, and the physical controller has nothing to say
    /// of the timer.
    #[inline(always)]
    #[must_use]
    pub const fn is_fast_switch(self, other: Self) -> bool {
        (self.0 | other.0) & SLOW_SWITCH == 0
    }

    /// The same with something in a list register, or nothing; the first one's is not by the timer's
    /// template.
    #[inline]
    #[must_use]
    pub const fn put(self, index: usize, something: bool) -> Self {
        let bit = 1 << (index % 16);
        let moved = if self.has_timer_in_lr0() && index == 0 {
            IN_LR0 | IN_OTHER_LR
        } else {
            0
        };
        Self((self.0 ^ moved) & !bit | if something { bit } else { 0 })
    }

    /// The same with all list registers empty.
    #[inline]
    #[must_use]
    pub const fn cleared(self) -> Self {
        Self(if self.0 > REGISTERS { IN_OTHER_LR } else { 0 })
    }
}

/// What a virtual CPU that is not on its core has in its virtual CPU interface.
///
/// The first two list registers, the timer's and a device's as a rule, are exchanged as they are:
/// that takes fewer instructions than to find out whether they hold something. [Others](ColdContext) are
/// where they do.
#[repr(C, align(16))]
#[derive(Debug)]
pub struct Interface {
    /// `ICH_VMCR_EL2`, `ICH_AP0R0_EL2`, `ICH_AP1R0_EL2` and `ICH_HCR_EL2`.
    control: Cell<[u64; 4]>,
    lists: [Cell<u64>; 2],
    listed: Cell<LrUsage>,
}

impl Interface {
    /// That of a virtual CPU that never ran: off and empty.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            control: Cell::new([0; 4]),
            lists: [const { Cell::new(0) }; 2],
            listed: Cell::new(LrUsage::EMPTY),
        }
    }
}

/// Of which the virtual CPU interface is a part.
impl Context {
    /// Forgets what was taken down of it: off and empty.
    pub fn clear_interface(&self) {
        self.interface.listed.set(LrUsage::EMPTY);
        self.interface.control.set([0; 4]);
        self.interface.lists.iter().for_each(|list| list.set(0));
    }

    /// What stands in its list registers.
    #[inline(always)]
    pub fn lr_usage(&self) -> LrUsage {
        self.interface.listed.get()
    }

    /// Notes that.
    #[inline(always)]
    pub fn set_lr_usage(&self, listed: LrUsage) {
        self.interface.listed.set(listed);
    }

    /// Whether the first list register is free, as it was taken down.
    #[inline]
    pub fn is_lr0_free(&self) -> bool {
        // Neither pending nor active.
        self.interface.lists[0].get() >> 62 == 0
    }

    /// Takes down what is in the core's interface, but for the rarer list registers, and leaves it off,
    /// to be loaded before it is turned on again.
    #[inline(always)]
    pub fn save_interface(&self) {
        // Off, as empty list registers are what an interrupt of maintenance may wait for.
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the arrays have room for six; what is off takes no interrupt.
        unsafe {
            core::arch::asm!(
                "mrs {a}, S3_4_C12_C11_7", "mrs {b}, S3_4_C12_C8_0", "stp {a}, {b}, [{to}, #208]",
                "mrs {a}, S3_4_C12_C9_0", "mrs {b}, S3_4_C12_C11_0", "stp {a}, {b}, [{to}, #224]",
                "mrs {a}, S3_4_C12_C12_0", "mrs {b}, S3_4_C12_C12_1", "stp {a}, {b}, [{to}, #240]",
                "msr S3_4_C12_C11_0, xzr",
                to = in(reg) core::ptr::from_ref(self), a = out(reg) _, b = out(reg) _,
                options(nostack, preserves_flags)
            );
        }
    }

    /// Puts that back into the core's interface, of which nothing is needed.
    #[inline(always)]
    pub fn load_interface(&self) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: binds EL1 only.
        unsafe {
            core::arch::asm!(
                "ldp {a}, {b}, [{from}, #240]", "msr S3_4_C12_C12_0, {a}", "msr S3_4_C12_C12_1, {b}",
                "ldp {a}, {b}, [{from}, #208]", "msr S3_4_C12_C11_7, {a}", "msr S3_4_C12_C8_0, {b}",
                "ldp {a}, {b}, [{from}, #224]", "msr S3_4_C12_C9_0, {a}", "msr S3_4_C12_C11_0, {b}",
                from = in(reg) core::ptr::from_ref(self), a = out(reg) _, b = out(reg) _,
                options(nostack, preserves_flags)
            );
        }
    }
}

/// Of which the other list registers are a part.
impl ColdContext {
    /// Takes down those of them that were written, and empties them.
    pub fn save_lrs(&self, listed: LrUsage) {
        self.each_of(listed, |index, list| {
            list.set(ich_lr::read(index));
            ich_lr::write(index, 0);
        });
    }

    /// Puts them back, before the interface is turned on.
    pub fn load_lrs(&self, listed: LrUsage) {
        self.each_of(listed, |index, list| ich_lr::write(index, list.get()));
    }

    fn each_of(&self, listed: LrUsage, action: impl Fn(usize, &Cell<u64>)) {
        let mut rest = listed.registers() & !EAGER_LRS;
        while rest != 0 {
            let index = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            if let Some(list) = self.lists.get(index - 2) {
                action(index, list);
            }
        }
    }
}

impl Default for Interface {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{Interface, LrUsage, TimerIrq};
    use crate::Context;
    use core::mem::offset_of;

    #[test]
    fn layout_is_the_assembly_s() {
        let interface = offset_of!(Context, interface);
        let control = interface + offset_of!(Interface, control);
        let lists = interface + offset_of!(Interface, lists);
        assert_eq!((control, lists), (208, 240));
    }

    #[test]
    fn what_is_cleared_is_as_if_it_never_ran() {
        let context = Context::new();
        context.interface.lists[0].set(1 << 62);
        context.set_lr_usage(LrUsage::EMPTY.put(0, true));
        assert!(!context.is_lr0_free());
        context.clear_interface();
        assert!(context.is_lr0_free());
        assert_eq!(context.lr_usage(), LrUsage::EMPTY);
    }

    #[test]
    fn what_is_listed_is_told_by_one_word() {
        for timer in [TimerIrq::NotListed, TimerIrq::InLr0, TimerIrq::InOtherLr] {
            let listed = LrUsage::EMPTY.put(1, true).with_timer_irq(timer);
            assert_eq!((listed.registers(), listed.timer_irq()), (2, timer));
            let (first, cleared) = (listed.put(0, true), listed.cleared());
            let left = match timer {
                TimerIrq::InLr0 => TimerIrq::InOtherLr,
                other => other,
            };
            assert_eq!((first.registers(), first.timer_irq()), (3, left));
            assert_eq!((cleared.registers(), cleared.timer_irq()), (0, left));
            assert_eq!(listed.put(2, true).put(2, false), listed);
            let usual = listed.is_fast_switch(LrUsage::EMPTY);
            assert_eq!(usual, timer != TimerIrq::InOtherLr);
            assert!(!listed.is_fast_switch(LrUsage::EMPTY.put(2, true)));
        }
    }
}
