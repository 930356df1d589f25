//! What an image consists of, and what its libraries registered.
//!
//! A constant of the link and no field of the machine: what nobody registered for, the linker
//! knows to be called by nobody, so that an image without shared cores has nothing of mode 2,
//! and one that makes no virtual machines no places for them.

use super::{
    board::Board,
    interface::{
        Colouring, CoreTask, Device, Dispatch, ExitChecker, Iommu, Irqchip, Regulator, VmExtension,
    },
    options,
    stacks::PerCore,
    topology::Core,
    vm::Vm,
};
use core::ops::Range;
#[cfg(not(target_os = "none"))]
use core_memory::FramePool;
use core_paging::Frames;
use core_trace::Ring;
use mortise_hypercall::Group;
use spin::Once;

/// What the libraries of an image registered.
pub struct Registry {
    /// Functions that guests call.
    pub hypercalls: &'static [&'static Group],
    /// Who shares cores out among virtual CPUs; at most one.
    pub dispatchers: &'static [&'static dyn Dispatch],
    /// What takes part in the lives of virtual machines.
    pub vm_extensions: &'static [&'static dyn VmExtension],
    /// Devices of the libraries'.
    pub devices: &'static [&'static dyn Device],
    /// What holds back the background of shared cores; at most one.
    pub regulators: &'static [&'static dyn Regulator],
    /// What runs on cores that no virtual machine has.
    pub core_tasks: &'static [&'static dyn CoreTask],
    /// Where memory is that is dealt out by colour; at most one.
    pub colourings: &'static [&'static dyn Colouring],
    /// What drives the interrupt controller if it is no GICv3; at most one.
    pub irqchips: &'static [&'static dyn Irqchip],
    /// What keeps devices from memory that is not their owner's; at most one.
    pub iommus: &'static [&'static dyn Iommu],
    /// What checks what guests go on with.
    pub exit_checkers: &'static [&'static dyn ExitChecker],
}

/// What Mortise is made of, a constant of the link: so an image with one core has nothing of what is
/// between cores, and what is computed of a board's addresses is computed when the image is made.
pub struct Resources {
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
    safe static MORTISE_REGISTRY: Registry;
}

/// On the host nobody registers.
#[cfg(not(target_os = "none"))]
static MORTISE_REGISTRY: Registry = Registry {
    hypercalls: &[],
    dispatchers: &[],
    vm_extensions: &[],
    devices: &[],
    regulators: &[],
    core_tasks: &[],
    colourings: &[],
    irqchips: &[],
    iommus: &[],
    exit_checkers: &[],
};

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `image!` defines it with this type, and nothing writes it.
    safe static MORTISE_RESOURCES: Resources;
}

/// On the host there is no machine.
#[cfg(not(target_os = "none"))]
static MORTISE_RESOURCES: Resources = {
    static FRAMES: FramePool<1> = FramePool::new();
    Resources {
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
pub(crate) fn resources() -> &'static Resources {
    &MORTISE_RESOURCES
}

/// The functions that guests call.
#[inline(always)]
pub(crate) fn hypercalls() -> &'static [&'static Group] {
    MORTISE_REGISTRY.hypercalls
}

/// Who shares cores out among virtual CPUs, if the image has it.
#[inline(always)]
pub(crate) fn dispatcher() -> Option<&'static dyn Dispatch> {
    MORTISE_REGISTRY.dispatchers.first().copied()
}

/// What runs on cores that no virtual machine has.
#[inline(always)]
pub(crate) fn core_tasks() -> &'static [&'static dyn CoreTask] {
    MORTISE_REGISTRY.core_tasks
}

/// What holds back the background of shared cores, if the image has it.
#[inline(always)]
pub(crate) fn regulator() -> Option<&'static dyn Regulator> {
    MORTISE_REGISTRY.regulators.first().copied()
}

/// Where memory is that is dealt out by colour, if the image has it.
#[inline(always)]
pub(crate) fn colouring() -> Option<&'static dyn Colouring> {
    MORTISE_REGISTRY.colourings.first().copied()
}

/// What drives the interrupt controller if it is no GICv3.
#[inline(always)]
pub(crate) fn irqchip() -> Option<&'static dyn Irqchip> {
    MORTISE_REGISTRY.irqchips.first().copied()
}

/// What keeps devices from memory that is not their owner's, if the image has it.
#[inline(always)]
pub(crate) fn iommu() -> Option<&'static dyn Iommu> {
    MORTISE_REGISTRY.iommus.first().copied()
}

/// What checks what guests go on with.
#[inline(always)]
pub(crate) fn exit_checkers() -> &'static [&'static dyn ExitChecker] {
    MORTISE_REGISTRY.exit_checkers
}

/// Whether there may be more virtual CPUs than one, so that one has something to tell another.
#[inline(always)]
pub(crate) fn vcpus_are_several() -> bool {
    resources().cores.len() > 1 || options::cores_are_shared()
}

/// Devices of the libraries'.
#[inline(always)]
pub(crate) fn devices() -> &'static [&'static dyn Device] {
    MORTISE_REGISTRY.devices
}

/// What takes part in the lives of virtual machines.
#[inline(always)]
pub(crate) fn vm_extensions() -> &'static [&'static dyn VmExtension] {
    MORTISE_REGISTRY.vm_extensions
}
