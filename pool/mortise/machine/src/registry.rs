//! Registry of the image's libraries, and resources of the image.
//!
//! Both are constants of the link and not fields of the machine: the linker removes code that no
//! registered library can reach, so that an image without shared cores has no code of mode 2, and
//! one without instances none of VM slots.

use super::{
    interface::{
        Colouring, CoreTask, Device, Dispatch, ExitChecker, Iommu, Irqchip, Regulator, Seeder,
        VmExtension,
    },
    topology::Core,
    vm::Vm,
};
use core::ops::Range;
#[cfg(not(target_os = "none"))]
use core_memory::FramePool;
use core_paging::Frames;
use core_trace::Ring;
use mortise_hypercall::Group;
use mortise_state::{board::Board, options, stacks::PerCore};
use spin::Once;

/// What the libraries of an image registered.
pub struct Registry {
    /// Hypercall groups.
    pub hypercalls: &'static [&'static Group],
    /// Scheduler of shared cores; at most one.
    pub dispatchers: &'static [&'static dyn Dispatch],
    /// VM extensions.
    pub vm_extensions: &'static [&'static dyn VmExtension],
    /// Virtual devices of libraries.
    pub devices: &'static [&'static dyn Device],
    /// Bandwidth regulator; at most one.
    pub regulators: &'static [&'static dyn Regulator],
    /// Core tasks.
    pub core_tasks: &'static [&'static dyn CoreTask],
    /// Page colouring; at most one.
    pub colourings: &'static [&'static dyn Colouring],
    /// Driver of an interrupt controller other than the GICv3; at most one.
    pub irqchips: &'static [&'static dyn Irqchip],
    /// Driver of the IOMMU; at most one.
    pub iommus: &'static [&'static dyn Iommu],
    /// Source of the seeds of guests; at most one.
    pub seeders: &'static [&'static dyn Seeder],
    /// Exit checkers of a test build.
    pub exit_checkers: &'static [&'static dyn ExitChecker],
}

/// Static resources of an image. As constants of the link they let an image with one core do
/// without code for several, and board addresses are computed at build time.
pub struct Resources {
    /// Board description.
    pub board: Board,
    /// Stacks of the cores.
    pub stacks: fn() -> PerCore,
    /// Record of each core.
    pub cores: &'static [Core],
    /// Record of each VM; empty for a VM slot that is not made.
    pub vms: &'static [Once<Vm>],
    /// Allocator of page frames for translation tables.
    pub frames: &'static dyn Frames,
    /// Address range of those frames, which are allocated in ascending order and never freed.
    pub frame_room: fn() -> Range<usize>,
    /// Trace ring of each core; empty without a trace.
    pub rings: &'static [Ring],
}

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `image!` defines it with this type, and it is never written.
    safe static MORTISE_REGISTRY: Registry;
}

/// On the host no library is registered.
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
    seeders: &[],
    exit_checkers: &[],
};

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `image!` defines it with this type, and it is never written.
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

/// Static resources of the image.
#[inline(always)]
pub fn resources() -> &'static Resources {
    &MORTISE_RESOURCES
}

/// Hypercall groups.
#[inline(always)]
pub fn hypercalls() -> &'static [&'static Group] {
    MORTISE_REGISTRY.hypercalls
}

/// Scheduler of shared cores, if the image has one.
#[inline(always)]
pub fn dispatcher() -> Option<&'static dyn Dispatch> {
    MORTISE_REGISTRY.dispatchers.first().copied()
}

/// Core tasks.
#[inline(always)]
pub fn core_tasks() -> &'static [&'static dyn CoreTask] {
    MORTISE_REGISTRY.core_tasks
}

/// Bandwidth regulator, if the image has one.
#[inline(always)]
pub fn regulator() -> Option<&'static dyn Regulator> {
    MORTISE_REGISTRY.regulators.first().copied()
}

/// Page colouring, if the image has it.
#[inline(always)]
pub fn colouring() -> Option<&'static dyn Colouring> {
    MORTISE_REGISTRY.colourings.first().copied()
}

/// Driver of an interrupt controller other than the GICv3.
#[inline(always)]
pub fn irqchip() -> Option<&'static dyn Irqchip> {
    MORTISE_REGISTRY.irqchips.first().copied()
}

/// Driver of the IOMMU, if the image has one.
#[inline(always)]
pub fn iommu() -> Option<&'static dyn Iommu> {
    MORTISE_REGISTRY.iommus.first().copied()
}

/// Source of the seeds of guests, if the image has one.
#[inline(always)]
pub fn seeder() -> Option<&'static dyn Seeder> {
    MORTISE_REGISTRY.seeders.first().copied()
}

/// Exit checkers.
#[inline(always)]
pub fn exit_checkers() -> &'static [&'static dyn ExitChecker] {
    MORTISE_REGISTRY.exit_checkers
}

/// Whether there can be several vCPUs, so that one can kick another.
#[inline(always)]
pub(crate) fn has_several_vcpus() -> bool {
    resources().cores.len() > 1 || options::has_shared_cores()
}

/// Virtual devices of libraries.
#[inline(always)]
pub fn devices() -> &'static [&'static dyn Device] {
    MORTISE_REGISTRY.devices
}

/// VM extensions.
#[inline(always)]
pub fn vm_extensions() -> &'static [&'static dyn VmExtension] {
    MORTISE_REGISTRY.vm_extensions
}
