//! Register save area of a vCPU on a shared core, beside its general registers.
//!
//! | state | when it is exchanged |
//! |---|---|
//! | system registers of EL1, virtual timer, program counter and state | at each VM switch |
//! | stage 2 and the identification that the guest reads | at each VM switch, load only |
//! | pointer authentication keys, auxiliary registers, deferred SError, `TPIDR2_EL0` | at each VM switch, if the core implements them |
//! | [floating point and SIMD](crate::FloatingPoint) | when another vCPU uses them |
//!
//! A context holds no register that the guest cannot change: trapped registers
//! ([`Traps`](crate::Traps)), among them those of debug and the performance monitor, have one value for all vCPUs
//! of a shared core.

mod interface;

pub use interface::{LrUsage, TimerIrq, VirtualCpuInterface};

use core::cell::{Cell, UnsafeCell};
#[cfg(target_arch = "aarch64")]
use core::mem::offset_of;
use hw_arch::registers::{tpidr2_el0, vdisr_el2};

/// Registers that are exchanged in pairs, each pair with its offset in `Context::registers`.
///
/// These are the registers that EL1 and EL0 can write (Arm ARM, D19.2), of ARMv8.0 only: later ones
/// trap, are absent, or are [optional](OptionalRegisters).
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
            ".arch_extension pauth\n",
            $each!("apiakeylo_el1", "apiakeyhi_el1", "0"),
            $each!("apibkeylo_el1", "apibkeyhi_el1", "16"),
            $each!("apdakeylo_el1", "apdakeyhi_el1", "32"),
            $each!("apdbkeylo_el1", "apdbkeyhi_el1", "48"),
            $each!("apgakeylo_el1", "apgakeyhi_el1", "64"),
        )
    };
}

/// Registers with an implementation-defined meaning; they read as zero on cores without one.
#[cfg(target_arch = "aarch64")]
macro_rules! auxiliary {
    ($each:ident) => {
        concat!(
            $each!("amair_el1", "afsr0_el1", "0"),
            $each!("afsr1_el1", "amair_el1", "16"),
        )
    };
}

/// Size of the registers that `pairs` lists, in bytes.
const PAIRS: usize = 176;

/// Registers that each VM switch saves and loads, of a vCPU that is descheduled. All lie within reach of
/// LDP and STP from its address.
#[repr(C, align(16))]
#[derive(Debug)]
pub struct Context {
    registers: UnsafeCell<[u64; PAIRS / 8]>,
    /// `CNTV_CVAL_EL0` and `CNTV_CTL_EL0`. The timer of a descheduled vCPU is disabled.
    timer: UnsafeCell<[u64; 2]>,
    /// `VTTBR_EL2` and `VMPIDR_EL2`.
    identity: UnsafeCell<[u64; 2]>,
    /// State of the virtual CPU interface.
    pub(crate) interface: VirtualCpuInterface,
}

/// Registers that few VM switches save and load.
#[derive(Debug)]
pub struct ColdContext {
    /// List registers 2 to 15.
    pub(crate) lrs: [Cell<u64>; 14],
    keys: UnsafeCell<[u64; 10]>,
    auxiliary: UnsafeCell<[u64; 4]>,
    /// `VDISR_EL2`, which EL1 accesses as `DISR_EL1`, and which ESB writes (Arm ARM, D19.2.155).
    deferred_error: UnsafeCell<u64>,
    /// `TPIDR2_EL0`, which EL1 accesses whether or not SME traps.
    second_thread_pointer: UnsafeCell<u64>,
}

/// Set of the optional registers that a core implements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionalRegisters(u8);

impl OptionalRegisters {
    /// No optional registers.
    pub const NONE: Self = Self(0);
    const KEYS: u8 = 1;
    const AUXILIARY: u8 = 2;
    const DEFERRED_ERROR: u8 = 4;
    const SECOND_THREAD_POINTER: u8 = 8;

    /// Detects the optional registers of this core.
    ///
    /// # Safety
    ///
    /// No vCPU may be loaded on this core: the auxiliary registers of EL1 are overwritten.
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
        let sme = read_register!("id_aa64pfr1_el1") & SME != 0;
        let auxiliary = keeps!("amair_el1") | keeps!("afsr0_el1") | keeps!("afsr1_el1");
        Self(
            (u8::from(keys) * Self::KEYS)
                | (u8::from(auxiliary) * Self::AUXILIARY)
                | (u8::from(has_ras()) * Self::DEFERRED_ERROR)
                | (u8::from(sme) * Self::SECOND_THREAD_POINTER),
        )
    }
}

/// `ID_AA64PFR0_EL1`, the field of the RAS extension.
pub(crate) const RAS: u64 = 0xf << 28;
/// `ID_AA64PFR1_EL1`, the field of the Scalable Matrix Extension.
pub(crate) const SME: u64 = 0xf << 24;

/// Whether the core implements pointer authentication, so that there are keys to exchange.
#[must_use]
pub fn has_pointer_auth() -> bool {
    // ID_AA64ISAR1_EL1: APA, API, GPA, GPI; ID_AA64ISAR2_EL1: GPA3, APA3.
    hw_arch::read_register!("id_aa64isar1_el1") & 0xff00_0ff0 != 0
        || hw_arch::read_register!("S3_0_C0_C6_2") & 0xff00 != 0
}

/// Whether the core implements the RAS extension.
#[must_use]
pub fn has_ras() -> bool {
    hw_arch::read_register!("id_aa64pfr0_el1") & RAS != 0
}

/// Whether the core implements limited ordering regions.
#[must_use]
pub fn has_ordering_regions() -> bool {
    // ID_AA64MMFR1_EL1.LO.
    hw_arch::read_register!("id_aa64mmfr1_el1") >> 16 & 0xf != 0
}

// SAFETY: the cells are written by `save` and `load` only. Their contracts admit one core at a time:
// that on which the vCPU is. Other accesses are reads of single words by that core.
unsafe impl Sync for Context {}
// SAFETY: the cells are accessed by `save`, `load`, `save_lrs` and `load_lrs` only, on the one core on
// which the vCPU is.
unsafe impl Sync for ColdContext {}

/// `CNTV_CTL_EL0`: ENABLE without IMASK.
const SIGNALS: u64 = 1;
const SIGNALS_MASK: u64 = 3;

/// Deadline of the virtual timer of the loaded vCPU, or `None` if it is disabled or masked.
#[inline]
#[must_use]
pub fn timer_deadline() -> Option<u64> {
    use hw_arch::registers::{cntv_ctl_el0, cntv_cval_el0};
    (cntv_ctl_el0::read() & SIGNALS_MASK == SIGNALS).then(cntv_cval_el0::read)
}

impl Context {
    /// The context of a vCPU that has never run.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            registers: UnsafeCell::new([0; PAIRS / 8]),
            timer: UnsafeCell::new([0; 2]),
            identity: UnsafeCell::new([0; 2]),
            interface: VirtualCpuInterface::new(),
        }
    }

    /// Sets the values of `VTTBR_EL2` and `VMPIDR_EL2`.
    ///
    /// # Safety
    ///
    /// The caller must have exclusive access to the context.
    pub unsafe fn set_identity(&self, vttbr: u64, vmpidr: u64) {
        // SAFETY: access is exclusive, by the contract of the function.
        unsafe { *self.identity.get() = [vttbr, vmpidr] };
    }

    /// Saves the virtual timer and disables it. A timer that has expired asserts its interrupt again
    /// when it is loaded.
    ///
    /// # Safety
    ///
    /// This vCPU must be loaded on this core, with exclusive access to its context.
    #[inline]
    pub unsafe fn save_timer(&self) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the store covers `timer`, to which access is exclusive by the contract of the function.
        unsafe {
            core::arch::asm!(
                "mrs {a}, cntv_cval_el0",
                "mrs {b}, cntv_ctl_el0",
                "stp {a}, {b}, [{to}, #{timer}]",
                "msr cntv_ctl_el0, xzr",
                to = in(reg) core::ptr::from_ref(self), a = out(reg) _, b = out(reg) _,
                timer = const offset_of!(Self, timer),
                options(nostack, preserves_flags)
            );
        }
    }

    /// Re-enables the virtual timer after [`save_timer`](Self::save_timer).
    ///
    /// # Safety
    ///
    /// This vCPU must be loaded on this core, with exclusive access to its context, and no other vCPU
    /// may have been loaded since.
    pub unsafe fn resume_timer(&self) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the register affects EL1 and EL0 only; access to the array is exclusive by the
        // contract of the function.
        unsafe {
            let [_, control] = *self.timer.get();
            hw_arch::registers::cntv_ctl_el0::write(control);
        }
    }

    /// Saves the other registers of the pairs.
    ///
    /// # Safety
    ///
    /// This vCPU must be loaded on this core, with exclusive access to its context.
    #[inline]
    pub unsafe fn save(&self) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the stores cover `registers`, to which access is exclusive by the contract of the
        // function.
        unsafe {
            core::arch::asm!(
                pairs!(save_pair),
                to = in(reg) core::ptr::from_ref(self), a = out(reg) _, b = out(reg) _,
                options(nostack, preserves_flags)
            );
        }
    }

    /// Loads the registers, with stage 2 and affinity of the vCPU.
    ///
    /// # Safety
    ///
    /// The previous contents of the registers must be saved or dead. Access to the context must be
    /// exclusive, and [`set_identity`](Self::set_identity) must have set the stage 2 of its VM.
    #[inline]
    pub unsafe fn load(&self) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the registers affect EL1 and EL0 only, under the stage 2 that `set_identity` set.
        unsafe {
            core::arch::asm!(
                load_pair!("vttbr_el2", "vmpidr_el2", "{identity}"),
                pairs!(load_pair),
                "ldp {a}, {b}, [{from}, #{timer}]",
                "msr cntv_cval_el0, {a}",
                "msr cntv_ctl_el0, {b}",
                from = in(reg) core::ptr::from_ref(self), a = out(reg) _, b = out(reg) _,
                identity = const offset_of!(Self, identity),
                timer = const offset_of!(Self, timer),
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
    /// The cold context of a vCPU that has never run.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            lrs: [const { Cell::new(0) }; 14],
            keys: UnsafeCell::new([0; 10]),
            auxiliary: UnsafeCell::new([0; 4]),
            deferred_error: UnsafeCell::new(0),
            second_thread_pointer: UnsafeCell::new(0),
        }
    }

    /// Saves the optional registers.
    ///
    /// # Safety
    ///
    /// This vCPU must be loaded on this core, which must implement these registers, with exclusive
    /// access to its context.
    pub unsafe fn save(&self, optional: OptionalRegisters) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the stores cover the arrays, to which access is exclusive, and the core implements the
        // registers, by the contract of the function.
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
        // SAFETY: access to the cells is exclusive, and the core implements the registers, by the contract
        // of the function.
        unsafe {
            if optional.0 & OptionalRegisters::DEFERRED_ERROR != 0 {
                *self.deferred_error.get() = vdisr_el2::read();
            }
            if optional.0 & OptionalRegisters::SECOND_THREAD_POINTER != 0 {
                *self.second_thread_pointer.get() = tpidr2_el0::read();
            }
        }
        #[cfg(not(target_arch = "aarch64"))]
        let _ = (&self.keys, &self.auxiliary);
    }

    /// Loads the optional registers.
    ///
    /// # Safety
    ///
    /// The previous contents of the registers must be saved or dead; the core must implement them, and
    /// access to the context must be exclusive.
    pub unsafe fn load(&self, optional: OptionalRegisters) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the registers affect EL1 and EL0 only, and the core implements them, by the contract of
        // the function.
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
        // SAFETY: access to the cells is exclusive, and the core implements the registers, by the contract
        // of the function.
        unsafe {
            if optional.0 & OptionalRegisters::DEFERRED_ERROR != 0 {
                vdisr_el2::write(*self.deferred_error.get());
            }
            if optional.0 & OptionalRegisters::SECOND_THREAD_POINTER != 0 {
                tpidr2_el0::write(*self.second_thread_pointer.get());
            }
        }
        #[cfg(not(target_arch = "aarch64"))]
        let _ = (&self.keys, &self.auxiliary);
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
    fn layout_suits_the_assembly() {
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
