//! Interrupt controller of a VM, and owners of SPIs.

use crate::{board::Board, description::VmError, options};
use core::sync::atomic::{AtomicU8, Ordering};
use core_manifest::{InterruptMode, limits};
use core_sync::TicketLock;
use hw_irqchip_gicv3::FIRST_SPI;
use mortise_gicd::{Cpu, OwnedInterrupts};
use mortise_vgic::VirtualGic;

/// Rows of 32 SPIs that a VM can own: INTID 32 to 287.
pub const SPI_ROWS: usize = 8;

/// Owners of the SPIs that are taken to EL2.
pub struct SpiOwners([AtomicU8; 32 * SPI_ROWS]);

impl SpiOwners {
    /// No SPI has an owner.
    pub const fn none() -> Self {
        Self([const { AtomicU8::new(NO_OWNER) }; 32 * SPI_ROWS])
    }

    /// Assigns an SPI to the VM with this index.
    pub fn assign(&self, intid: u32, index: usize) {
        if let Some(owner) = self.0.get(index_of(intid)) {
            owner.store(index as u8, Ordering::Relaxed);
        }
    }

    /// Index of the VM that owns an SPI; without an owner, an index that no VM has.
    #[inline]
    pub fn owner(&self, intid: u32) -> usize {
        let owner = self.0.get(index_of(intid));
        usize::from(owner.map_or(NO_OWNER, |owner| owner.load(Ordering::Relaxed)))
    }
}

const NO_OWNER: u8 = u8::MAX;
const _: () = assert!(limits::VMS < NO_OWNER as usize);

#[inline]
const fn index_of(intid: u32) -> usize {
    intid.wrapping_sub(FIRST_SPI) as usize
}

/// Interrupt controller of a VM.
#[expect(
    clippy::large_enum_variant,
    reason = "each stands in a static slot that is as large as the larger one"
)]
pub enum Interrupts {
    /// Direct interrupts; accesses to the distributor are mediated.
    Direct(OwnedInterrupts<{ limits::VCPUS }, SPI_ROWS>),
    /// A virtual GIC.
    Shared(TicketLock<VirtualGic<{ limits::VCPUS }, SPI_ROWS>>),
}

impl Interrupts {
    /// The virtual GIC of a VM with interrupts that are taken to EL2.
    #[inline(always)]
    pub fn shared(&self) -> Option<&TicketLock<VirtualGic<{ limits::VCPUS }, SPI_ROWS>>> {
        match self {
            Self::Shared(gic) if options::virtual_devices() => Some(gic),
            _ => None,
        }
    }

    /// The ownership by which accesses to the distributor are mediated, of a VM with direct
    /// interrupts.
    #[inline(always)]
    pub fn direct(&self) -> Option<&OwnedInterrupts<{ limits::VCPUS }, SPI_ROWS>> {
        match self {
            Self::Direct(gic) => Some(gic),
            Self::Shared(_) => None,
        }
    }

    /// Interrupt controller of a VM of the manifest, with its timers, its serial port and its
    /// devices.
    ///
    /// # Errors
    ///
    /// If the interrupts cannot be mediated or virtual, or the image has no virtual devices.
    #[inline]
    pub fn new(board: &Board, vm: &core_manifest::Vm) -> Result<Self, VmError> {
        let passed = vm.interrupts.iter().map(|&intid| u32::from(intid));
        match vm.interrupt_mode {
            InterruptMode::Direct => {
                let mut gic = OwnedInterrupts::new(board.doorbell);
                let mut cpus = heapless::Vec::<Cpu, { limits::VCPUS }>::new();
                cpus.extend(vm.cpus.iter().map(|&cpu| {
                    let number = usize::from(cpu);
                    Cpu {
                        number,
                        affinity: board.affinity(number),
                    }
                }));
                gic.set_cpus(&cpus)?;
                for timer in timers(board) {
                    gic.add(timer)?;
                }
                if options::other_irqchip() && vm.console == core_manifest::Console::Pl011 {
                    gic.add(board.uart_irq)?;
                }
                for intid in passed {
                    gic.add(intid)?;
                }
                Ok(Self::Direct(gic))
            }
            InterruptMode::Shared if options::other_irqchip() => Err(VmError::Irqchip),
            InterruptMode::Shared if !options::virtual_devices() => Err(VmError::Devices),
            InterruptMode::Shared => {
                let mut gic = VirtualGic::new();
                gic.set_vcpus(vm.cpus.len())?;
                for timer in timers(board) {
                    gic.add_hardware(timer)?;
                }
                if vm.console == core_manifest::Console::Pl011 {
                    gic.add_virtual(board.uart_irq)?;
                }
                for intid in passed {
                    gic.add_hardware(intid)?;
                }
                Ok(Self::Shared(TicketLock::new(gic)))
            }
        }
    }
}

/// Timers of a VM: the virtual one, and in an image without shared cores also EL1's physical one.
pub fn timers(board: &Board) -> impl Iterator<Item = u32> {
    let physical = (!options::has_shared_cores()).then_some(board.physical_timer);
    [board.virtual_timer].into_iter().chain(physical)
}
