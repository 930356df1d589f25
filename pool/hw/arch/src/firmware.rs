//! Calls to the firmware below: PSCI (Arm DEN 0022) over SMC or HVC.
//!
//! Mortise calls by SMC. Tenon calls by HVC, which reaches Mortise, or on bare
//! metal without EL2 the emulator's firmware. On the host nothing answers.

pub use smccc::{Call, psci::Error};
#[cfg(target_arch = "aarch64")]
pub use smccc::{Hvc, Smc};

#[cfg(not(target_arch = "aarch64"))]
mod host {
    /// Stands for an instruction the host does not have.
    #[derive(Debug)]
    pub struct Nobody;

    impl smccc::Call for Nobody {
        fn call32(_: u32, _: [u32; 7]) -> [u32; 8] {
            [u32::MAX; 8]
        }
        fn call64(_: u32, _: [u64; 17]) -> [u64; 18] {
            [u64::MAX; 18]
        }
    }
}

#[cfg(not(target_arch = "aarch64"))]
pub use host::{Nobody as Hvc, Nobody as Smc};

/// Starts core `affinity` at physical address `entry` with `argument` in x0.
///
/// # Safety
///
/// `entry` must be code that expects a core with MMU and caches off and this
/// argument.
pub unsafe fn cpu_on<C: Call>(affinity: u64, entry: u64, argument: u64) -> Result<(), Error> {
    smccc::psci::cpu_on::<C>(affinity, entry, argument)
}

/// Turns the whole machine, or this virtual one, off.
pub fn system_off<C: Call>() -> ! {
    let _ = smccc::psci::system_off::<C>();
    crate::cpu::park()
}
