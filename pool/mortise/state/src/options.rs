//! Build options of the image, as constants of the link.
//!
//! Each is a constant of the link: code that an option excludes is not in the image.

/// The options that are derived from what an image contains.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Cores can be shared by several vCPUs.
    pub shared_cores: bool,
    /// Libraries registered VM extensions.
    pub vm_extensions: bool,
    /// Libraries registered core tasks.
    pub core_tasks: bool,
    /// The interrupt controller is not a GICv3.
    pub other_irqchip: bool,
    /// VMs can have a virtual GICv3 and a virtual PL011.
    pub virtual_devices: bool,
    /// VMs can write to a log ring.
    pub log_rings: bool,
    /// Address of the firmware's table by which cores are started; zero where PSCI does.
    pub spin_table: usize,
}

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `image!` defines it with this type, and it is never written.
    safe static MORTISE_OPTIONS: Options;
}

/// On the host there are the options, and no libraries.
#[cfg(not(target_os = "none"))]
static MORTISE_OPTIONS: Options = Options {
    shared_cores: false,
    vm_extensions: false,
    core_tasks: false,
    other_irqchip: false,
    virtual_devices: true,
    log_rings: true,
    spin_table: 0,
};

/// Whether cores can be shared by several vCPUs.
#[inline(always)]
pub fn has_shared_cores() -> bool {
    MORTISE_OPTIONS.shared_cores
}

/// Whether VM extensions are present. Only they control VMs from outside.
#[inline(always)]
pub fn has_vm_extensions() -> bool {
    MORTISE_OPTIONS.vm_extensions
}

/// Whether the interrupt controller is not a GICv3.
#[inline(always)]
pub fn other_irqchip() -> bool {
    MORTISE_OPTIONS.other_irqchip
}

/// Whether VMs can have virtual devices.
#[inline(always)]
pub fn virtual_devices() -> bool {
    MORTISE_OPTIONS.virtual_devices
}

/// Whether VMs can write to a log ring.
#[inline(always)]
pub fn log_rings() -> bool {
    MORTISE_OPTIONS.log_rings
}

/// Address of the firmware's table by which cores are started, where there is no PSCI.
#[inline(always)]
pub fn spin_table() -> Option<usize> {
    match MORTISE_OPTIONS.spin_table {
        0 => None,
        table => Some(table),
    }
}

/// Whether the console's line has several writers: guests with a log ring or a virtual PL011, and core
/// tasks.
#[inline(always)]
pub fn line_is_shared() -> bool {
    log_rings() || virtual_devices() || MORTISE_OPTIONS.core_tasks
}
