//! [`First`]: the first process, as the system states it.

use hw_arch::firmware::{Hvc, system_off};

/// The first process, as the system states it.
#[derive(Clone, Copy, Debug)]
pub struct First {
    /// Path of the program.
    pub program: &'static str,
    /// Its arguments, of which the first one is its name.
    pub arguments: &'static [&'static str],
    /// Its environment, `NAME=VALUE` each.
    pub environment: &'static [&'static str],
    /// Whether the VM turns off when this process has ended.
    pub ends_vm: bool,
}

/// Turns the VM off if the system asks for that at the end of the first process.
pub fn end_vm() {
    if of_system().ends_vm {
        system_off::<Hvc>()
    }
}

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `statics!` defines it with this type, and no code writes it.
    safe static TENON_PROCESS_FIRST: First;
}

/// The first process of the image's system.
#[must_use]
pub fn of_system() -> First {
    #[cfg(target_os = "none")]
    return TENON_PROCESS_FIRST;
    #[cfg(not(target_os = "none"))]
    return First {
        program: "/init",
        arguments: &["init"],
        environment: &[],
        ends_vm: false,
    };
}
