//! Board description: addresses and interrupts that are constants of the image.

use crate::options;
use core_log::Level;
use hw_arch::{El2, mmio::Mmio};
use hw_clock::Clock;
use hw_irqchip_gicv3::{Distributor, Redistributor};

/// Addresses and interrupts of a board. `image!` makes the only one, of the board description, and
/// methods rely on its addresses.
#[derive(Debug, Clone, Copy)]
pub struct Board {
    /// Number of cores.
    pub cpus: usize,
    /// Base of RAM, and of the RAM of a VM that is not mapped 1:1.
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
    /// Bytes of a GICv2's CPU interface.
    pub gicc_size: usize,
    /// Base of the console's UART.
    pub uart_base: usize,
    /// Bytes of the console's UART.
    pub uart_size: usize,
    /// Interrupt of the console's UART.
    pub uart_irq: u32,
    /// Base of the SMMU in front of PCI devices, zero where there is none.
    pub iommu_base: usize,
    /// Bytes of the SMMU.
    pub iommu_size: usize,
    /// Interrupt of the SMMU's event queue.
    pub iommu_irq: u32,
    /// Base of the PCI configuration space.
    pub pci_base: usize,
    /// Bytes of the PCI configuration space.
    pub pci_size: usize,
    /// Virtual timer of EL1, a PPI.
    pub virtual_timer: u32,
    /// Physical timer of EL1, a PPI.
    pub physical_timer: u32,
    /// Timer of EL2, a PPI.
    pub hypervisor_timer: u32,
    /// Maintenance interrupt of the virtual CPU interface, a PPI.
    pub maintenance: u32,
    /// Clock of EL2, at the frequency of the board's counter.
    pub clock: Clock<El2>,
    /// Most verbose level that Mortise logs.
    pub log: Level,
    /// Doorbell SGI, in Group 0 on a GICv3.
    pub doorbell: u32,
}

/// Registers of a GIC with a memory-mapped CPU interface.
#[derive(Debug, Clone, Copy)]
pub struct Gic {
    /// Registers of the distributor.
    pub distributor: Mmio,
    /// Registers of the accessing core's CPU interface.
    pub interface: Mmio,
    /// Doorbell SGI, of the highest priority.
    pub doorbell: u32,
}

/// Registers of a PCI root complex and of the SMMU in front of it.
#[derive(Debug, Clone, Copy)]
pub struct RootComplex {
    /// Registers of the SMMU.
    pub iommu: Mmio,
    /// Configuration space of the devices, from bus 0.
    pub configuration: Mmio,
}

/// Bytes of one frame of GIC registers.
pub const GIC_FRAME: usize = 0x1_0000;

/// Whether `address` is one of the `size` bytes from `base` on.
#[inline]
#[must_use]
pub const fn contains(address: usize, base: usize, size: usize) -> bool {
    address >= base && address - base < size
}

impl Board {
    /// Board of the host, where nothing runs.
    #[cfg(not(target_os = "none"))]
    pub const NONE: Self = Self {
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
    pub fn distributor(&self) -> Distributor {
        // SAFETY: the board description states the address, and every core's map has it as device
        // memory.
        Distributor::new(unsafe { Mmio::new(self.gicd_base, self.gicd_size) })
    }

    /// The redistributor of core `cpu`; the board numbers both alike.
    #[inline]
    pub fn redistributor(&self, cpu: usize) -> Redistributor {
        let base = self.gicr_base + cpu * self.gicr_stride;
        // SAFETY: the board description states the address, and every core's map has all
        // redistributors as device memory.
        unsafe {
            Redistributor::new(
                Mmio::new(base, GIC_FRAME),
                Mmio::new(base + GIC_FRAME, GIC_FRAME),
            )
        }
    }

    /// Registers of a GIC that is not a GICv3.
    pub fn gic(&self) -> Gic {
        // SAFETY: the board description states the addresses, and every core's map has them as
        // device memory.
        unsafe {
            Gic {
                distributor: Mmio::new(self.gicd_base, self.gicd_size),
                interface: Mmio::new(self.gicc_base, self.gicc_size),
                doorbell: self.doorbell,
            }
        }
    }

    /// Base and size of the per-core registers of the interrupt controller.
    pub fn core_frames(&self) -> (usize, usize) {
        match options::other_irqchip() {
            true => (self.gicc_base, self.gicc_size),
            false => (self.gicr_base, self.gicr_stride * self.cpus),
        }
    }

    /// Affinity of a core: of its redistributor, or its number on a board without redistributors.
    #[inline]
    pub fn affinity(&self, cpu: usize) -> u64 {
        match options::other_irqchip() {
            true => cpu as u64,
            false => self.redistributor(cpu).affinity(),
        }
    }

    /// Registers of the PCI root complex and of the SMMU in front of it.
    pub fn root_complex(&self) -> RootComplex {
        // SAFETY: the board description states the addresses, and the cores that use them map them
        // as device memory.
        unsafe {
            RootComplex {
                iommu: Mmio::new(self.iommu_base, self.iommu_size),
                configuration: Mmio::new(self.pci_base, self.pci_size),
            }
        }
    }
}
