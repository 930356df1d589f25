//! How a virtual machine's interrupts are controlled.

use crate::{description::VmError, machine::Machine};
use core_manifest::{InterruptMode, limits};
use core_sync::TicketLock;
use mortise_gic_mediated::{Cpu, Mediated};
use mortise_vgic::Virtual;

/// SPIs that a virtual machine can have, in rows of 32: INTID 32 to 287.
const SPI_ROWS: usize = 8;

/// How a virtual machine's interrupts are controlled.
#[expect(
    clippy::large_enum_variant,
    reason = "each stands in a static slot that is as large as the larger one"
)]
pub(crate) enum Interrupts {
    /// By itself; its accesses to the distributor are mediated.
    Direct(Mediated<{ limits::VCPUS }, SPI_ROWS>),
    /// By Mortise, through a controller that it emulates.
    Shared(TicketLock<Virtual<{ limits::VCPUS }, SPI_ROWS>>),
}

impl Interrupts {
    pub(crate) fn new(machine: &Machine, vm: &core_manifest::Vm<'_>) -> Result<Self, VmError> {
        let board = &machine.board;
        let passed = vm.interrupts.iter().map(|&intid| u32::from(intid));
        match vm.interrupt_mode {
            InterruptMode::Direct => {
                let mut gic = Mediated::new(board.doorbell);
                let mut cpus = heapless::Vec::<Cpu, { limits::VCPUS }>::new();
                cpus.extend(vm.cpus.iter().map(|&cpu| {
                    let number = usize::from(cpu);
                    Cpu {
                        number,
                        affinity: board.redistributor(number).affinity(),
                    }
                }));
                gic.set_cpus(&cpus)?;
                gic.add(board.virtual_timer)?;
                for intid in passed {
                    gic.add(intid)?;
                }
                Ok(Self::Direct(gic))
            }
            InterruptMode::Shared => {
                let mut gic = Virtual::new();
                gic.set_vcpus(vm.cpus.len())?;
                gic.add_hardware(board.virtual_timer)?;
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
