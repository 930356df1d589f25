//! Fatal errors of Mortise.

use core_log::error;
use hw_arch::firmware;

/// Reports an error of the boot and powers the machine off.
pub fn boot_failed(why: core::fmt::Arguments<'_>) -> ! {
    error!("{why}");
    firmware::system_off::<firmware::Smc>()
}
