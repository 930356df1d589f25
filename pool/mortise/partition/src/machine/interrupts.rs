//! How a virtual machine's interrupts are controlled.

use super::{board::Board, description::VmError, options};
use core::sync::atomic::{AtomicU8, Ordering};
use core_manifest::{InterruptMode, limits};
use core_sync::TicketLock;
use hw_irqchip_gicv3::FIRST_SPI;
use mortise_gicd::{Cpu, OwnedInterrupts};
use mortise_vgic::VirtualGic;

/// SPIs that a virtual machine can have, in rows of 32: INTID 32 to 287.
pub(crate) const SPI_ROWS: usize = 8;

/// Whose the shared interrupts are that come to Mortise.
pub(crate) struct SpiOwners([AtomicU8; 32 * SPI_ROWS]);

impl SpiOwners {
    /// Nobody's.
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU8::new(NOBODY) }; 32 * SPI_ROWS])
    }

    /// Gives one to a virtual machine, by its index.
    pub(crate) fn give(&self, intid: u32, index: usize) {
        if let Some(owner) = self.0.get(place(intid)) {
            owner.store(index as u8, Ordering::Relaxed);
        }
    }

    /// Whose one is, by index; that of no virtual machine if it is nobody's.
    #[inline]
    pub(crate) fn of(&self, intid: u32) -> usize {
        let owner = self.0.get(place(intid));
        usize::from(owner.map_or(NOBODY, |owner| owner.load(Ordering::Relaxed)))
    }
}

const NOBODY: u8 = u8::MAX;
const _: () = assert!(limits::VMS < NOBODY as usize);

#[inline]
const fn place(intid: u32) -> usize {
    intid.wrapping_sub(FIRST_SPI) as usize
}

/// How a virtual machine's interrupts are controlled.
#[expect(
    clippy::large_enum_variant,
    reason = "each stands in a static slot that is as large as the larger one"
)]
pub(crate) enum Interrupts {
    /// By itself; its accesses to the distributor are mediated.
    Direct(OwnedInterrupts<{ limits::VCPUS }, SPI_ROWS>),
    /// By Mortise, through a controller that it emulates.
    Shared(TicketLock<VirtualGic<{ limits::VCPUS }, SPI_ROWS>>),
}

impl Interrupts {
    /// The controller that Mortise emulates, if its interrupts are not its own.
    #[inline(always)]
    pub(crate) fn shared(&self) -> Option<&TicketLock<VirtualGic<{ limits::VCPUS }, SPI_ROWS>>> {
        match self {
            Self::Shared(gic) if options::virtual_devices() => Some(gic),
            _ => None,
        }
    }

    /// What mediates its accesses to the distributor, if its interrupts are its own.
    #[inline(always)]
    pub(crate) fn direct(&self) -> Option<&OwnedInterrupts<{ limits::VCPUS }, SPI_ROWS>> {
        match self {
            Self::Direct(gic) => Some(gic),
            Self::Shared(_) => None,
        }
    }

    pub(crate) fn new(board: &Board, vm: &core_manifest::Vm) -> Result<Self, VmError> {
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

/// The timers of a virtual machine: of EL1's both, where no core is exchanged between several.
pub(crate) fn timers(board: &Board) -> impl Iterator<Item = u32> {
    let physical = (!options::cores_are_shared()).then_some(board.physical_timer);
    [board.virtual_timer].into_iter().chain(physical)
}
