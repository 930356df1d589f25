//! MMIO frame: the registers of a device.
//!
//! Made once by a kernel for a device that it maps, and safe from then on. Accesses are single load
//! and store instructions without write-back, so that a hypervisor that traps them gets a valid
//! syndrome (`ESR_ELx.ISV`, Arm ARM D19.2.37), and offsets stay inside the frame.

/// Registers at `[base, base + length)`.
#[derive(Debug, Clone, Copy)]
pub struct Mmio {
    base: usize,
    length: usize,
}

/// Device registers of 32 bits, or a test's model of them.
pub trait Registers {
    /// Reads the register at this offset.
    fn read(&self, offset: usize) -> u32;
    /// Writes the register at this offset.
    fn write(&mut self, offset: usize, value: u32);
}

impl Registers for Mmio {
    #[inline(always)]
    fn read(&self, offset: usize) -> u32 {
        self.read32(offset)
    }

    #[inline(always)]
    fn write(&mut self, offset: usize, value: u32) {
        self.write32(offset, value);
    }
}

/// Writes the accessors of one width.
macro_rules! access {
    ($read:ident, $write:ident, $type:ty, $load:literal, $store:literal) => {
        /// Reads the register at `offset`; zero outside the frame.
        #[inline(always)]
        #[must_use]
        pub fn $read(&self, offset: usize) -> $type {
            if !self.holds(offset, size_of::<$type>()) {
                return 0;
            }
            let address = self.base + offset;
            #[cfg(target_arch = "aarch64")]
            {
                let value: u64;
                // SAFETY: `new` guarantees the frame, `holds` that the offset lies in it.
                unsafe {
                    core::arch::asm!($load, value = out(reg) value, address = in(reg) address,
                        options(nostack, preserves_flags));
                }
                value as $type
            }
            #[cfg(not(target_arch = "aarch64"))]
            // SAFETY: `new` guarantees the frame, `holds` that the offset lies in it.
            unsafe {
                (address as *const $type).read_volatile()
            }
        }

        /// Writes the register at `offset`; no effect outside the frame.
        #[inline(always)]
        pub fn $write(&self, offset: usize, value: $type) {
            if !self.holds(offset, size_of::<$type>()) {
                return;
            }
            let address = self.base + offset;
            #[cfg(target_arch = "aarch64")]
            // SAFETY: `new` guarantees the frame, `holds` that the offset lies in it.
            unsafe {
                core::arch::asm!($store, value = in(reg) u64::from(value), address = in(reg) address,
                    options(nostack, preserves_flags));
            }
            #[cfg(not(target_arch = "aarch64"))]
            // SAFETY: `new` guarantees the frame, `holds` that the offset lies in it.
            unsafe {
                (address as *mut $type).write_volatile(value)
            }
        }
    };
}

impl Mmio {
    /// Frame of device registers at `base`.
    ///
    /// # Safety
    ///
    /// `[base, base + length)` must stay mapped as device memory, and no access
    /// to it may have an effect on memory that Rust knows of.
    #[must_use]
    pub const unsafe fn new(base: usize, length: usize) -> Self {
        Self { base, length }
    }

    /// Address of the frame.
    #[must_use]
    pub const fn base(&self) -> usize {
        self.base
    }

    /// The 32-bit register at `offset`, if it lies in the frame.
    #[must_use]
    pub const fn register(&self, offset: usize) -> Option<Register> {
        if self.holds(offset, 4) {
            Some(Register(Self {
                base: self.base + offset,
                length: 4,
            }))
        } else {
            None
        }
    }

    #[inline(always)]
    const fn holds(&self, offset: usize, size: usize) -> bool {
        offset < self.length && self.length - offset >= size && offset.is_multiple_of(size)
    }

    access!(
        read8,
        write8,
        u8,
        "ldrb {value:w}, [{address}]",
        "strb {value:w}, [{address}]"
    );
    access!(
        read16,
        write16,
        u16,
        "ldrh {value:w}, [{address}]",
        "strh {value:w}, [{address}]"
    );
    access!(
        read32,
        write32,
        u32,
        "ldr {value:w}, [{address}]",
        "str {value:w}, [{address}]"
    );
    access!(
        read64,
        write64,
        u64,
        "ldr {value}, [{address}]",
        "str {value}, [{address}]"
    );
}

/// One 32-bit register for frequent writes: its offset was checked once.
#[derive(Debug, Clone, Copy)]
pub struct Register(Mmio);

impl Register {
    /// Writes the register.
    #[inline(always)]
    pub fn write(&self, value: u32) {
        // The length is a constant 4, which the compiler cannot derive.
        let frame = Mmio {
            base: self.0.base,
            length: 4,
        };
        frame.write32(0, value);
    }
}

#[cfg(test)]
mod tests {
    use super::Mmio;

    #[test]
    fn stays_inside_the_frame() {
        let mut memory = [0u64; 2];
        // SAFETY: `memory` outlives the frame.
        let frame = unsafe { Mmio::new(memory.as_mut_ptr() as usize, 12) };
        frame.write32(8, 7);
        frame.write64(8, u64::MAX);
        frame.write32(2, u32::MAX);
        assert_eq!(frame.read32(8), 7);
        assert_eq!(frame.read32(12), 0);
        frame.register(8).unwrap().write(7);
        assert!(frame.register(12).is_none() && frame.register(2).is_none());
        assert_eq!(memory, [0, 7]);
    }
}
