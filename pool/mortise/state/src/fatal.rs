//! Fatal errors of Mortise, and the end of the machine.

use core_log::error;
use hw_arch::firmware;

use crate::options;

/// Reports an error of the boot and powers the machine off.
pub fn boot_failed(why: core::fmt::Arguments<'_>) -> ! {
    error!("{why}");
    power_off()
}

/// Powers the machine off. Firmware without PSCI cannot: the core waits.
pub fn power_off() -> ! {
    match options::spin_table() {
        None => firmware::system_off::<firmware::Smc>(),
        Some(_) => hw_arch::cpu::park(),
    }
}
