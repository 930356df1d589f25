//! Image entry: the instructions before the first Rust function.
//!
//! [`image_entry!`](crate::image_entry) writes them for one exception level. An
//! image begins with the header of a Linux arm64 `Image`, so that any boot
//! loader that starts Linux, QEMU's `-kernel` and Mortise itself start it alike:
//! at its first byte, MMU and caches off, interrupts masked, x0 an argument
//! (Linux, Documentation/arch/arm64/booting.rst).
//!
//! Rust's atomics need cacheable memory, so nothing of Rust runs before the
//! early table is on: four level-1 entries that map the low 4 GiB one to one,
//! each gibibyte as normal memory or as device memory. The kernel builds its own
//! table afterwards and changes to it with [`crate::mmu::activate`].
//!
//! What may be used when:
//!
//! | stage | MMU | stack | Rust |
//! |---|---|---|---|
//! | `image_start`, `secondary_start` | off | none | no |
//! | `$main(argument)` | early table | boot stack | yes, one core |
//! | `$secondary(argument)` | early table | its own | yes |

use crate::ExceptionLevel;

/// Early translation table: four gibibytes, one to one.
///
/// `TCR.T0SZ` = 32, so that the walk starts at level 1 with four entries.
#[repr(C, align(64))]
pub struct EarlyTable([u64; 4]);

impl EarlyTable {
    /// Table for level `L` in which the gibibytes that overlap `[start, end)` are normal memory. The
    /// others are device memory, which is never executable, as a core may fetch speculatively from
    /// executable memory.
    ///
    /// ```
    /// use hw_arch::{El2, entry::EarlyTable};
    /// let table = EarlyTable::new::<El2>(0x4000_0000, 0x8000_0000);
    /// assert_eq!(table.entries()[0] & 1 << 54, 1 << 54);
    /// assert_eq!(table.entries()[1] >> 30, 1);
    /// ```
    #[must_use]
    pub const fn new<L: ExceptionLevel>(start: usize, end: usize) -> Self {
        const GIB: usize = 1 << 30;
        /// Valid block, access flag.
        const BLOCK: u64 = 1 | 1 << 10;
        const NORMAL: u64 = BLOCK | (crate::mmu::NORMAL as u64) << 2 | 3 << 8;
        const DEVICE: u64 = BLOCK | (crate::mmu::DEVICE as u64) << 2 | 1 << 54;
        // A regime of two privilege levels has a second execute-never bit, one of
        // a single level an access permission that is RES1 (Arm ARM, D8.4.1).
        let (normal, device) = match L::LEVEL {
            1 => (NORMAL, DEVICE | 1 << 53),
            _ => (NORMAL | 1 << 6, DEVICE | 1 << 6),
        };
        let mut entries = [0; 4];
        let mut index = 0;
        while index < entries.len() {
            let base = index * GIB;
            let attributes = if base < end && base + GIB > start {
                normal
            } else {
                device
            };
            entries[index] = base as u64 | attributes;
            index += 1;
        }
        Self(entries)
    }

    /// The four descriptors.
    #[must_use]
    pub const fn entries(&self) -> &[u64; 4] {
        &self.0
    }
}

/// Argument of a secondary core's start: its stack and one word for its kernel.
///
/// Passed by address as the context of PSCI `CPU_ON`, and read once the early
/// table is on.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy)]
pub struct SecondaryStart {
    /// Initial stack pointer, 16-byte aligned.
    pub stack: usize,
    /// First argument of the secondary's Rust function.
    pub argument: usize,
}

/// Writes the entry of an image.
///
/// ```text
/// hw_arch::image_entry! {
///     level: "el2",               // or "el1"
///     early: EARLY_TABLE,         // a static hw_arch::entry::EarlyTable
///     stack: BOOT_STACK + 16384,  // first byte after the boot stack: symbol, offset
///     main: main,                 // extern "C" fn(argument: usize) -> !
///     secondary: secondary,       // extern "C" fn(argument: usize) -> !
///     other: drop_to_el1,         // code for a core found at another level
/// }
/// ```
///
/// `main`, `secondary`, `early` and `stack` are unmangled symbols. A core found
/// at another exception level branches to `other` with the link register set to
/// return at the right level, or parks there. `secondary_start` is the entry for
/// PSCI `CPU_ON` with the address of a [`SecondaryStart`] as context.
#[macro_export]
macro_rules! image_entry {
    (
        level: $el:tt, early: $early:ident, stack: $stack:ident $(+ $offset:expr)?,
        main: $main:ident, secondary: $secondary:ident, other: $other:ident $(,)?
    ) => {
        #[cfg(target_os = "none")]
        core::arch::global_asm!(
            ".section .image.head, \"ax\"",
            ".global image_start",
            "image_start:",
            // Image header: code, offset, size, little endian with 4 KiB pages
            // and placement anywhere in RAM, magic. The packer sets the size of
            // a whole system.
            "    b 1f",
            "    .long 0",
            "    .quad IMAGE_OFFSET",
            "    .quad IMAGE_SIZE",
            "    .quad 0xa",
            "    .quad 0, 0, 0",
            "    .ascii \"ARM\\x64\"",
            "    .long 0",
            "1:  mov x19, x0",
            "    bl 3f",
            "    bl 5f",
            // Clear the bss through the caches, which are on now: by DC ZVA blocks unless
            // DCZID_EL0.DZP prohibits it (Arm ARM, D7.5.9). The bss consists of whole
            // pages, so that two blocks are cleared at a time.
            "    adrp x0, __bss_start",
            "    adrp x1, __bss_end",
            "    mrs x2, dczid_el0",
            "    mov x3, #4",
            "    lsl x3, x3, x2",
            "    cmp x0, x1",
            "    b.hs 4f",
            "    tbnz x2, #4, 6f",
            "2:  dc zva, x0",
            "    add x0, x0, x3",
            "    dc zva, x0",
            "    add x0, x0, x3",
            "    cmp x0, x1",
            "    b.lo 2b",
            "    b 4f",
            "6:  stp xzr, xzr, [x0], #16",
            "    cmp x0, x1",
            "    b.lo 6b",
            "4:",
            concat!("    adrp x0, ", stringify!($stack)),
            concat!("    add x0, x0, :lo12:", stringify!($stack)),
            "    mov x1, #({offset} & 0xffff)",
            "    movk x1, #({offset} >> 16), lsl #16",
            "    add sp, x0, x1",
            "    mov x0, x19",
            "    mov x29, xzr",
            "    mov x30, xzr",
            concat!("    b ", stringify!($main)),
            ".global secondary_start",
            "secondary_start:",
            "    mov x19, x0",
            "    bl 3f",
            "    bl 5f",
            "    ldp x1, x0, [x19]",
            "    mov sp, x1",
            "    mov x29, xzr",
            "    mov x30, xzr",
            concat!("    b ", stringify!($secondary)),
            // 3: the right exception level, SP_ELx, interrupts masked.
            "3:  mrs x0, CurrentEL",
            concat!("    cmp x0, #", $crate::current_el!($el)),
            concat!("    b.ne ", stringify!($other)),
            "    msr spsel, #1",
            "    msr daifset, #15",
            $crate::early_regime!($el),
            "    ret",
            // 5: early table on, MAIR and SCTLR as in hw_arch::mmu, W^X later. The
            // reset value of SCTLR is unknown.
            concat!("5:  adrp x0, ", stringify!($early)),
            concat!("    add x0, x0, :lo12:", stringify!($early)),
            concat!("    msr ttbr0_", $el, ", x0"),
            "    mov x0, #0xff04",
            concat!("    msr mair_", $el, ", x0"),
            "    mrs x0, id_aa64mmfr0_el1",
            "    and x0, x0, #7",
            $crate::early_tcr!($el),
            concat!("    msr tcr_", $el, ", x0"),
            "    isb",
            $crate::early_invalidate!($el),
            "    dsb nsh",
            "    isb",
            "    mov x0, #({control} & 0xffff)",
            "    movk x0, #({control} >> 16), lsl #16",
            concat!("    msr sctlr_", $el, ", x0"),
            "    isb",
            "    ret",
            ".previous",
            offset = const 0usize $(+ $offset)?,
            control = const $crate::mmu::control($crate::level_number!($el), false),
        );
    };
}

/// `CurrentEL` of a level, as assembly text.
#[doc(hidden)]
#[macro_export]
macro_rules! current_el {
    ("el1") => {
        "4"
    };
    ("el2") => {
        "8"
    };
}

/// Number of a level.
#[doc(hidden)]
#[macro_export]
macro_rules! level_number {
    ("el1") => {
        1
    };
    ("el2") => {
        2
    };
}

/// Selection of the level's translation regime, as assembly text: EL2 has its own regime
/// (E2H = 0), independent of the state that the firmware left.
#[doc(hidden)]
#[macro_export]
macro_rules! early_regime {
    ("el1") => {
        ""
    };
    ("el2") => {
        "    mov x0, #0x80000000\n    msr hcr_el2, x0\n    isb"
    };
}

/// `TCR` for the early table from the address size in x0, as assembly text.
#[doc(hidden)]
#[macro_export]
macro_rules! early_tcr {
    ("el1") => {
        "    lsl x0, x0, #32\n    mov x1, #0x3520\n    movk x1, #0x80, lsl #16\n    orr x0, x0, x1"
    };
    ("el2") => {
        "    lsl x0, x0, #16\n    mov x1, #0x3520\n    movk x1, #0x8080, lsl #16\n    orr x0, x0, x1"
    };
}

/// Invalidation of the level's translations, as assembly text.
#[doc(hidden)]
#[macro_export]
macro_rules! early_invalidate {
    ("el1") => {
        "    tlbi vmalle1"
    };
    ("el2") => {
        "    tlbi alle2"
    };
}

#[cfg(test)]
mod tests {
    use super::EarlyTable;
    use crate::{El1, El2};

    #[test]
    fn nothing_is_fetched_from_devices() {
        let one = EarlyTable::new::<El1>(0x4000_0000, 0x8000_0001);
        let two = EarlyTable::new::<El2>(0x4000_0000, 0x8000_0000);
        let device = |gib: u64, never: u64| gib << 30 | 1 | 1 << 10 | never;
        assert_eq!(one.entries()[0], device(0, 3 << 53));
        assert_eq!(two.entries()[3], device(3, 1 << 54 | 1 << 6));
        // Inner shareable, attribute index 1; no access from EL0, which would
        // take execution from EL1.
        assert_eq!(one.entries()[2], 2 << 30 | 1 | 1 << 2 | 3 << 8 | 1 << 10);
        assert_eq!(
            two.entries()[1],
            1 << 30 | 1 | 1 << 2 | 1 << 6 | 3 << 8 | 1 << 10
        );
    }
}
