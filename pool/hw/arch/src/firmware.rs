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

/// Calls the hypervisor for a function that takes no argument, and drops its answer. Short, where a
/// call of seventeen arguments is not (Arm DEN 0028, 2.6).
pub fn call_hypervisor(function: u32) {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a hypervisor that knows no such function answers so; what a call may change is named.
    unsafe {
        core::arch::asm!(
            "hvc #0",
            inout("x0") u64::from(function) => _,
            clobber_abi("C"),
            options(nostack),
        );
    }
    #[cfg(not(target_arch = "aarch64"))]
    let _ = function;
}

/// The same for a function that takes one argument; returns what it answers in x0, all ones on the
/// host.
pub fn call_hypervisor_with(function: u32, argument: u64) -> u64 {
    let mut answer = u64::from(function);
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "hvc #0",
            inout("x0") answer,
            inout("x1") argument => _,
            clobber_abi("C"),
            options(nostack),
        );
    }
    #[cfg(not(target_arch = "aarch64"))]
    {
        let _ = argument;
        answer |= u64::MAX;
    }
    answer
}

/// The same for a function that takes four arguments and answers in four registers: x0 to x3.
#[must_use]
pub fn ask_hypervisor(function: u32, arguments: [u64; 4]) -> [u64; 4] {
    ask_hypervisor_again(function, 0, arguments)
}

/// The same with something in the upper half of x0, where Mortise keeps how far a call has come that
/// was interrupted.
#[must_use]
pub fn ask_hypervisor_again(function: u32, progress: u64, arguments: [u64; 4]) -> [u64; 4] {
    #[cfg(target_arch = "aarch64")]
    {
        let [x1, x2, x3, x4] = arguments;
        let mut answer = [u64::from(function) | progress, x1, x2, x3];
        let [r0, r1, r2, r3] = &mut answer;
        // SAFETY: as above; what a function writes to memory it was told the address of, which the
        // compiler takes for known by whoever is called.
        unsafe {
            core::arch::asm!(
                "hvc #0",
                inout("x0") *r0,
                inout("x1") *r1,
                inout("x2") *r2,
                inout("x3") *r3,
                in("x4") x4,
                clobber_abi("C"),
                options(nostack),
            );
        }
        answer
    }
    #[cfg(not(target_arch = "aarch64"))]
    {
        let _ = (function, progress, arguments);
        [u64::MAX, 0, 0, 0]
    }
}

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
