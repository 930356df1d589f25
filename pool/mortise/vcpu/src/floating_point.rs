//! Floating-point and SIMD registers of a vCPU on a shared core.

use core::cell::UnsafeCell;
use core::mem::offset_of;
use core::num::NonZeroU64;

/// Save area of the floating-point and SIMD registers of a vCPU.
#[repr(C, align(16))]
#[derive(Debug)]
pub struct FloatingPoint {
    control: UnsafeCell<[u64; 2]>,
    vectors: UnsafeCell<[u128; 32]>,
}

// The offsets in the assembly of `save` and `load`.
const _: () = assert!(offset_of!(FloatingPoint, control) == 0);
const _: () = assert!(offset_of!(FloatingPoint, vectors) == 16);

// SAFETY: the cells are accessed by `save` and `load` only. Their contracts admit one core at a time:
// that on which the vCPU is.
unsafe impl Sync for FloatingPoint {}

/// Whether floating point traps on a core: the value of `CPTR_EL2` with `TFP` set or clear. All other
/// bits are those of [`Traps::apply`](crate::Traps::apply).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloatingPointTrap(NonZeroU64);

impl FloatingPointTrap {
    /// Accesses trap.
    pub const ON: Self = Self::new(crate::traps::CPTR | 1 << 10);
    /// Accesses do not trap.
    pub const OFF: Self = Self::new(crate::traps::CPTR);

    const fn new(value: u64) -> Self {
        Self(NonZeroU64::new(value).expect("some bits are RES1"))
    }

    /// Applies the value to this core.
    #[inline]
    pub fn apply(self) {
        // SAFETY: the register affects EL1, EL0, and accesses of EL2 to floating point, which occur in
        // `save` and `load` only.
        unsafe { hw_arch::registers::cptr_el2::write(self.0.get()) };
    }
}

#[cfg(target_arch = "aarch64")]
macro_rules! vectors {
    ($instruction:literal) => {
        concat!(
            ".arch_extension fp\n.arch_extension simd\n",
            $instruction,
            " q0, q1, [{at}, #16]\n",
            $instruction,
            " q2, q3, [{at}, #48]\n",
            $instruction,
            " q4, q5, [{at}, #80]\n",
            $instruction,
            " q6, q7, [{at}, #112]\n",
            $instruction,
            " q8, q9, [{at}, #144]\n",
            $instruction,
            " q10, q11, [{at}, #176]\n",
            $instruction,
            " q12, q13, [{at}, #208]\n",
            $instruction,
            " q14, q15, [{at}, #240]\n",
            $instruction,
            " q16, q17, [{at}, #272]\n",
            $instruction,
            " q18, q19, [{at}, #304]\n",
            $instruction,
            " q20, q21, [{at}, #336]\n",
            $instruction,
            " q22, q23, [{at}, #368]\n",
            $instruction,
            " q24, q25, [{at}, #400]\n",
            $instruction,
            " q26, q27, [{at}, #432]\n",
            $instruction,
            " q28, q29, [{at}, #464]\n",
            $instruction,
            " q30, q31, [{at}, #496]\n",
        )
    };
}

impl FloatingPoint {
    /// All registers zero, as at power-on.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            vectors: UnsafeCell::new([0; 32]),
            control: UnsafeCell::new([0; 2]),
        }
    }

    /// Saves the registers of the core.
    ///
    /// # Safety
    ///
    /// The registers must hold the state of this vCPU and must not trap; access to the save area must be
    /// exclusive.
    #[inline]
    pub unsafe fn save(&self) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the stores cover both arrays, to which access is exclusive by the contract of the
        // function.
        unsafe {
            core::arch::asm!(
                vectors!("stp"),
                "mrs {a}, fpcr", "mrs {b}, fpsr", "stp {a}, {b}, [{at}]",
                at = in(reg) core::ptr::from_ref(self),
                a = out(reg) _, b = out(reg) _,
                options(nostack, preserves_flags)
            );
        }
    }

    /// Loads the registers of the core.
    ///
    /// # Safety
    ///
    /// The previous contents of the registers must be saved or dead, and they must not trap; access to
    /// the save area must be exclusive.
    #[inline]
    pub unsafe fn load(&self) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: code compiled for this target (softfloat) does not use these registers.
        unsafe {
            core::arch::asm!(
                vectors!("ldp"),
                "ldp {a}, {b}, [{at}]", "msr fpcr, {a}", "msr fpsr, {b}",
                at = in(reg) core::ptr::from_ref(self),
                a = out(reg) _, b = out(reg) _,
                options(nostack, preserves_flags)
            );
        }
    }
}

impl Default for FloatingPoint {
    fn default() -> Self {
        Self::new()
    }
}
