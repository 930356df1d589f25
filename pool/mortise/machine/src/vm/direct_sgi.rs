//! SGIs to VMs with direct interrupts.

use crate::{Machine, vm::Vm};
use hw_irqchip_gicv3::{
    Group,
    cpu_interface::{self, Sgi},
};

impl Vm {
    /// SGI to the first vCPU of a VM with direct interrupts. Its core must be on.
    #[must_use]
    pub fn direct_sgi(&self, machine: &'static Machine, intid: u32) -> Option<DirectSgi> {
        if self.is_shared() {
            return None;
        }
        let affinity = machine.cores.get(self.cpu(0))?.affinity()?;
        Some(DirectSgi(Sgi::new(intid, affinity)))
    }
}

/// SGI to a VM with direct interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectSgi(Sgi);

impl DirectSgi {
    /// Sends the SGI. Earlier stores are visible to the receiver.
    #[inline]
    pub fn send(self) {
        cpu_interface::send(Group::One, self.0);
    }

    /// Encoding of the SGI, never zero.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0.bits()
    }

    /// The SGI with this encoding, or nothing for zero. Any encoding sends an interrupt of a guest.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Option<Self> {
        match Sgi::from_bits(bits) {
            Some(sgi) => Some(Self(sgi)),
            None => None,
        }
    }
}
