//! Calls to the firmware below: PSCI (Arm DEN 0022) over SMC or HVC.
//!
//! Mortise calls by SMC. Tenon calls by HVC, which reaches Mortise, or on bare
//! metal without EL2 the emulator's firmware. On the host, calls return nothing.

pub use smccc::{Call, psci::Error};
#[cfg(target_arch = "aarch64")]
pub use smccc::{Hvc, Smc};

#[cfg(not(target_arch = "aarch64"))]
mod host {
    /// Stand-in for an instruction that the host does not have.
    #[derive(Debug)]
    pub struct Unanswered;

    impl smccc::Call for Unanswered {
        fn call32(_: u32, _: [u32; 7]) -> [u32; 8] {
            [u32::MAX; 8]
        }
        fn call64(_: u32, _: [u64; 17]) -> [u64; 18] {
            [u64::MAX; 18]
        }
    }
}

#[cfg(not(target_arch = "aarch64"))]
pub use host::{Unanswered as Hvc, Unanswered as Smc};

/// Calls a function of the hypervisor without arguments and drops the reply. Shorter than a call
/// with seventeen arguments (Arm DEN 0028, 2.6).
pub fn hypercall0(function: u32) {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a hypervisor without this function returns an error; all registers that a call may
    // change are named.
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

/// Calls a function with one argument. Returns x0, all ones on the host.
pub fn hypercall1(function: u32, argument: u64) -> u64 {
    let mut answer = u64::from(function);
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a hypervisor without this function returns an error; all registers that a call may
    // change are named.
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

/// Calls a function with four arguments. Returns x0 to x3.
#[must_use]
pub fn hypercall4(function: u32, arguments: [u64; 4]) -> [u64; 4] {
    resume_hypercall4(function, 0, arguments)
}

/// Calls a function with four arguments and a value in the upper half of x0, where Mortise keeps
/// the progress of a preempted call.
#[must_use]
pub fn resume_hypercall4(function: u32, progress: u64, arguments: [u64; 4]) -> [u64; 4] {
    #[cfg(target_arch = "aarch64")]
    {
        let [x1, x2, x3, x4] = arguments;
        let mut answer = [u64::from(function) | progress, x1, x2, x3];
        let [r0, r1, r2, r3] = &mut answer;
        // SAFETY: a hypervisor without this function returns an error; all registers that a call
        // may change are named. Memory that a function writes was passed by address, so that the
        // compiler assumes that it changes.
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

/// Turns off the machine, or the virtual one.
pub fn system_off<C: Call>() -> ! {
    let _ = smccc::psci::system_off::<C>();
    crate::cpu::park()
}

/// The former name of [`hypercall0`].
#[deprecated(note = "renamed to `hypercall0`")]
pub fn call_hypervisor(function: u32) {
    hypercall0(function);
}

/// The former name of [`hypercall1`].
#[deprecated(note = "renamed to `hypercall1`")]
pub fn call_hypervisor_with(function: u32, argument: u64) -> u64 {
    hypercall1(function, argument)
}

/// The former name of [`hypercall4`].
#[deprecated(note = "renamed to `hypercall4`")]
#[must_use]
pub fn ask_hypervisor(function: u32, arguments: [u64; 4]) -> [u64; 4] {
    hypercall4(function, arguments)
}
