//! Interfaces that libraries of the image implement and register.

use super::{
    topology::{Core, Machine},
    vm::Vm,
};
use core_manifest::{System, limits};
use core_memory::PhysicalRange;
use core_paging::Frames;
use mortise_gicd::{Access, Decision};
use mortise_state::{
    board::{Gic, RootComplex},
    interrupts::SPI_ROWS,
    stacks::PerCore,
};
use mortise_vcpu::{Access as DeviceAccess, Cause, FrameCell};

/// The manifest, not parsed.
pub type Manifest = &'static [u8];

/// Outcome of an initialisation: if Mortise must not start, a reason in a few words.
pub type Ready = Result<(), &'static str>;

/// Extension of VMs by a library. All methods are called with interrupts masked.
pub trait VmExtension: Sync {
    /// Called once, on the boot core, which maps all memory. All VMs of the system exist and none
    /// runs.
    ///
    /// # Errors
    ///
    /// A reason in a few words; Mortise then does not start.
    fn init(&self, machine: &'static Machine, system: &System<'static>, bytes: Manifest) -> Ready;

    /// Calls `range` with each range of memory that a core has to map in addition to its own.
    fn memory_ranges(&self, core: &'static Core, range: &mut dyn FnMut(PhysicalRange));

    /// Calls `page` once with each page of registers that a core has to map in addition to its own.
    fn register_pages(&self, _core: &'static Core, _page: &mut dyn FnMut(PhysicalRange)) {}

    /// A run of a VM begins: its first vCPU is about to execute for the first time in it. A vCPU that
    /// the VM turns off and on again does not begin a run. Called with part 0, 1, 2 and so on,
    /// perhaps beyond the last part; returns whether more parts follow.
    fn vm_starts(&self, machine: &'static Machine, vm: &'static Vm, part: usize) -> bool;

    /// The run of a VM is over: no vCPU executes before the next start. Called with part 0, 1, 2
    /// and so on, perhaps beyond the last part or repeatedly; returns whether more parts follow.
    fn vm_stopped(&self, machine: &'static Machine, vm: &'static Vm, part: usize) -> bool;

    /// The VM does not run, and the core of its first vCPU is idle. Does pending work for the VM
    /// until an interrupt is pending; returns whether work is left.
    fn idle_work(&self, _core: &'static Core, _vm: &'static Vm) -> bool {
        false
    }

    /// A vCPU is off on a pinned core without work. Runs what the core was [lent](Vm::lend) for, to
    /// its end; returns whether it was lent.
    fn run_on_lent_core(&self, _core: &'static Core, _vm: &'static Vm, _vcpu: usize) -> bool {
        false
    }

    /// A vCPU loads from an address without memory or device; returns the value, if this extension
    /// has one.
    fn load(&self, _core: &'static Core, _vm: &'static Vm, _vcpu: usize, _ipa: u64) -> Option<u64> {
        None
    }

    /// A message is waiting for an instance of this template, and no instance runs.
    fn instance_requested(&self, _machine: &'static Machine, _template: usize) {}
}

/// Source of the seeds of guests, registered in the table `seeders`. Called with interrupts masked.
///
/// It is no [`VmExtension`]: it controls no VM, and an image with no other extension has none of the
/// code for that control.
pub trait Seeder: Sync {
    /// Called once, on the boot core, which maps all memory. All VMs of the system exist and none
    /// runs.
    fn init(&self, machine: &'static Machine, system: &System<'static>);

    /// A run of a VM begins on this core, as in [`VmExtension::vm_starts`]: part 0, 1, 2 and so on;
    /// returns whether more parts follow.
    fn vm_starts(&self, vm: &'static Vm, part: usize) -> bool;
}

/// Rejects a second registration: the registry calls it for each pair.
#[must_use]
pub const fn only_one_seeder(_: &dyn Seeder, _: &dyn Seeder) -> bool {
    false
}

/// Virtual device of a library, registered in the table `devices`.
pub trait Device: Sync {
    /// A vCPU loads from an address without memory, or stores `stored` there. Returns nothing if
    /// the device has no register there for this VM. Called with interrupts masked; returns within
    /// a few steps.
    fn access(
        &self,
        core: &'static Core,
        vm: &'static Vm,
        ipa: u64,
        access: DeviceAccess,
        stored: Option<u64>,
    ) -> Option<DeviceResponse>;
}

/// Response of a device to an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceResponse {
    /// The access is complete; a load reads this value.
    Value(u64),
    /// The vCPU must repeat the access after pending interrupts are taken.
    Retry,
}

/// Reason to wake a vCPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeReason {
    /// An interrupt is in its list registers.
    Listed,
    /// State in memory changed: of its virtual GIC or of its VM's power states.
    StateChanged,
    /// The core acknowledged an SPI for it.
    Interrupt(u32),
}

/// Provider of a scheduler for each shared core. A library that registers one in the table
/// `dispatch` makes the image one of mode 2 (TenonOS paper, 4.4.3, Figure 7). Without it, each vCPU
/// is pinned; with it, cores with one vCPU are scheduled too.
pub trait Dispatch: Sync {
    /// Scheduler of core `cpu`, if there is one for so many VMs.
    fn core(&'static self, cpu: usize, vms: usize) -> Option<&'static dyn Dispatcher>;

    /// Memory of the schedulers: whole pages per core.
    fn records(&'static self) -> PerCore;
}

/// Scheduler of a shared core. All methods are called on that core, with interrupts masked.
pub trait Dispatcher: Sync {
    /// Takes over the core after its start; blocks until a vCPU is runnable.
    fn begin(&'static self, core: &'static Core) -> !;

    /// Handles an exit of the current guest to its end: enters the guest that is scheduled next, or
    /// returns its frame.
    fn exit(&'static self, cause: Cause, core: &'static Core) -> &'static FrameCell;

    /// The current vCPU is blocked until something wakes it.
    fn wait(&self, core: &'static Core);

    /// The current vCPU stopped.
    fn stop(&self, core: &'static Core);

    /// Something arrived for a VM's vCPU on this core. A vCPU that is new to the scheduler is
    /// added, off until its VM's power states start it.
    fn wake(&'static self, core: &'static Core, vm: &'static Vm, reason: WakeReason);

    /// Deschedules a VM's vCPU on this core until it is woken after the VM's release, and
    /// [records](Core::mark_off_core) it. With `forget` its context is discarded.
    fn hold(&'static self, core: &'static Core, vm: &'static Vm, forget: bool);

    /// Mortise's own work on the core is due next at this time, in ticks of the counter.
    fn set_work_due(&self, core: &'static Core, due: u64);

    /// A private interrupt was taken that neither Mortise nor the current vCPU owns, and is still
    /// active.
    fn private_interrupt(&self, core: &'static Core);

    /// The current guest used floating point, which is trapped.
    fn floating_point(&self);
}

/// Rejects a second registration: the registry calls it for each pair.
#[must_use]
pub const fn only_one(_: &dyn Dispatch, _: &dyn Dispatch) -> bool {
    false
}

/// Decision on the background of a core, with a time in ticks of the counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    /// The background may run; the regulator is asked again at this time.
    Runs(u64),
    /// The background is stopped until this time.
    Waits(u64),
}

/// Bandwidth regulator of shared cores. All methods are called on the core, with interrupts masked.
/// A vCPU with a priority or a budget is not regulated.
pub trait Regulator: Sync {
    /// The core starts to be scheduled.
    fn begin(&self, core: &'static Core);

    /// Whether the background of the core may run now.
    fn background(&self, core: &'static Core, now: u64) -> Background;
}

/// Rejects a second registration: the registry calls it for each pair.
#[must_use]
pub const fn only_one_regulator(_: &dyn Regulator, _: &dyn Regulator) -> bool {
    false
}

/// Core task: code of a library that runs on a core without a VM.
pub trait CoreTask: Sync {
    /// Whether the task runs on this core.
    fn runs_on(&self, cpu: usize) -> bool;

    /// Runs the task. Called once on that core, with interrupts masked and the hypervisor timer
    /// enabled. The core is idle after the return.
    fn run(&self, core: &'static Core);
}

/// Check of guest state at each exit, in test builds. Called with interrupts masked, on the core that runs the guest, except for [`ExitChecker::init`]. An error panics.
pub trait ExitChecker: Sync {
    /// Called once, on the boot core, which maps all memory. All VMs exist and none runs.
    ///
    /// # Errors
    ///
    /// A reason in a few words; Mortise then does not start.
    fn init(&self, machine: &'static Machine) -> Result<(), &'static str>;

    /// A guest exited; Mortise has done no more than acknowledge an interrupt.
    fn exit(&self, core: &'static Core, vm: &'static Vm, vcpu: usize, cause: Cause);

    /// A vCPU stopped; its context is not used again.
    fn vcpu_stopped(&self, core: &'static Core, vm: &'static Vm, vcpu: usize);

    /// A guest is entered with the state in the registers.
    fn entry(&self, core: &'static Core, vm: &'static Vm, vcpu: usize);
}

/// Page colouring: location of memory that is allocated by colour.
pub trait Colouring: Sync {
    /// Called once, on the boot core, which maps all memory. No VM exists yet.
    ///
    /// # Errors
    ///
    /// A reason in a few words; Mortise then does not start.
    fn init(
        &'static self,
        system: &'static System<'static>,
        manifest: &'static [u8],
    ) -> Result<(), &'static str>;

    /// Physical address of an address of the manifest, and for how many bytes it is contiguous.
    fn place(&self, address: u64) -> (u64, u64);

    /// Allocator of page frames for the translation tables of the VM with this index, if it has
    /// colours.
    fn frames(&'static self, vm: usize) -> Option<&'static dyn Frames>;
}

/// Rejects a second registration: the registry calls it for each pair.
#[must_use]
pub const fn only_one_colouring(_: &dyn Colouring, _: &dyn Colouring) -> bool {
    false
}

/// Interrupts that a VM owns.
pub type OwnedInterrupts = mortise_gicd::OwnedInterrupts<{ limits::VCPUS }, SPI_ROWS>;

/// Applies a decision to the hardware; returns the value of a load.
pub type ApplyDecision<'a> = &'a dyn Fn(Decision) -> u64;

/// Driver of an interrupt controller other than the GICv3. Its CPU interface belongs to VMs with
/// direct interrupts. Cores have the board's numbers. Called with interrupts masked. Mortise drives
/// a GICv3 itself, with few instructions.
pub trait Irqchip: Sync {
    /// Initialises the distributor: every interrupt disabled, the controller enabled.
    fn init(&self, gic: &Gic);

    /// Initialises the calling core's interface.
    ///
    /// # Errors
    ///
    /// If the driver does not know this core number.
    fn init_core(&self, gic: &Gic, cpu: usize) -> Result<(), &'static str>;

    /// Resets this core's interface so that only the doorbell wakes the core.
    fn reset_core(&self, gic: &Gic);

    /// Hands this core's interface to a guest that starts, in its state at power-on.
    fn hand_over(&self, gic: &Gic);

    /// Sends a core its doorbell. Earlier stores are visible to that core.
    fn send_doorbell(&self, gic: &Gic, cpu: usize);

    /// Acknowledges this core's doorbell, if it is pending.
    fn acknowledge_doorbell(&self, gic: &Gic);

    /// Waits for an interrupt for this core's guest, whatever priority mask it has set, and
    /// restores the interface.
    fn wait(&self, gic: &Gic, wait: fn());

    /// Routes an SPI to one core.
    fn route(&self, gic: &Gic, intid: u32, cpu: usize);

    /// Sets or clears the pending state of an SPI.
    fn set_pending(&self, gic: &Gic, intid: u32, pending: bool);

    /// Carries out a guest's access to the distributor, with `carry` for what is the same on a
    /// GICv3; returns the value of a load.
    fn access(
        &self,
        gic: &Gic,
        owned: &OwnedInterrupts,
        vcpu: usize,
        access: Access,
        carry: ApplyDecision<'_>,
    ) -> u64;
}

/// Rejects a second registration: the registry calls it for each pair.
#[must_use]
pub const fn only_one_irqchip(_: &dyn Irqchip, _: &dyn Irqchip) -> bool {
    false
}

/// Driver of an IOMMU, which confines the PCI devices of a VM to its memory. The root complex, with
/// all devices behind it, has one owner: the VM that maps its configuration space. Called with
/// interrupts masked, on the core of the owner's first vCPU, except for [`Iommu::init`].
pub trait Iommu: Sync {
    /// Called once, on the boot core. VMs exist and none runs: devices reach no memory until their
    /// owner starts.
    ///
    /// # Errors
    ///
    /// A reason in a few words; Mortise then does not start.
    fn init(
        &self,
        root: RootComplex,
        owner: &'static Vm,
        frames: &'static dyn Frames,
    ) -> Result<(), &'static str>;

    /// A run of the owner begins: its devices reach its memory.
    fn attach_devices(&self, machine: &'static Machine, owner: &'static Vm);

    /// The owner's run is over: its devices are stopped and reach no memory. Called with part 0, 1,
    /// 2 and so on, perhaps beyond the last part or repeatedly; returns whether more parts follow.
    fn detach_devices(&self, machine: &'static Machine, owner: &'static Vm, part: usize) -> bool;

    /// The IOMMU has events to report; returns whether more are left.
    fn report_events(&self, machine: &'static Machine, owner: &'static Vm) -> bool;
}

/// Rejects a second registration: the registry calls it for each pair.
#[must_use]
pub const fn only_one_iommu(_: &dyn Iommu, _: &dyn Iommu) -> bool {
    false
}
