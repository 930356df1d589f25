//! SGIs to VMs with direct interrupts.

use super::{topology::Machine, vm::Vm};
use hw_irqchip_gicv3::{
    Group,
    cpu_interface::{self, Sgi},
};

impl Vm {
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
