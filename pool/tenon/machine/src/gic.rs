//! Detection of the GIC version and of this core's redistributor.

use crate::options;
use core::fmt;
use hw_arch::board::Board;
use hw_arch::cpu;
use hw_arch::mmio::Mmio;
use hw_arch::registers::id_aa64pfr0_el1;
use hw_irqchip_gicv2 as gicv2;
use hw_irqchip_gicv3 as gicv3;
use tenon_irq::{Controller, Drivers};

/// Bytes of one redistributor frame (IHI 0069, 12.10).
const FRAME: usize = 0x1_0000;

/// The interrupt controller drivers of this image.
#[derive(Debug)]
pub struct LinkedDrivers;

impl Drivers for LinkedDrivers {
    #[inline(always)]
    fn gicv2() -> bool {
        options::gicv2()
    }

    #[inline(always)]
    fn gicv3() -> bool {
        options::gicv3()
    }
}

/// Error of the interrupt controller's initialisation.
pub enum GicError {
    /// The machine has a GIC version without a driver in this image.
    Driver,
    /// No redistributor has the affinity of this core.
    Redistributor,
}

impl fmt::Display for GicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Driver if machine_has_gicv3() => {
                "the machine has a GICv3; this image lacks a driver: see TENON_IRQCHIP"
            }
            Self::Driver => "the machine has a GICv2; this image lacks a driver: see TENON_IRQCHIP",
            Self::Redistributor => "no redistributor of the GIC serves this core",
        })
    }
}

/// Whether the machine has the system registers of a GICv3 (Arm ARM, D19.2.61:
/// ID_AA64PFR0_EL1.GIC).
fn machine_has_gicv3() -> bool {
    id_aa64pfr0_el1::read() >> 24 & 0xf != 0
}

/// Whether this image uses a GICv2. The machine is examined only if the image has both drivers.
#[inline(always)]
pub fn is_gicv2() -> bool {
    options::gicv2() && (!options::gicv3() || !machine_has_gicv3())
}

/// The controller with the interface of this core.
///
/// # Safety
///
/// `board` describes this machine.
pub unsafe fn find(board: &Board) -> Result<Controller, GicError> {
    if is_gicv2() == machine_has_gicv3() || is_gicv2() && board.gicc_base == 0 {
        return Err(GicError::Driver);
    }
    // SAFETY: the board has the distributor at this address, mapped as device memory.
    let distributor = unsafe { Mmio::new(board.gicd_base, board.gicd_size) };
    if is_gicv2() {
        // SAFETY: the board has a GICv2 with its CPU interface at this address, mapped as device
        // memory.
        let interface = unsafe { Mmio::new(board.gicc_base, board.gicc_size) };
        return Ok(Controller::Gicv2 {
            distributor: gicv2::Distributor::new(distributor),
            interface: gicv2::CpuInterface::new(interface),
        });
    }
    let count = board.gicr_size / board.gicr_stride;
    let redistributor = (0..count).find_map(|index| {
        let base = board.gicr_base + index * board.gicr_stride;
        // SAFETY: both frames lie within the redistributors of the board, mapped as device memory.
        let frames = unsafe { (Mmio::new(base, FRAME), Mmio::new(base + FRAME, FRAME)) };
        let redistributor = gicv3::Redistributor::new(frames.0, frames.1);
        (redistributor.affinity() == cpu::affinity()).then_some(redistributor)
    });
    Ok(Controller::Gicv3 {
        distributor: gicv3::Distributor::new(distributor),
        redistributor: redistributor.ok_or(GicError::Redistributor)?,
    })
}
