//! Devices that read and write memory by themselves.
//!
//! A library that registers an [`Iommu`] in the table `iommus` keeps the PCI devices of a virtual
//! machine in its memory. The root complex, with all devices behind it, has one owner: the virtual machine
//! that its configuration space is mapped for. An image without the library has nothing of it.

use crate::{Core, Machine, Vm, board::Board, colouring, physical_gic::OWN_PRIORITY, registry};
use core_paging::{Error, Frames, KernelMap, Use};
use hw_arch::{El2, mmio::Mmio};
use hw_irqchip_gicv3::Trigger;

/// The registers of a PCI root complex and of the IOMMU in front of it.
#[derive(Debug, Clone, Copy)]
pub struct RootComplex {
    /// Of the IOMMU.
    pub iommu: Mmio,
    /// The configuration space of the devices, from bus 0 on.
    pub configuration: Mmio,
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

impl Board {
    fn root_complex(&self) -> RootComplex {
        // SAFETY: the board description says where they are; they are mapped as device memory on the
        // cores that come here.
        unsafe {
            RootComplex {
                iommu: Mmio::new(self.iommu_base, self.iommu_size),
                configuration: Mmio::new(self.pci_base, self.pci_size),
            }
        }
    }
}

impl Machine {
    /// Who has the root complex.
    fn has_devices(&self) -> Option<&'static Vm> {
        let board = &self.board;
        self.vms()
            .find(|vm| vm.reaches(board.pci_base, board.pci_size))
    }

    /// Has devices kept from memory, if somebody has them.
    #[inline(always)]
    pub(crate) fn open_iommu(&'static self) -> Result<(), &'static str> {
        let Some(iommu) = registry::iommu() else {
            return Ok(());
        };
        let Some(owner) = self.has_devices() else {
            return Ok(());
        };
        let board = &self.board;
        if self
            .vms()
            .any(|vm| vm.reaches(board.iommu_base, board.iommu_size))
        {
            return Err("somebody has the registers of the IOMMU");
        }
        let core = self.cores.get(owner.cpu(0));
        if !owner.is_shared() || core.is_none_or(|core| core.dispatcher().is_some()) {
            return Err("who has PCI devices has shared interrupts, and its first CPU for itself");
        }
        let first = self.next_frame();
        iommu.init(board.root_complex(), owner, self.frames)?;
        self.device_tables.call_once(|| first..self.next_frame());
        let distributor = board.distributor();
        distributor.route(board.iommu_irq, board.affinity(owner.cpu(0)));
        distributor.set_priority(board.iommu_irq, OWN_PRIORITY);
        // Its interrupts are pulses (Arm IHI 0070, 3.18).
        distributor.set_trigger(board.iommu_irq, Trigger::Edge);
        distributor.enable(board.iommu_irq);
        Ok(())
    }

    /// Lets the devices of who begins reach its memory.
    pub(crate) fn admit_devices(&'static self, vm: &'static Vm) {
        if let Some(iommu) = registry::iommu()
            && vm.has_devices(self)
        {
            iommu.attach_devices(self, vm);
        }
    }

    /// Keeps the devices of whose run is over from all memory, part by part; whether there are more.
    pub(crate) fn expel_devices(&'static self, vm: &'static Vm, part: usize) -> bool {
        registry::iommu()
            .is_some_and(|iommu| vm.has_devices(self) && iommu.detach_devices(self, vm, part))
    }
}

impl Core {
    /// Takes the IOMMU's interrupt, if this one is; false if not. What is more than one interrupt may
    /// keep the owner from is for the next.
    #[inline(always)]
    pub(crate) fn hears_iommu(&'static self, intid: u32) -> bool {
        let Some(iommu) = registry::iommu() else {
            return false;
        };
        let machine = self.machine;
        if intid != machine.board.iommu_irq {
            return false;
        }
        hw_irqchip_gicv3::cpu_interface::deactivate(intid);
        if let Some(owner) = machine.has_devices()
            && iommu.report_events(machine, owner)
        {
            machine.board.distributor().set_pending(intid, true);
        }
        true
    }

    /// Maps what it takes to answer for the devices of who runs here first.
    #[inline(always)]
    pub(crate) fn map_iommu(&self, map: &mut KernelMap<El2>) -> Result<(), Error> {
        if registry::iommu().is_some()
            && let Some(owner) = self.machine.has_devices()
            && owner.cpu(0) == self.cpu
        {
            let board = &self.machine.board;
            map.map(board.iommu_base, board.iommu_size, Use::Device)?;
            map.map(board.pci_base, board.pci_size, Use::Device)?;
            if let Some(tables) = self.machine.device_tables.get() {
                map.map(tables.start, tables.len(), Use::Data)?;
            }
        }
        Ok(())
    }
}

impl Vm {
    fn has_devices(&self, machine: &Machine) -> bool {
        self.reaches(machine.board.pci_base, machine.board.pci_size)
    }

    /// Each piece of its own memory: where it sees it, where it is, and how many bytes.
    ///
    /// # Errors
    ///
    /// The first that `each` has.
    pub fn for_memory<E>(
        &self,
        mut each: impl FnMut(u64, u64, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        for memory in self.description().memory() {
            let seen = memory.intermediate.start();
            colouring::pieces(memory.physical, |done, place, size| {
                each(seen + done, place, size)
            })?;
        }
        Ok(())
    }
}
