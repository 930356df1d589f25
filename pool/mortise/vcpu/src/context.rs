//! What of a virtual CPU is in the core's registers beside the general ones, for cores
//! that several share.
//!
//! | state | when it is exchanged |
//! |---|---|
//! | EL1's system registers, virtual timer, program counter and state | at each switch |
//! | stage 2 and the identity that the guest reads | at each switch, read-only |
//! | pointer authentication keys, auxiliary registers | at each switch, where the core has them |
//! | [floating point and SIMD](crate::FloatingPoint) | when another virtual CPU uses them |
//!
//! What a guest cannot change stands in no context: what traps ([`Traps`](crate::Traps)),
//! debug and the performance monitor among it, is the same for all of a shared core.

use crate::Interface;
use core::cell::{Cell, UnsafeCell};

/// Registers that are exchanged two by two, each pair with its offset in a [`Context`].
///
/// Arm ARM D19.2 lists what EL1 and EL0 can write; those of ARMv8.0 and no others, as
/// what came later is off in `SCTLR_EL1` and `HCR_EL2` or absent.
#[cfg(any(test, target_arch = "aarch64"))]
macro_rules! pairs {
    ($each:ident) => {
        concat!(
            $each!("elr_el2", "spsr_el2", "0"),
            $each!("sctlr_el1", "cpacr_el1", "16"),
            $each!("ttbr0_el1", "ttbr1_el1", "32"),
            $each!("tcr_el1", "mair_el1", "48"),
            $each!("vbar_el1", "contextidr_el1", "64"),
            $each!("tpidr_el0", "tpidrro_el0", "80"),
            $each!("tpidr_el1", "sp_el0", "96"),
            $each!("sp_el1", "elr_el1", "112"),
            $each!("spsr_el1", "esr_el1", "128"),
            $each!("far_el1", "par_el1", "144"),
            $each!("csselr_el1", "cntkctl_el1", "160"),
        )
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! save_pair {
    ($one:literal, $other:literal, $offset:literal) => {
        concat!(
            "mrs {a}, ",
            $one,
            "\nmrs {b}, ",
            $other,
            "\nstp {a}, {b}, [{to}, #",
            $offset,
            "]\n"
        )
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! load_pair {
    ($one:literal, $other:literal, $offset:literal) => {
        concat!(
            "ldp {a}, {b}, [{from}, #",
            $offset,
            "]\nmsr ",
            $one,
            ", {a}\nmsr ",
            $other,
            ", {b}\n"
        )
    };
}

/// Pointer authentication keys (Arm ARM, D19.2): instruction A and B, data A and B, generic.
#[cfg(target_arch = "aarch64")]
macro_rules! keys {
    ($each:ident) => {
        concat!(
            $each!("S3_0_C2_C1_0", "S3_0_C2_C1_1", "0"),
            $each!("S3_0_C2_C1_2", "S3_0_C2_C1_3", "16"),
            $each!("S3_0_C2_C2_0", "S3_0_C2_C2_1", "32"),
            $each!("S3_0_C2_C2_2", "S3_0_C2_C2_3", "48"),
            $each!("S3_0_C2_C3_0", "S3_0_C2_C3_1", "64"),
        )
    };
}

/// Registers whose meaning is up to the core, which has them read as zero if it has none.
#[cfg(target_arch = "aarch64")]
macro_rules! auxiliary {
    ($each:ident) => {
        concat!(
            $each!("amair_el1", "afsr0_el1", "0"),
            $each!("afsr1_el1", "amair_el1", "16"),
        )
    };
}

/// Bytes of what `pairs` lists.
const PAIRS: usize = 176;

/// What each switch exchanges of a virtual CPU that is not on its core: within reach of the loads and
/// stores of two words from its address.
#[repr(C, align(16))]
#[derive(Debug)]
pub struct Context {
    registers: UnsafeCell<[u64; PAIRS / 8]>,
    /// `CNTV_CVAL_EL0` and `CNTV_CTL_EL0`: the timer of who is not on the core is off.
    timer: UnsafeCell<[u64; 2]>,
    /// `VTTBR_EL2` and `VMPIDR_EL2`.
    identity: UnsafeCell<[u64; 2]>,
    /// What is in the virtual CPU interface.
    pub(crate) interface: Interface,
}

/// What few switches exchange.
#[derive(Debug)]
pub struct ColdContext {
    /// List registers from the third one on.
    pub(crate) lists: [Cell<u64>; 14],
    keys: UnsafeCell<[u64; 10]>,
    auxiliary: UnsafeCell<[u64; 4]>,
}

/// What this core has that few cores have, and that is exchanged too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionalRegisters(u8);

impl OptionalRegisters {
    /// Nothing.
    pub const NONE: Self = Self(0);
    const KEYS: u8 = 1;
    const AUXILIARY: u8 = 2;

    /// What this core has.
    ///
    /// # Safety
    ///
    /// Nobody's registers of EL1 may be in the core.
    #[must_use]
    pub unsafe fn detect() -> Self {
        use hw_arch::{read_register, write_register};
        macro_rules! keeps {
            ($name:literal) => {{
                write_register!($name, u64::MAX);
                hw_arch::barrier::isb();
                let kept = read_register!($name) != 0;
                write_register!($name, 0);
                kept
            }};
        }
        let keys = has_pointer_auth();
        let auxiliary = keeps!("amair_el1") | keeps!("afsr0_el1") | keeps!("afsr1_el1");
        Self((u8::from(keys) * Self::KEYS) | (u8::from(auxiliary) * Self::AUXILIARY))
    }
}

/// Whether the core authenticates pointers, so that there are keys to exchange.
#[must_use]
pub fn has_pointer_auth() -> bool {
    // ID_AA64ISAR1_EL1: APA, API, GPA, GPI.
    hw_arch::read_register!("id_aa64isar1_el1") & 0xff00_0ff0 != 0
}

// SAFETY: the cells are reached by `save` and `load`, whose callers vouch that one core at
// a time does, and by reads of single words that were written by that core.
unsafe impl Sync for Context {}
// SAFETY: as above.
unsafe impl Sync for ColdContext {}

/// `CNTV_CTL_EL0`: ENABLE without IMASK.
const SIGNALS: u64 = 1;
const SIGNALS_MASK: u64 = 3;

/// When the virtual timer in the core's registers signals, if it ever does.
#[inline]
#[must_use]
pub fn timer_deadline() -> Option<u64> {
    use hw_arch::registers::{cntv_ctl_el0, cntv_cval_el0};
    (cntv_ctl_el0::read() & SIGNALS_MASK == SIGNALS).then(cntv_cval_el0::read)
}

impl Context {
    /// The context of a virtual CPU that never ran.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            registers: UnsafeCell::new([0; PAIRS / 8]),
            timer: UnsafeCell::new([0; 2]),
            identity: UnsafeCell::new([0; 2]),
            interface: Interface::new(),
        }
    }

    /// Makes it that of a virtual CPU with these values of `VTTBR_EL2` and `VMPIDR_EL2`.
    ///
    /// # Safety
    ///
    /// Nobody else may use the context.
    pub unsafe fn set_identity(&self, vttbr: u64, vmpidr: u64) {
        // SAFETY: the caller is alone with it.
        unsafe { *self.identity.get() = [vttbr, vmpidr] };
    }

    /// Takes down the virtual timer and turns it off: what it signals and nobody has taken yet, it
    /// signals when it is back.
    ///
    /// # Safety
    ///
    /// The registers must hold this virtual CPU; nobody else may use its context.
    #[inline]
    pub unsafe fn save_timer(&self) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the array has room for both; the caller is alone with it.
        unsafe {
            core::arch::asm!(
                "mrs {a}, cntv_cval_el0",
                "mrs {b}, cntv_ctl_el0",
                "stp {a}, {b}, [{to}, #176]",
                "msr cntv_ctl_el0, xzr",
                to = in(reg) core::ptr::from_ref(self), a = out(reg) _, b = out(reg) _,
                options(nostack, preserves_flags)
            );
        }
    }

    /// Lets the virtual timer go on that [`save_timer`](Self::save_timer) turned off.
    ///
    /// # Safety
    ///
    /// As there, and nobody else may have used the timer since.
    pub unsafe fn resume_timer(&self) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: binds EL1 only; the caller is alone with the array.
        unsafe {
            let [_, control] = *self.timer.get();
            hw_arch::registers::cntv_ctl_el0::write(control);
        }
    }

    /// Takes down what else is in the core's registers.
    ///
    /// # Safety
    ///
    /// The registers must hold this virtual CPU; nobody else may use its context.
    #[inline]
    pub unsafe fn save(&self) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the array has room for all pairs; the caller is alone with it.
        unsafe {
            core::arch::asm!(
                pairs!(save_pair),
                to = in(reg) core::ptr::from_ref(self), a = out(reg) _, b = out(reg) _,
                options(nostack, preserves_flags)
            );
        }
    }

    /// Puts it back into the core's registers, with stage 2 and affinity of the virtual CPU.
    ///
    /// # Safety
    ///
    /// What the registers held must have been saved, or not be needed; nobody else may use
    /// the context, which must have been [identified](Self::identify) by its machine.
    #[inline]
    pub unsafe fn load(&self) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: all bind EL1 and EL0 only; the caller vouches for stage 2.
        unsafe {
            core::arch::asm!(
                load_pair!("vttbr_el2", "vmpidr_el2", "192"),
                pairs!(load_pair),
                "ldp {a}, {b}, [{from}, #176]",
                "msr cntv_cval_el0, {a}",
                "msr cntv_ctl_el0, {b}",
                from = in(reg) core::ptr::from_ref(self), a = out(reg) _, b = out(reg) _,
                options(nostack, preserves_flags)
            );
        }
    }
}

impl Default for Context {
    fn default() -> Self {
        Self::new()
    }
}

impl ColdContext {
    /// That of a virtual CPU that never ran.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            lists: [const { Cell::new(0) }; 14],
            keys: UnsafeCell::new([0; 10]),
            auxiliary: UnsafeCell::new([0; 4]),
        }
    }

    /// Takes down what few cores have.
    ///
    /// # Safety
    ///
    /// As for [`Context::save`], and the core must have it.
    pub unsafe fn save(&self, optional: OptionalRegisters) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as in `save`; the core has these registers.
        unsafe {
            if optional.0 & OptionalRegisters::KEYS != 0 {
                core::arch::asm!(
                    keys!(save_pair),
                    to = in(reg) self.keys.get(), a = out(reg) _, b = out(reg) _,
                    options(nostack, preserves_flags)
                );
            }
            if optional.0 & OptionalRegisters::AUXILIARY != 0 {
                core::arch::asm!(
                    auxiliary!(save_pair),
                    to = in(reg) self.auxiliary.get(), a = out(reg) _, b = out(reg) _,
                    options(nostack, preserves_flags)
                );
            }
        }
        #[cfg(not(target_arch = "aarch64"))]
        let _ = (optional, &self.keys, &self.auxiliary);
    }

    /// Puts back what few cores have.
    ///
    /// # Safety
    ///
    /// As for [`Context::load`], and the core must have it.
    pub unsafe fn load(&self, optional: OptionalRegisters) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as in `load`; the core has these registers.
        unsafe {
            if optional.0 & OptionalRegisters::KEYS != 0 {
                core::arch::asm!(
                    keys!(load_pair),
                    from = in(reg) self.keys.get(), a = out(reg) _, b = out(reg) _,
                    options(nostack, preserves_flags)
                );
            }
            if optional.0 & OptionalRegisters::AUXILIARY != 0 {
                core::arch::asm!(
                    auxiliary!(load_pair),
                    from = in(reg) self.auxiliary.get(), a = out(reg) _, b = out(reg) _,
                    options(nostack, preserves_flags)
                );
            }
        }
        #[cfg(not(target_arch = "aarch64"))]
        let _ = (optional, &self.keys, &self.auxiliary);
    }
}

impl Default for ColdContext {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{Context, PAIRS};

    #[test]
    fn layout_is_the_assembly_s() {
        assert_eq!(PAIRS, 160 + 16, "the last pair's offset");
        assert_eq!(core::mem::offset_of!(Context, registers), 0);
        assert_eq!(core::mem::offset_of!(Context, timer), 176);
        assert_eq!(core::mem::offset_of!(Context, identity), 192);
        assert_eq!(core::mem::offset_of!(Context, interface), 208);
        let listed = pairs!(count);
        assert_eq!(listed.len(), PAIRS / 16, "one mark for each pair");
    }

    macro_rules! count {
        ($one:literal, $other:literal, $offset:literal) => {
            "x"
        };
    }
    use count;
}
