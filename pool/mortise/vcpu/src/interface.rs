//! The virtual CPU interface of the interrupt controller, for cores that several virtual
//! CPUs share (IHI 0069, 12.4).

use core::cell::Cell;
use hw_arch::registers::ich_lr;

/// What a virtual CPU that is not on its core has in its virtual CPU interface.
///
/// The first two list registers, the timer's and a device's as a rule, are exchanged as they are:
/// that takes fewer instructions than to find out whether they hold something. Others are where
/// they do.
#[repr(C, align(16))]
#[derive(Debug)]
pub struct Interface {
    /// `ICH_VMCR_EL2`, `ICH_AP0R0_EL2`, `ICH_AP1R0_EL2` and `ICH_HCR_EL2`.
    control: Cell<[u64; 4]>,
    lists: [Cell<u64>; 16],
    /// List registers that were written since they were empty, one bit each.
    held: Cell<u32>,
}

/// The list registers that are always exchanged.
const ALWAYS: u32 = 3;

impl Interface {
    /// That of a virtual CPU that never ran: off and empty.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            control: Cell::new([0; 4]),
            lists: [const { Cell::new(0) }; 16],
            held: Cell::new(0),
        }
    }

    /// Forgets what was taken down: off and empty.
    pub fn clear(&self) {
        self.held.set(0);
        self.control.set([0; 4]);
        self.lists.iter().for_each(|list| list.set(0));
    }

    /// Whether the first list register is free, as it was taken down.
    #[inline]
    pub fn is_first_free(&self) -> bool {
        // Neither pending nor active.
        self.lists[0].get() >> 62 == 0
    }

    /// Takes down what is in the core's interface and leaves it off, to be loaded before it is
    /// turned on again; `held` has a bit for each list register that was written since it was
    /// empty.
    #[inline(always)]
    pub fn save(&self, held: u32) {
        // Off, as empty list registers are what an interrupt of maintenance may wait for.
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the arrays have room for six; what is off takes no interrupt.
        unsafe {
            core::arch::asm!(
                "mrs {a}, S3_4_C12_C11_7", "mrs {b}, S3_4_C12_C8_0", "stp {a}, {b}, [{to}]",
                "mrs {a}, S3_4_C12_C9_0", "mrs {b}, S3_4_C12_C11_0", "stp {a}, {b}, [{to}, #16]",
                "mrs {a}, S3_4_C12_C12_0", "mrs {b}, S3_4_C12_C12_1", "stp {a}, {b}, [{to}, #32]",
                "msr S3_4_C12_C11_0, xzr",
                to = in(reg) core::ptr::from_ref(self), a = out(reg) _, b = out(reg) _,
                options(nostack, preserves_flags)
            );
        }
        self.held.set(held);
        if held & !ALWAYS != 0 {
            self.save_others(held & !ALWAYS);
        }
    }

    #[cold]
    #[inline(never)]
    fn save_others(&self, mut held: u32) {
        while held != 0 {
            let index = held.trailing_zeros() as usize % self.lists.len();
            held &= held - 1;
            self.lists[index].set(ich_lr::read(index));
            ich_lr::write(index, 0);
        }
    }

    #[cold]
    #[inline(never)]
    fn load_others(&self, mut held: u32) {
        while held != 0 {
            let index = held.trailing_zeros() as usize % self.lists.len();
            held &= held - 1;
            ich_lr::write(index, self.lists[index].get());
        }
    }

    /// Puts it back into the core's interface, of which nothing is needed; returns the list
    /// registers that may hold something.
    #[inline(always)]
    pub fn load(&self) -> u32 {
        let held = self.held.get();
        let others = held & !ALWAYS;
        if others != 0 {
            self.load_others(others);
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: binds EL1 only.
        unsafe {
            core::arch::asm!(
                "ldp {a}, {b}, [{from}, #32]", "msr S3_4_C12_C12_0, {a}", "msr S3_4_C12_C12_1, {b}",
                "ldp {a}, {b}, [{from}]", "msr S3_4_C12_C11_7, {a}", "msr S3_4_C12_C8_0, {b}",
                "ldp {a}, {b}, [{from}, #16]", "msr S3_4_C12_C9_0, {a}", "msr S3_4_C12_C11_0, {b}",
                from = in(reg) core::ptr::from_ref(self), a = out(reg) _, b = out(reg) _,
                options(nostack, preserves_flags)
            );
        }
        held
    }
}

impl Default for Interface {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::Interface;
    use core::mem::offset_of;

    #[test]
    fn layout_is_the_assembly_s() {
        assert_eq!(
            (offset_of!(Interface, control), offset_of!(Interface, lists)),
            (0, 32)
        );
    }

    #[test]
    fn what_is_cleared_is_as_if_it_never_ran() {
        let interface = Interface::new();
        interface.lists[0].set(1 << 62);
        interface.held.set(1);
        assert!(!interface.is_first_free());
        interface.clear();
        assert!(interface.is_first_free());
        assert_eq!(interface.held.get(), 0);
    }
}
