//! The interrupt controller of the machine this image woke up on.

use crate::boot::Platform;
use crate::options;
use core::fmt;
use hw_arch::cpu;
use hw_arch::mmio::Mmio;
use hw_arch::registers::id_aa64pfr0_el1;
use hw_irqchip_gicv2 as gicv2;
use hw_irqchip_gicv3 as gicv3;
use tenon_irq::Controller;

/// Bytes of one redistributor frame (IHI 0069, 12.10).
const FRAME: usize = 0x1_0000;

/// Why there are no interrupts.
pub(crate) enum Missing {
    /// The machine has the other generation of the GIC.
    Driver,
    /// No redistributor names this core.
    Redistributor,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Driver if machine_has_gicv3() => {
                "the machine has a GICv3, this image its driver not: see TENON_IRQCHIP"
            }
            Self::Driver => "the machine has a GICv2, this image its driver not: see TENON_IRQCHIP",
            Self::Redistributor => "no redistributor of the GIC serves this core",
        })
    }
}

/// Whether the CPU interface is system registers (Arm ARM, D19.2.61: ID_AA64PFR0_EL1.GIC).
fn machine_has_gicv3() -> bool {
    id_aa64pfr0_el1::read() >> 24 & 0xf != 0
}

/// Whether this image is to use a GICv2: found out only if it has both drivers.
#[inline(always)]
pub(crate) fn is_gicv2() -> bool {
    options::gicv2() && (!options::gicv3() || !machine_has_gicv3())
}

/// The controller, as this core sees it.
///
/// # Safety
///
/// `platform` tells the truth.
pub(crate) unsafe fn find(platform: &Platform) -> Result<Controller, Missing> {
    if is_gicv2() == machine_has_gicv3() || is_gicv2() && platform.gicc_base == 0 {
        return Err(Missing::Driver);
    }
    // SAFETY: the frame is there and mapped as device memory.
    let distributor = unsafe { Mmio::new(platform.gicd_base, platform.gicd_size) };
    if is_gicv2() {
        // SAFETY: as above; the board has a GICv2, so the frame is there.
        let interface = unsafe { Mmio::new(platform.gicc_base, platform.gicc_size) };
        return Ok(Controller::Gicv2 {
            distributor: gicv2::Distributor::new(distributor),
            interface: gicv2::CpuInterface::new(interface),
        });
    }
    let count = platform.gicr_size / platform.gicr_stride;
    let redistributor = (0..count).find_map(|index| {
        let base = platform.gicr_base + index * platform.gicr_stride;
        // SAFETY: both frames are within the redistributors' range.
        let frames = unsafe { (Mmio::new(base, FRAME), Mmio::new(base + FRAME, FRAME)) };
        let redistributor = gicv3::Redistributor::new(frames.0, frames.1);
        (redistributor.affinity() == cpu::affinity()).then_some(redistributor)
    });
    Ok(Controller::Gicv3 {
        distributor: gicv3::Distributor::new(distributor),
        redistributor: redistributor.ok_or(Missing::Redistributor)?,
    })
}
