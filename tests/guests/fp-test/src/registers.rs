//! Fill and read back the floating-point registers.

/// Values of v0 to v31, FPCR and FPSR.
#[repr(C, align(16))]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Registers {
    pub vectors: [u128; 32],
    pub control: u64,
    pub status: u64,
}

/// FPCR: round towards minus infinity, flush to zero, default NaN (Arm ARM, C5.2.8).
pub const CONTROL: u64 = 1 << 25 | 1 << 24 | 0b10 << 22;
/// FPSR: saturation and all cumulative exceptions but one (Arm ARM, C5.2.10).
pub const STATUS: u64 = 1 << 27 | 0b1_1110;

impl Registers {
    /// All registers zero.
    pub const fn new() -> Self {
        Self {
            vectors: [0; 32],
            control: 0,
            status: 0,
        }
    }

    /// A distinct value in each register, both halves of which depend on `seed`.
    pub fn filled(seed: u64) -> Self {
        let mix = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed.rotate_left(17);
        let vectors = core::array::from_fn(|index| {
            let number = index as u64 * 2;
            u128::from(mix(number)) << 64 | u128::from(mix(number + 1))
        });
        Self {
            vectors,
            control: CONTROL,
            status: STATUS,
        }
    }
}

#[cfg(target_arch = "aarch64")]
pub use real::{fill, hold, keep_over};

#[cfg(target_arch = "aarch64")]
mod real {
    use super::Registers;
    use core::arch::naked_asm;
    use core::sync::atomic::AtomicBool;

    /// Loads `given` into the registers and stores them to `found`; x0 and x1 hold the addresses.
    macro_rules! around {
        ($($between:literal),* $(,)?) => {
            naked_asm!(
                ".arch_extension fp",
                ".arch_extension simd",
                ".macro all operation, base",
                "    \\operation q0, q1, [\\base]",
                "    \\operation q2, q3, [\\base, #32]",
                "    \\operation q4, q5, [\\base, #64]",
                "    \\operation q6, q7, [\\base, #96]",
                "    \\operation q8, q9, [\\base, #128]",
                "    \\operation q10, q11, [\\base, #160]",
                "    \\operation q12, q13, [\\base, #192]",
                "    \\operation q14, q15, [\\base, #224]",
                "    \\operation q16, q17, [\\base, #256]",
                "    \\operation q18, q19, [\\base, #288]",
                "    \\operation q20, q21, [\\base, #320]",
                "    \\operation q22, q23, [\\base, #352]",
                "    \\operation q24, q25, [\\base, #384]",
                "    \\operation q26, q27, [\\base, #416]",
                "    \\operation q28, q29, [\\base, #448]",
                "    \\operation q30, q31, [\\base, #480]",
                ".endm",
                // Callee-saved registers.
                "stp x29, x30, [sp, #-96]!",
                "stp d8, d9, [sp, #16]",
                "stp d10, d11, [sp, #32]",
                "stp d12, d13, [sp, #48]",
                "stp d14, d15, [sp, #64]",
                "str x1, [sp, #80]",
                "all ldp, x0",
                "ldr x9, [x0, #512]",
                "ldr x10, [x0, #520]",
                "msr fpcr, x9",
                "msr fpsr, x10",
                $($between,)*
                "ldr x1, [sp, #80]",
                "mrs x9, fpcr",
                "mrs x10, fpsr",
                "all stp, x1",
                "str x9, [x1, #512]",
                "str x10, [x1, #520]",
                "msr fpcr, xzr",
                "msr fpsr, xzr",
                "ldp d8, d9, [sp, #16]",
                "ldp d10, d11, [sp, #32]",
                "ldp d12, d13, [sp, #48]",
                "ldp d14, d15, [sp, #64]",
                "ldp x29, x30, [sp], #96",
                "ret",
                ".purgem all",
            )
        };
    }

    /// Keeps `given` in the registers until `stop`.
    #[unsafe(naked)]
    pub extern "C" fn hold(given: &Registers, found: &mut Registers, stop: &AtomicBool) {
        around!("2: ldrb w9, [x2]", "cbz w9, 2b")
    }

    /// Keeps `given` in the registers during a call of `action`.
    #[unsafe(naked)]
    pub extern "C" fn keep_over(given: &Registers, found: &mut Registers, action: extern "C" fn()) {
        around!("blr x2")
    }

    /// Fills the registers with `given`, except for callee-saved ones; FPCR and FPSR keep these values.
    #[unsafe(naked)]
    pub extern "C" fn fill(given: &Registers) {
        naked_asm!(
            ".arch_extension fp",
            ".arch_extension simd",
            "stp d8, d9, [sp, #-64]!",
            "stp d10, d11, [sp, #16]",
            "stp d12, d13, [sp, #32]",
            "stp d14, d15, [sp, #48]",
            "ldp q0, q1, [x0]",
            "ldp q2, q3, [x0, #32]",
            "ldp q4, q5, [x0, #64]",
            "ldp q6, q7, [x0, #96]",
            "ldp q8, q9, [x0, #128]",
            "ldp q10, q11, [x0, #160]",
            "ldp q12, q13, [x0, #192]",
            "ldp q14, q15, [x0, #224]",
            "ldp q16, q17, [x0, #256]",
            "ldp q18, q19, [x0, #288]",
            "ldp q20, q21, [x0, #320]",
            "ldp q22, q23, [x0, #352]",
            "ldp q24, q25, [x0, #384]",
            "ldp q26, q27, [x0, #416]",
            "ldp q28, q29, [x0, #448]",
            "ldp q30, q31, [x0, #480]",
            "ldr x9, [x0, #512]",
            "ldr x10, [x0, #520]",
            "msr fpcr, x9",
            "msr fpsr, x10",
            "ldp d10, d11, [sp, #16]",
            "ldp d12, d13, [sp, #32]",
            "ldp d14, d15, [sp, #48]",
            "ldp d8, d9, [sp], #64",
            "ret",
        )
    }
}

#[cfg(not(target_arch = "aarch64"))]
pub use host::{fill, hold, keep_over};

/// Stub for the host, which has no such registers.
#[cfg(not(target_arch = "aarch64"))]
mod host {
    use super::Registers;
    use core::sync::atomic::AtomicBool;

    pub extern "C" fn hold(_: &Registers, _: &mut Registers, _: &AtomicBool) {}
    pub extern "C" fn keep_over(_: &Registers, _: &mut Registers, _: extern "C" fn()) {}
    pub extern "C" fn fill(_: &Registers) {}
}
