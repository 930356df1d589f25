//! Interfaces that libraries of the image implement and register.

use super::{
    board::{Gic, RootComplex},
    interrupts::SPI_ROWS,
    stacks::PerCore,
    topology::{Core, Machine},
    vm::Vm,
};
use core_manifest::{System, limits};
use core_memory::PhysicalRange;
use core_paging::Frames;
use mortise_gicd::{Access, Decision};
use mortise_vcpu::{Access as DeviceAccess, Cause, FrameCell};

/// Takes part in what becomes of virtual machines. Called with interrupts masked.
pub trait VmExtension: Sync {
    /// All of the system's virtual machines are made and none runs. Called once, on the
    /// first core, which reaches all memory; whoever fails says why in a few words.
    ///
    /// # Errors
    ///
    /// Mortise does not start.
    fn init(
        &self,
        machine: &'static Machine,
        system: &System<'static>,
        manifest: &'static [u8],
    ) -> Result<(), &'static str>;

    /// Names each range that a core has to reach besides its own.
    fn memory_ranges(&self, core: &'static Core, range: &mut dyn FnMut(PhysicalRange));

    /// Names each page of registers that a core has to reach besides its own, once.
    fn register_pages(&self, _core: &'static Core, _page: &mut dyn FnMut(PhysicalRange)) {}

    /// A virtual machine's first vCPU is about to run, anew or again. Step by part, from 0, and
    /// perhaps beyond the last; whether there are more.
    fn vm_starts(&self, machine: &'static Machine, vm: &'static Vm, part: usize) -> bool;

    /// A virtual machine's run is over: none of its vCPUs will execute before it begins anew. Step by
    /// part, from 0, and perhaps beyond the last or once more; whether there are more.
    fn vm_stopped(&self, machine: &'static Machine, vm: &'static Vm, part: usize) -> bool;

    /// A virtual machine that does not run has nothing to do, on the core of its first vCPU: whatever
    /// else is to be done there in its name, until an interrupt waits. True if there is more.
    fn idle_work(&self, _core: &'static Core, _vm: &'static Vm) -> bool {
        false
    }

    /// A vCPU rests on a core that is its VM's alone and has nothing to do there: whatever the core was
    /// [lent](Vm::lend) for, to its end. True if it was.
    fn run_on_lent_core(&self, _core: &'static Core, _vm: &'static Vm, _vcpu: usize) -> bool {
        false
    }

    /// A vCPU loads from where its virtual machine has neither memory nor a device: what it finds there,
    /// if this extension has something.
    fn load(&self, _core: &'static Core, _vm: &'static Vm, _vcpu: usize, _ipa: u64) -> Option<u64> {
        None
    }

    /// Something is there for a virtual machine of this template, and none runs.
    fn instance_requested(&self, _machine: &'static Machine, _template: usize) {}
}

/// A virtual device that a library has for some virtual machines.
///
/// One registers it in the table `devices`; an image without any has none of this.
pub trait Device: Sync {
    /// A vCPU loads from where its virtual machine has nothing of its own, or stores `stored` there;
    /// nothing if this has no register there for it. Called with interrupts masked: it returns to
    /// these within a few steps.
    fn access(
        &self,
        core: &'static Core,
        vm: &'static Vm,
        ipa: u64,
        access: DeviceAccess,
        stored: Option<u64>,
    ) -> Option<DeviceResponse>;
}

/// What a device answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceResponse {
    /// It is done; a load finds this.
    Value(u64),
    /// The vCPU is to make the access again, when what is pending has been taken.
    Retry,
}

/// What came for a virtual CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeReason {
    /// What is in its list registers already.
    Listed,
    /// What stands in memory: its virtual interrupt controller, its VM's power states.
    StateChanged,
    /// A shared peripheral interrupt that the core has acknowledged for it.
    Interrupt(u32),
}

/// What a library of mode 2 registers: a dispatcher for each core.
pub trait Dispatch: Sync {
    /// The dispatcher of core `cpu`, if there is one for so many virtual machines.
    fn core(&'static self, cpu: usize, vms: usize) -> Option<&'static dyn Dispatcher>;

    /// Where the dispatchers are: whole pages of each core's own.
    fn records(&'static self) -> PerCore;
}

/// Shares one core out among virtual CPUs. Called on that core, with every interrupt masked.
pub trait Dispatcher: Sync {
    /// Begins with the core, which nothing is needed of any more: waits until somebody can go
    /// on.
    fn begin(&'static self, core: &'static Core) -> !;

    /// Takes an exit of the guest in the registers, to its end: who goes on is entered, or
    /// its frame is returned.
    fn exit(&'static self, cause: Cause, core: &'static Core) -> &'static FrameCell;

    /// The virtual CPU whose guest is in the registers has nothing to do until something
    /// comes for it.
    fn wait(&self, core: &'static Core);

    /// The virtual CPU whose guest is in the registers has ended what it did.
    fn stop(&self, core: &'static Core);

    /// Something came for a VM's virtual CPU on this core. One that it hears of for the first
    /// time gets a place, and rests there until its VM's power states say otherwise.
    fn wake(&'static self, core: &'static Core, vm: &'static Vm, news: WakeReason);

    /// A VM's virtual CPU on this core is to have the core no more until it is woken after
    /// its VM's release, and that [noted](Core::mark_off_core). With `forget` nothing of it is needed any
    /// more.
    fn hold(&'static self, core: &'static Core, vm: &'static Vm, forget: bool);

    /// What Mortise itself waits for on this core has changed ([`Core::hypervisor_deadline`]).
    fn reconsider(&self, core: &'static Core);

    /// The guest in the registers used floating point, which traps.
    fn floating_point(&self);

    /// What a register of identification, which traps, says to the guest in the registers.
    fn identity(&self, encoding: u16) -> u64;
}

/// That no image has two: asked for each pair of what is registered.
#[must_use]
pub const fn only_one(_: &dyn Dispatch, _: &dyn Dispatch) -> bool {
    false
}

/// Whether the background of a core may go on, and until when, in ticks of the counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    /// It may, and is to be asked about again at this time.
    Runs(u64),
    /// It is to wait until this time.
    Waits(u64),
}

/// Decides on the background of shared cores. Called on the core, with every interrupt masked.
pub trait Regulator: Sync {
    /// This core is shared out from now on.
    fn begin(&self, core: &'static Core);

    /// Whether its background may go on now.
    fn background(&self, core: &'static Core, now: u64) -> Background;
}

/// That no image has two: asked for each pair of what is registered.
#[must_use]
pub const fn only_one_regulator(_: &dyn Regulator, _: &dyn Regulator) -> bool {
    false
}

/// What a library registers that runs something of its own on cores without a virtual machine.
pub trait CoreTask: Sync {
    /// Whether it runs something on this core.
    fn runs_on(&self, cpu: usize) -> bool;

    /// Runs it: called once, on that core, with every interrupt masked and the hypervisor's timer
    /// enabled. The core rests when it returns.
    fn run(&self, core: &'static Core);
}

/// Checks what guests go on with. Called with interrupts masked, and but for [`ExitChecker::open`] on the
/// core of the virtual CPU, whose guest is in the registers. One that finds something wrong panics.
pub trait ExitChecker: Sync {
    /// All of the system's virtual machines are made and none runs. Called once, on the first core,
    /// which reaches all memory; whoever fails says why in a few words.
    ///
    /// # Errors
    ///
    /// Mortise does not start.
    fn init(&self, machine: &'static Machine) -> Result<(), &'static str>;

    /// A guest came to Mortise, which has done nothing yet but to acknowledge an interrupt.
    fn exit(&self, core: &'static Core, vm: &'static Vm, vcpu: usize, cause: Cause);

    /// What a virtual CPU did is over: it begins anew, or never.
    fn vcpu_stopped(&self, core: &'static Core, vm: &'static Vm, vcpu: usize);

    /// A guest goes on, or begins, with what is in the registers.
    fn entry(&self, core: &'static Core, vm: &'static Vm, vcpu: usize);
}

/// Where memory is that is dealt out by colour.
pub trait Colouring: Sync {
    /// No virtual machine is made yet. Called once, on the first core, which reaches all memory;
    /// whoever fails says why in a few words.
    ///
    /// # Errors
    ///
    /// Mortise does not start.
    fn init(
        &'static self,
        system: &'static System<'static>,
        manifest: &'static [u8],
    ) -> Result<(), &'static str>;

    /// Where an address of the manifest's is, and for how many bytes what follows it follows there.
    fn place(&self, address: u64) -> (u64, u64);

    /// Where the translation tables come from of the virtual machine at this place, if it has
    /// colours: of these.
    fn frames(&'static self, vm: usize) -> Option<&'static dyn Frames>;
}

/// That no image has two: asked for each pair of what is registered.
#[must_use]
pub const fn only_one_colouring(_: &dyn Colouring, _: &dyn Colouring) -> bool {
    false
}

/// What a virtual machine owns of the interrupt controller.
pub type OwnedInterrupts = mortise_gicd::OwnedInterrupts<{ limits::VCPUS }, SPI_ROWS>;

/// Carries out a decision; what a load finds.
pub type ApplyDecision<'a> = &'a dyn Fn(Decision) -> u64;

/// An interrupt controller whose CPU interface a virtual machine has, registers and all. Cores have the
/// numbers that the board gives them. Called with interrupts masked.
pub trait Irqchip: Sync {
    /// Makes the shared half ready: every interrupt off, the controller on.
    fn init(&self, gic: &Gic);

    /// Makes the half of the core that calls ready, for its rest.
    ///
    /// # Errors
    ///
    /// If it does not know this core by its number.
    fn init_core(&self, gic: &Gic, cpu: usize) -> Result<(), &'static str>;

    /// Takes this core's half back to a rest, in which the doorbell wakes it and nothing else does.
    fn reset_core(&self, gic: &Gic);

    /// Gives this core's half to a guest that starts, as at power-on.
    fn hand_over(&self, gic: &Gic);

    /// Rings the doorbell of a core. What was stored before is seen there.
    fn send_doorbell(&self, gic: &Gic, cpu: usize);

    /// Takes this core's doorbell, if it rang.
    fn acknowledge_doorbell(&self, gic: &Gic);

    /// Waits on behalf of this core's guest, whatever it masks, and leaves its half as it was.
    fn wait(&self, gic: &Gic, wait: fn());

    /// Sends a shared interrupt to one core.
    fn route(&self, gic: &Gic, intid: u32, cpu: usize);

    /// Makes a shared interrupt pending as if a device had, or takes that back.
    fn set_pending(&self, gic: &Gic, intid: u32, pending: bool);

    /// Does what an access of a guest's to the distributor may do, by `carry` where a GICv3 has the
    /// same; what a load finds.
    fn access(
        &self,
        gic: &Gic,
        owned: &OwnedInterrupts,
        vcpu: usize,
        access: Access,
        carry: ApplyDecision<'_>,
    ) -> u64;
}

/// That no image has two: asked for each pair of what is registered.
#[must_use]
pub const fn only_one_irqchip(_: &dyn Irqchip, _: &dyn Irqchip) -> bool {
    false
}

/// Keeps PCI devices in the memory of who has them. Called with interrupts masked, on the core of the
/// owner's first vCPU, but for [`Iommu::open`].
pub trait Iommu: Sync {
    /// Virtual machines are made and none runs: no device reaches anything until its owner begins.
    /// Called once, on the first core; whoever fails says why in a few words.
    ///
    /// # Errors
    ///
    /// Mortise does not start.
    fn init(
        &self,
        root: RootComplex,
        owner: &'static Vm,
        frames: &'static dyn Frames,
    ) -> Result<(), &'static str>;

    /// The owner's first vCPU is about to run: its devices reach its memory.
    fn attach_devices(&self, machine: &'static Machine, owner: &'static Vm);

    /// The owner's run is over: its devices are quiet, and reach nothing any more. Step by part, from 0,
    /// and perhaps beyond the last or once more; whether there are more.
    fn detach_devices(&self, machine: &'static Machine, owner: &'static Vm, part: usize) -> bool;

    /// The IOMMU has something to tell; whether there is more of it.
    fn report_events(&self, machine: &'static Machine, owner: &'static Vm) -> bool;
}

/// That no image has two: asked for each pair of what is registered.
#[must_use]
pub const fn only_one_iommu(_: &dyn Iommu, _: &dyn Iommu) -> bool {
    false
}
