//! Fatal errors of Mortise.

use core_log::error;
use hw_arch::{El2, ExceptionLevel, firmware};

/// Gives up before any guest runs.
pub(crate) fn stop(why: core::fmt::Arguments<'_>) -> ! {
    error!("{why}");
    firmware::system_off::<firmware::Smc>()
}

/// Faults of Mortise's own end the machine: nothing it says can be trusted any
/// more. Called by the vectors.
pub fn hypervisor_fault(cause: u64) -> ! {
    panic!(
        "exception {cause} at EL2: esr={:#x} far={:#x} elr={:#x}",
        El2::read_esr(),
        El2::read_far(),
        El2::read_elr()
    )
}
