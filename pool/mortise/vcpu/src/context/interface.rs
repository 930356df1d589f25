//! Virtual CPU interface of a vCPU on a shared core: save, load, and list register usage (IHI 0069, 12.4).

use super::{ColdContext, Context};
use core::cell::Cell;
use core::mem::offset_of;
use hw_arch::registers::ich_lr;

/// Location of the virtual timer's interrupt of a vCPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerIrq {
    /// In no list register, and not active in the physical GIC.
    NotListed,
    /// In list register 0, by its template, and active in the physical GIC while it is there. For a
    /// descheduled vCPU: its deadline has passed, and it is to be injected there.
    InLr0,
    /// In a list register chosen by the virtual GIC, and known to the physical GIC. For a descheduled
    /// vCPU: it was active.
    InOtherLr,
}

/// List registers in use, one bit each from bit 0 on, and the location of the [timer's](TimerIrq)
/// interrupt. A list register is in use from its first write until it is emptied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LrUsage(u32);

const REGISTERS: u32 = 0xffff;
/// Next to the bits of list registers that are slow to exchange, so that one mask tests them all.
const IN_OTHER_LR: u32 = 1 << 16;
const IN_LR0: u32 = 1 << 31;
/// List registers that every VM switch exchanges.
const EAGER_LRS: u32 = 3;
const SLOW_SWITCH: u32 = (REGISTERS | IN_OTHER_LR) & !EAGER_LRS;

impl LrUsage {
    /// No list register in use, and no timer interrupt.
    pub const EMPTY: Self = Self(0);

    /// The list registers in use.
    #[inline]
    #[must_use]
    pub const fn registers(self) -> u32 {
        self.0 & REGISTERS
    }

    /// Whether the timer's interrupt is in list register 0, or is to be injected there.
    #[inline(always)]
    #[must_use]
    pub const fn has_timer_in_lr0(self) -> bool {
        self.0 & IN_LR0 != 0
    }

    /// Location of the timer's interrupt.
    #[inline(always)]
    #[must_use]
    pub const fn timer_irq(self) -> TimerIrq {
        match self.0 & (IN_LR0 | IN_OTHER_LR) {
            0 => TimerIrq::NotListed,
            IN_LR0 => TimerIrq::InLr0,
            _ => TimerIrq::InOtherLr,
        }
    }

    /// The same usage with the timer's interrupt at this location.
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

    /// Whether a VM switch between these two usages takes the fast path: only list registers are in use
    /// that every switch exchanges, and neither timer interrupt needs an access to the physical GIC.
    #[inline(always)]
    #[must_use]
    pub const fn is_fast_switch(self, other: Self) -> bool {
        (self.0 | other.0) & SLOW_SWITCH == 0
    }

    /// The same usage with list register `index` in use, or empty. What is written to list register 0 is
    /// not the timer's template.
    #[inline]
    #[must_use]
    pub const fn with_lr(self, index: usize, used: bool) -> Self {
        let bit = 1 << (index % 16);
        let moved = if self.has_timer_in_lr0() && index == 0 {
            IN_LR0 | IN_OTHER_LR
        } else {
            0
        };
        Self((self.0 ^ moved) & !bit | if used { bit } else { 0 })
    }

    /// The same usage with all list registers empty.
    #[inline]
    #[must_use]
    pub const fn cleared(self) -> Self {
        Self(if self.0 > REGISTERS { IN_OTHER_LR } else { 0 })
    }
}

/// Saved virtual CPU interface of a descheduled vCPU.
///
/// List registers 0 and 1, usually those of the timer and of a device, are exchanged unconditionally:
/// that takes fewer instructions than a test whether they are in use. [The others](ColdContext) are
/// exchanged only if they are.
#[repr(C, align(16))]
#[derive(Debug)]
pub struct VirtualCpuInterface {
    /// `ICH_VMCR_EL2`, `ICH_AP0R0_EL2`, `ICH_AP1R0_EL2` and `ICH_HCR_EL2`.
    control: Cell<[u64; 4]>,
    lrs: [Cell<u64>; 2],
    lr_usage: Cell<LrUsage>,
}

// Within reach of LDP and STP from the context.
const _: () = assert!(offset_of!(Context, interface.control) == 208);
const _: () = assert!(offset_of!(Context, interface.lrs) == 240);

impl VirtualCpuInterface {
    /// The interface of a vCPU that has never run: disabled and empty.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            control: Cell::new([0; 4]),
            lrs: [const { Cell::new(0) }; 2],
            lr_usage: Cell::new(LrUsage::EMPTY),
        }
    }
}

/// The virtual CPU interface.
impl Context {
    /// Resets the saved interface: disabled and empty.
    pub fn clear_interface(&self) {
        self.interface.lr_usage.set(LrUsage::EMPTY);
        self.interface.control.set([0; 4]);
        self.interface.lrs.iter().for_each(|list| list.set(0));
    }

    /// Usage of its list registers.
    #[inline(always)]
    pub fn lr_usage(&self) -> LrUsage {
        self.interface.lr_usage.get()
    }

    /// Sets the usage of its list registers.
    #[inline(always)]
    pub fn set_lr_usage(&self, usage: LrUsage) {
        self.interface.lr_usage.set(usage);
    }

    /// Whether the saved list register 0 is free.
    #[inline]
    pub fn is_lr0_free(&self) -> bool {
        // Neither pending nor active.
        self.interface.lrs[0].get() >> 62 == 0
    }

    /// Saves the interface of this core, without the list registers of the cold context, and disables it.
    /// It must be loaded before it is enabled again.
    #[inline(always)]
    pub fn save_interface(&self) {
        // Disabled, because empty list registers may raise a maintenance interrupt.
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the stores cover `control` and `lrs`; a disabled interface signals no interrupt.
        unsafe {
            core::arch::asm!(
                "mrs {a}, ich_vmcr_el2", "mrs {b}, ich_ap0r0_el2",
                "stp {a}, {b}, [{to}, #{control}]",
                "mrs {a}, ich_ap1r0_el2", "mrs {b}, ich_hcr_el2",
                "stp {a}, {b}, [{to}, #{control} + 16]",
                "mrs {a}, ich_lr0_el2", "mrs {b}, ich_lr1_el2",
                "stp {a}, {b}, [{to}, #{lrs}]",
                "msr ich_hcr_el2, xzr",
                to = in(reg) core::ptr::from_ref(self), a = out(reg) _, b = out(reg) _,
                control = const offset_of!(Self, interface.control),
                lrs = const offset_of!(Self, interface.lrs),
                options(nostack, preserves_flags)
            );
        }
    }

    /// Loads the interface of this core. Its previous contents must be saved or dead.
    #[inline(always)]
    pub fn load_interface(&self) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the virtual CPU interface affects EL1 only.
        unsafe {
            core::arch::asm!(
                "ldp {a}, {b}, [{from}, #{lrs}]",
                "msr ich_lr0_el2, {a}", "msr ich_lr1_el2, {b}",
                "ldp {a}, {b}, [{from}, #{control}]",
                "msr ich_vmcr_el2, {a}", "msr ich_ap0r0_el2, {b}",
                "ldp {a}, {b}, [{from}, #{control} + 16]",
                "msr ich_ap1r0_el2, {a}", "msr ich_hcr_el2, {b}",
                from = in(reg) core::ptr::from_ref(self), a = out(reg) _, b = out(reg) _,
                control = const offset_of!(Self, interface.control),
                lrs = const offset_of!(Self, interface.lrs),
                options(nostack, preserves_flags)
            );
        }
    }
}

/// The other list registers.
impl ColdContext {
    /// Saves and empties those in use.
    pub fn save_lrs(&self, usage: LrUsage) {
        self.each_of(usage, |index, list| {
            list.set(ich_lr::read(index));
            ich_lr::write(index, 0);
        });
    }

    /// Loads those in use, before the interface is enabled.
    pub fn load_lrs(&self, usage: LrUsage) {
        self.each_of(usage, |index, list| ich_lr::write(index, list.get()));
    }

    fn each_of(&self, usage: LrUsage, action: impl Fn(usize, &Cell<u64>)) {
        let mut left = usage.registers() & !EAGER_LRS;
        while left != 0 {
            let index = left.trailing_zeros() as usize;
            left &= left - 1;
            if let Some(list) = self.lrs.get(index - 2) {
                action(index, list);
            }
        }
    }
}

impl Default for VirtualCpuInterface {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{LrUsage, TimerIrq};
    use crate::Context;

    #[test]
    fn a_cleared_interface_is_like_a_new_one() {
        let context = Context::new();
        context.interface.lrs[0].set(1 << 62);
        context.set_lr_usage(LrUsage::EMPTY.with_lr(0, true));
        assert!(!context.is_lr0_free());
        context.clear_interface();
        assert!(context.is_lr0_free());
        assert_eq!(context.lr_usage(), LrUsage::EMPTY);
    }

    #[test]
    fn usage_and_timer_location_share_one_word() {
        for timer in [TimerIrq::NotListed, TimerIrq::InLr0, TimerIrq::InOtherLr] {
            let listed = LrUsage::EMPTY.with_lr(1, true).with_timer_irq(timer);
            assert_eq!((listed.registers(), listed.timer_irq()), (2, timer));
            let (first, cleared) = (listed.with_lr(0, true), listed.cleared());
            let left = match timer {
                TimerIrq::InLr0 => TimerIrq::InOtherLr,
                other => other,
            };
            assert_eq!((first.registers(), first.timer_irq()), (3, left));
            assert_eq!((cleared.registers(), cleared.timer_irq()), (0, left));
            assert_eq!(listed.with_lr(2, true).with_lr(2, false), listed);
            let usual = listed.is_fast_switch(LrUsage::EMPTY);
            assert_eq!(usual, timer != TimerIrq::InOtherLr);
            assert!(!listed.is_fast_switch(LrUsage::EMPTY.with_lr(2, true)));
        }
    }
}
