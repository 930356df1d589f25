//! What Mortise must know of the board before it can read anything.

use super::options;
use core_log::Level;
use hw_arch::{El2, mmio::Mmio};
use hw_clock::Clock;
use hw_irqchip_gicv3::{Distributor, Redistributor};

/// Addresses and interrupts of a board, constants of the image.
#[derive(Debug, Clone, Copy)]
pub struct Board {
    /// Number of cores.
    pub cpus: usize,
    /// Where RAM begins, and that of a virtual machine that is not mapped 1:1.
    pub ram_base: usize,
    /// Base of the distributor.
    pub gicd_base: usize,
    /// Bytes of the distributor.
    pub gicd_size: usize,
    /// Base of the first redistributor.
    pub gicr_base: usize,
    /// Bytes from one redistributor to the next.
    pub gicr_stride: usize,
    /// Base of a GICv2's CPU interface, where there are no redistributors.
    pub gicc_base: usize,
    /// Bytes of that.
    pub gicc_size: usize,
    /// Base of the console's port.
    pub uart_base: usize,
    /// Bytes of the console's port.
    pub uart_size: usize,
    /// Interrupt of the console's port.
    pub uart_irq: u32,
    /// Base of the IOMMU in front of PCI devices, zero where there is none.
    pub iommu_base: usize,
    /// Bytes of that.
    pub iommu_size: usize,
    /// Interrupt by which that tells what it denied.
    pub iommu_irq: u32,
    /// Base of the configuration space of PCI devices.
    pub pci_base: usize,
    /// Bytes of that.
    pub pci_size: usize,
    /// Virtual timer of EL1, a private interrupt.
    pub virtual_timer: u32,
    /// Physical timer of EL1, a private interrupt.
    pub physical_timer: u32,
    /// Timer of EL2, a private interrupt.
    pub hypervisor_timer: u32,
    /// Maintenance interrupt of the virtual CPU interface, private.
    pub maintenance: u32,
    /// Clock of EL2, at the frequency of the board's counter.
    pub clock: Clock<El2>,
    /// The least urgent lines that Mortise logs.
    pub log: Level,
    /// SGI, of Group 0 on a GICv3, with which Mortise calls a core back.
    pub doorbell: u32,
}

/// The registers of an interrupt controller with a CPU interface in memory.
#[derive(Debug, Clone, Copy)]
pub struct Gic {
    /// Of the distributor.
    pub distributor: Mmio,
    /// Of whichever core's CPU interface accesses them.
    pub interface: Mmio,
    /// The SGI by which a core at rest is called, most urgent of all.
    pub doorbell: u32,
}

/// The registers of a PCI root complex and of the IOMMU in front of it.
#[derive(Debug, Clone, Copy)]
pub struct RootComplex {
    /// Of the IOMMU.
    pub iommu: Mmio,
    /// The configuration space of the devices, from bus 0 on.
    pub configuration: Mmio,
}

/// Bytes of one frame of GIC registers.
pub(crate) const GIC_FRAME: usize = 0x1_0000;

impl Board {
    /// That of the host, where nothing runs.
    #[cfg(not(target_os = "none"))]
    pub(crate) const NONE: Self = Self {
        cpus: 0,
        ram_base: 0,
        gicd_base: 0,
        gicd_size: 0,
        gicr_base: 0,
        gicr_stride: 0,
        gicc_base: 0,
        gicc_size: 0,
        uart_base: 0,
        uart_size: 0,
        uart_irq: 0,
        iommu_base: 0,
        iommu_size: 0,
        iommu_irq: 0,
        pci_base: 0,
        pci_size: 0,
        virtual_timer: 0,
        physical_timer: 0,
        hypervisor_timer: 0,
        maintenance: 0,
        clock: Clock::with_frequency(hw_clock::Frequency::from_hertz(1).expect("not zero")),
        log: Level::Info,
        doorbell: 0,
    };

    /// The distributor.
    pub(crate) fn distributor(&self) -> Distributor {
        // SAFETY: the board description says where it is; `core_map` maps it as
        // device memory on every core.
        Distributor::new(unsafe { Mmio::new(self.gicd_base, self.gicd_size) })
    }

    /// The redistributor of core `cpu`, which the board numbers like the cores.
    pub(crate) fn redistributor(&self, cpu: usize) -> Redistributor {
        let base = self.gicr_base + cpu * self.gicr_stride;
        // SAFETY: as for the distributor.
        unsafe {
            Redistributor::new(
                Mmio::new(base, GIC_FRAME),
                Mmio::new(base + GIC_FRAME, GIC_FRAME),
            )
        }
    }

    /// The registers of an interrupt controller that is no GICv3.
    pub(crate) fn gic(&self) -> Gic {
        // SAFETY: the board description says where they are; `core_map` maps them as device memory
        // on every core.
        unsafe {
            Gic {
                distributor: Mmio::new(self.gicd_base, self.gicd_size),
                interface: Mmio::new(self.gicc_base, self.gicc_size),
                doorbell: self.doorbell,
            }
        }
    }

    /// Where the cores' halves of the interrupt controller are, and how many bytes of them.
    pub(crate) fn core_frames(&self) -> (usize, usize) {
        match options::other_irqchip() {
            true => (self.gicc_base, self.gicc_size),
            false => (self.gicr_base, self.gicr_stride * self.cpus),
        }
    }

    /// The affinity of a core: that of its redistributor, and where there is none its number.
    pub(crate) fn affinity(&self, cpu: usize) -> u64 {
        match options::other_irqchip() {
            true => cpu as u64,
            false => self.redistributor(cpu).affinity(),
        }
    }

    pub(crate) fn root_complex(&self) -> RootComplex {
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
