//! What an image consists of, and what its libraries registered.
//!
//! A constant of the link and no field of the machine: what nobody registered for, the linker
//! knows to be called by nobody, so that an image without shared cores has nothing of mode 2,
//! and one that makes no virtual machines no places for them.

use crate::{
    board::Board, colouring::Colouring, companion::Companion, devices::Device, dispatch::Dispatch,
    iommu::Iommu, irqchip::Irqchip, machine::Core, memory::PerCore, regulation::Regulator,
    tenant::Tenant, vm::Vm, witness::Witness,
};
use core::ops::Range;
#[cfg(not(target_os = "none"))]
use core_memory::FramePool;
use core_paging::Frames;
use core_trace::Ring;
use mortise_hypercall::Group;
use spin::Once;

/// What the libraries of an image registered.
pub struct Tables {
    /// Functions that guests call.
    pub hypercalls: &'static [&'static Group],
    /// Who shares cores out among virtual CPUs; at most one.
    pub dispatchers: &'static [&'static dyn Dispatch],
    /// What takes part in the lives of virtual machines.
    pub companions: &'static [&'static dyn Companion],
    /// Devices of the libraries'.
    pub devices: &'static [&'static dyn Device],
    /// What holds back the background of shared cores; at most one.
    pub regulators: &'static [&'static dyn Regulator],
    /// What runs on cores that no virtual machine has.
    pub tenants: &'static [&'static dyn Tenant],
    /// Where memory is that is dealt out by colour; at most one.
    pub colourings: &'static [&'static dyn Colouring],
    /// What drives the interrupt controller if it is no GICv3; at most one.
    pub irqchips: &'static [&'static dyn Irqchip],
    /// What keeps devices from memory that is not their owner's; at most one.
    pub iommus: &'static [&'static dyn Iommu],
    /// What checks what guests go on with.
    pub witnesses: &'static [&'static dyn Witness],
    /// Whether there may be virtual machines whose interrupt controller and serial port are virtual.
    pub virtual_devices: bool,
    /// Whether there may be virtual machines that write to a log ring.
    pub log_rings: bool,
}

/// What Mortise is made of, a constant of the link: so an image with one core has nothing of what is
/// between cores, and what is computed of a board's addresses is computed when the image is made.
pub struct Parts {
    /// The board it runs on.
    pub board: Board,
    /// Where the cores' stacks stand.
    pub stacks: fn() -> PerCore,
    /// One record per core of the board.
    pub cores: &'static [Core],
    /// One slot per virtual machine of the manifest.
    pub vms: &'static [Once<Vm>],
    /// Where translation tables come from.
    pub frames: &'static dyn Frames,
    /// Where those are, in the order in which they are taken, and for good.
    pub frame_room: fn() -> Range<usize>,
    /// Where the cores record events: one ring for each, or none.
    pub rings: &'static [Ring],
}

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `image!` defines it with this type, and nothing writes it.
    safe static MORTISE_TABLES: Tables;
}

/// On the host nobody registers.
#[cfg(not(target_os = "none"))]
static MORTISE_TABLES: Tables = Tables {
    hypercalls: &[],
    dispatchers: &[],
    companions: &[],
    devices: &[],
    regulators: &[],
    tenants: &[],
    colourings: &[],
    irqchips: &[],
    iommus: &[],
    witnesses: &[],
    virtual_devices: true,
    log_rings: true,
};

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `image!` defines it with this type, and nothing writes it.
    safe static MORTISE_PARTS: Parts;
}

/// On the host there is no machine.
#[cfg(not(target_os = "none"))]
static MORTISE_PARTS: Parts = {
    static FRAMES: FramePool<1> = FramePool::new();
    Parts {
        board: Board::NONE,
        stacks: || PerCore {
            start: 0,
            stride: 0,
            count: 0,
        },
        cores: &[],
        vms: &[],
        frames: &FRAMES,
        frame_room: || 0..0,
        rings: &[],
    }
};

/// What the machine is made of.
#[inline(always)]
pub(crate) fn parts() -> &'static Parts {
    &MORTISE_PARTS
}

/// The functions that guests call.
#[inline(always)]
pub(crate) fn hypercalls() -> &'static [&'static Group] {
    MORTISE_TABLES.hypercalls
}

/// Who shares cores out among virtual CPUs, if the image has it.
#[inline(always)]
pub(crate) fn dispatcher() -> Option<&'static dyn Dispatch> {
    MORTISE_TABLES.dispatchers.first().copied()
}

/// Whether some cores are shared out so.
#[inline(always)]
pub(crate) fn cores_are_shared() -> bool {
    dispatcher().is_some()
}

/// What runs on cores that no virtual machine has.
#[inline(always)]
pub(crate) fn tenants() -> &'static [&'static dyn Tenant] {
    MORTISE_TABLES.tenants
}

/// What holds back the background of shared cores, if the image has it.
#[inline(always)]
pub(crate) fn regulator() -> Option<&'static dyn Regulator> {
    MORTISE_TABLES.regulators.first().copied()
}

/// Where memory is that is dealt out by colour, if the image has it.
#[inline(always)]
pub(crate) fn colouring() -> Option<&'static dyn Colouring> {
    MORTISE_TABLES.colourings.first().copied()
}

/// What drives the interrupt controller if it is no GICv3.
#[inline(always)]
pub(crate) fn irqchip() -> Option<&'static dyn Irqchip> {
    MORTISE_TABLES.irqchips.first().copied()
}

/// What keeps devices from memory that is not their owner's, if the image has it.
#[inline(always)]
pub(crate) fn iommu() -> Option<&'static dyn Iommu> {
    MORTISE_TABLES.iommus.first().copied()
}

/// What checks what guests go on with.
#[inline(always)]
pub(crate) fn witnesses() -> &'static [&'static dyn Witness] {
    MORTISE_TABLES.witnesses
}

/// Whether devices are emulated for anybody.
#[inline(always)]
pub(crate) fn virtual_devices() -> bool {
    MORTISE_TABLES.virtual_devices
}

/// Whether anybody's log ring is emptied.
#[inline(always)]
pub(crate) fn log_rings() -> bool {
    MORTISE_TABLES.log_rings
}

/// Whether anything but Mortise itself writes on the console's line: of guests those with a ring or
/// a virtual port, and what runs on cores without a guest.
#[inline(always)]
pub(crate) fn line_is_shared() -> bool {
    log_rings() || virtual_devices() || !tenants().is_empty()
}

/// Whether there may be more virtual CPUs than one, so that one has something to tell another.
#[inline(always)]
pub(crate) fn vcpus_are_several() -> bool {
    parts().cores.len() > 1 || cores_are_shared()
}

/// Whether anybody gives virtual machines orders from outside, which only companions do.
#[inline(always)]
pub(crate) fn orders_are_given() -> bool {
    !companions().is_empty()
}

/// Devices of the libraries'.
#[inline(always)]
pub(crate) fn devices() -> &'static [&'static dyn Device] {
    MORTISE_TABLES.devices
}

/// What takes part in the lives of virtual machines.
#[inline(always)]
pub(crate) fn companions() -> &'static [&'static dyn Companion] {
    MORTISE_TABLES.companions
}
