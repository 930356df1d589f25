//! Libraries that take part in what becomes of virtual machines.
//!
//! One registers a [`VmExtension`] in the table `companions`. It is told what it needs to know
//! when, and calls back through what is public here; an image without it has none of this.

use crate::{Core, Machine, Vm, physical_gic::VmInterrupts, registry};
use core_manifest::{Name, System};
use core_memory::PhysicalRange;
use hw_irqchip_gicv3::{
    Group,
    cpu_interface::{self, Sgi},
};

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

/// What happened to a virtual machine.
impl Machine {
    /// The virtual machine at this place.
    #[must_use]
    pub fn vm(&self, index: usize) -> Option<&'static Vm> {
        self.vms.get(index)?.get()
    }

    /// Where RAM begins, and that of a virtual machine that is not mapped 1:1.
    #[must_use]
    pub fn ram_base(&self) -> u64 {
        self.board.ram_base as u64
    }

    /// Has a virtual machine of this template made, if somebody in this image does that.
    pub fn request_instance(&'static self, template: usize) {
        let vm_extensions = registry::vm_extensions().iter();
        vm_extensions.for_each(|extension| extension.instance_requested(self, template));
    }

    /// Lets companions do what is to be done in the name of a virtual machine that does not run. What
    /// is left is done when others had their turn.
    pub(crate) fn idle_work(&'static self, core: &'static Core, vm: &'static Vm) {
        let mut more = false;
        for extension in registry::vm_extensions() {
            more |= extension.idle_work(core, vm);
        }
        if more {
            core.requeue_vcpu(vm);
        }
    }

    /// Tells that a virtual machine begins to run, part by part; whether there are more.
    pub(crate) fn vm_starts(&'static self, vm: &'static Vm, part: usize) -> bool {
        if part == 0 {
            self.admit_devices(vm);
        }
        let mut more = false;
        for extension in registry::vm_extensions() {
            more |= extension.vm_starts(self, vm, part);
        }
        more
    }

    /// Tells that a virtual machine's run is over, part by part; whether there are more.
    pub(crate) fn vm_stopped(&'static self, vm: &'static Vm, part: usize) -> bool {
        let mut more = self.expel_devices(vm, part);
        for extension in registry::vm_extensions() {
            more |= extension.vm_stopped(self, vm, part);
        }
        more
    }
}

/// What a extension asks of a core.
impl Core {
    /// The machine it belongs to.
    #[must_use]
    pub const fn machine(&self) -> &'static Machine {
        self.machine
    }

    /// Whether a vCPU of the virtual machine at this place runs on it.
    #[must_use]
    pub fn hosts(&self, vm: usize) -> bool {
        let vm = self.machine.vm(vm);
        vm.is_some_and(|vm| vm.vcpu_on(self.cpu).is_some())
    }
}

/// What a extension asks of a virtual machine.
impl Vm {
    /// Its place among the virtual machines.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Whether it is one of those that the manifest starts with.
    #[must_use]
    pub fn is_resident(&self) -> bool {
        let machine = Core::current().machine;
        let resident = machine.system.get().map_or(0, |system| system.vms.len());
        self.index < resident
    }

    /// Bytes of its own memory.
    #[must_use]
    pub fn memory_size(&self) -> u64 {
        let memory = self.description().memory();
        memory.map(|range| range.physical.size()).sum()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &Name {
        &self.description().name
    }

    /// Gives it an interrupt that no hardware has, before it first runs. A direct one has all
    /// software-generated interrupts already, and can have no other.
    ///
    /// # Errors
    ///
    /// If it cannot have this one.
    pub fn add_interrupt(&self, intid: u32) -> Result<(), &'static str> {
        match self.interrupts.shared() {
            Some(gic) => gic
                .lock()
                .add_virtual(intid)
                .map_err(|_| "has no room for the interrupt of a channel, or has it already"),
            None if intid < SGIS => Ok(()),
            None => Err("is direct and has SGIs alone for its channels"),
        }
    }

    /// Raises an interrupt that [`add_interrupt`](Self::add_interrupt) gave it, unless its
    /// interrupts are its own.
    pub fn raise(&'static self, machine: &'static Machine, intid: u32) {
        if let Some(gic) = self.interrupts.shared() {
            gic.lock()
                .pulse(intid, &mut VmInterrupts { machine, vm: self });
        }
    }

    /// How to interrupt it where its interrupts are its own: a physical SGI to its first vCPU,
    /// whose core runs.
    #[must_use]
    pub fn direct_sgi(&self, machine: &'static Machine, intid: u32) -> Option<DirectSgi> {
        if self.is_shared() {
            return None;
        }
        let affinity = machine.cores.get(self.cpu(0))?.affinity()?;
        Some(DirectSgi(Sgi::new(intid, affinity)))
    }
}

/// A way to interrupt a virtual machine whose interrupts are its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectSgi(Sgi);

impl DirectSgi {
    /// Interrupts it. What was stored before is seen there.
    #[inline]
    pub fn send(self) {
        cpu_interface::send(Group::One, self.0);
    }

    /// Its bits, for who keeps it.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0.bits()
    }

    /// The bell of these bits, nothing if they are zero. Whatever they are, what they ring is an
    /// interrupt of a guest.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Option<Self> {
        match Sgi::from_bits(bits) {
            Some(sgi) => Some(Self(sgi)),
            None => None,
        }
    }
}

/// The software-generated interrupts, INTID 0 to 15.
const SGIS: u32 = 16;
