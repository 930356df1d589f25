//! The virtual CPU interface of the interrupt controller, for cores that several virtual
//! CPUs share (IHI 0069, 12.4).

use core::cell::Cell;
use hw_arch::registers::ich_lr;

/// What a virtual CPU that is not on its core has in its virtual CPU interface.
#[derive(Debug)]
pub struct Interface {
    /// List registers that hold something, one bit each; the others were empty.
    held: Cell<u32>,
    lists: [Cell<u64>; 16],
    /// `ICH_VMCR_EL2`, `ICH_AP0R0_EL2`, `ICH_AP1R0_EL2` and `ICH_HCR_EL2`.
    control: Cell<[u64; 4]>,
}

impl Interface {
    /// That of a virtual CPU that never ran: off and empty.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            held: Cell::new(0),
            lists: [const { Cell::new(0) }; 16],
            control: Cell::new([0; 4]),
        }
    }

    /// Forgets what was taken down: off and empty.
    pub fn clear(&self) {
        self.held.set(0);
        self.control.set([0; 4]);
    }

    /// Takes down what is in the core's interface and leaves it off and empty; `held` has a
    /// bit for each list register that was written since it was empty. Whether the first
    /// one held an interrupt that has not ended.
    #[inline(always)]
    pub fn save(&self, held: u32) -> bool {
        // Pending or active. The first one is that of templates: once ended it is forgotten.
        const STATE: u64 = 3 << 62;
        let mut kept = held & !1;
        if held & 1 != 0 {
            let first = ich_lr::read(0);
            ich_lr::write(0, 0);
            if first & STATE != 0 {
                self.lists[0].set(first);
                kept |= 1;
            }
        }
        if held & !1 != 0 {
            self.save_others(held & !1);
        }
        self.held.set(kept);
        // Off, as empty list registers are what an interrupt of maintenance may wait for.
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the array has room for four; what is off and empty takes no interrupt.
        unsafe {
            core::arch::asm!(
                "mrs {a}, S3_4_C12_C11_7", "mrs {b}, S3_4_C12_C8_0", "stp {a}, {b}, [{to}]",
                "mrs {a}, S3_4_C12_C9_0", "mrs {b}, S3_4_C12_C11_0", "stp {a}, {b}, [{to}, #16]",
                "msr S3_4_C12_C11_0, xzr",
                to = in(reg) self.control.as_ptr(), a = out(reg) _, b = out(reg) _,
                options(nostack, preserves_flags)
            );
        }
        kept & 1 != 0
    }

    #[inline(never)]
    fn save_others(&self, mut held: u32) {
        while held != 0 {
            let index = held.trailing_zeros() as usize % self.lists.len();
            held &= held - 1;
            self.lists[index].set(ich_lr::read(index));
            ich_lr::write(index, 0);
        }
    }

    #[inline(never)]
    fn load_lists(&self, mut held: u32) {
        while held != 0 {
            let index = held.trailing_zeros() as usize % self.lists.len();
            held &= held - 1;
            ich_lr::write(index, self.lists[index].get());
        }
    }

    /// Puts it back into the core's interface, which is empty; returns the list registers
    /// that hold something.
    #[inline(always)]
    pub fn load(&self) -> u32 {
        let held = self.held.get();
        if held != 0 {
            self.load_lists(held);
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: binds EL1 only.
        unsafe {
            core::arch::asm!(
                "ldp {a}, {b}, [{from}]", "msr S3_4_C12_C11_7, {a}", "msr S3_4_C12_C8_0, {b}",
                "ldp {a}, {b}, [{from}, #16]", "msr S3_4_C12_C9_0, {a}", "msr S3_4_C12_C11_0, {b}",
                from = in(reg) self.control.as_ptr(), a = out(reg) _, b = out(reg) _,
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
