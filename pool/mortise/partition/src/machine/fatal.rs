//! Fatal errors of Mortise.

use core_log::error;
use hw_arch::{El2, ExceptionLevel, firmware};

/// Reports an error of the boot and powers the machine off.
pub(crate) fn stop(why: core::fmt::Arguments<'_>) -> ! {
    error!("{why}");
    firmware::system_off::<firmware::Smc>()
}

/// Panics on an exception that EL2 itself took, called by the vectors: the state of Mortise can no
/// longer be trusted.
pub fn hypervisor_fault(cause: u64) -> ! {
    panic!(
        "exception {cause} at EL2: esr={:#x} far={:#x} elr={:#x}",
        El2::read_esr(),
        El2::read_far(),
        El2::read_elr()
    )
}
