//! Access to a device that reads and writes memory itself (direct memory access).

use crate::mmio::{Mmio, Registers};

/// Registers of the device: earlier stores to memory are visible to it when a register is written.
#[derive(Debug, Clone, Copy)]
pub struct Frame(Mmio);

impl Frame {
    /// The device with these registers.
    #[must_use]
    pub const fn new(registers: Mmio) -> Self {
        Self(registers)
    }

    /// Its registers without that order, for values that refer to no memory written before.
    #[must_use]
    pub const fn unordered(&self) -> Mmio {
        self.0
    }
}

impl Registers for Frame {
    fn read(&self, offset: usize) -> u32 {
        self.0.read32(offset)
    }

    fn write(&mut self, offset: usize, value: u32) {
        crate::barrier::dsb_sy();
        self.0.write32(offset, value);
    }
}

/// Address of an item as the device sees it: the physical one, since memory is mapped one to one.
#[must_use]
pub fn address<T>(of: &T) -> u64 {
    core::ptr::from_ref(of) as u64
}
