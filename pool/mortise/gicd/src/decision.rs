//! Outcome of a mediated access.

use crate::{Half, Width};

/// A 64 KiB frame of the physical GIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhysicalFrame {
    /// GICD.
    Distributor,
    /// RD_base of the redistributor of the CPU of this [number](crate::Cpu::number).
    Redistributor(usize),
    /// SGI_base of the same.
    Sgi(usize),
}

/// A register of the physical GIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhysicalRegister {
    /// The frame that holds it.
    pub frame: PhysicalFrame,
    /// The byte offset in the frame.
    pub offset: usize,
    /// The width to access it with.
    pub width: Width,
}

/// What to do about an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// A read returns this value; the physical GIC is not touched.
    Value(u64),
    /// A read returns the bits of `mask` of the physical register, and those of `ones`.
    Read {
        /// The register.
        at: PhysicalRegister,
        /// The bits visible to the VM.
        mask: u64,
        /// Bits that read as one.
        ones: u64,
    },
    /// A read returns a part of the route. IROUTER names a physical CPU, the guest a virtual one:
    /// read all of IROUTER and pass it to [`OwnedInterrupts::route`](crate::OwnedInterrupts::route).
    ReadRoute {
        /// The 64-bit register.
        at: PhysicalRegister,
        /// The part that the guest reads.
        half: Half,
    },
    /// The value is written unchanged: zeroes have no effect there, or the VM owns the whole
    /// register.
    Write {
        /// The register.
        at: PhysicalRegister,
        /// What to write.
        value: u64,
    },
    /// Each byte under `mask` is written by a byte store; the VM does not own the others. Priority
    /// registers permit byte accesses, so priorities of other VMs are never rewritten.
    WriteBytes {
        /// The register of the lowest byte.
        at: PhysicalRegister,
        /// 0xff for each byte to write.
        mask: u32,
        /// What to write.
        value: u32,
    },
    /// The bits under `mask` are replaced by a read-modify-write of the register. The caller holds
    /// a lock that covers the whole distributor, because other VMs may own the other bits.
    Merge {
        /// The register.
        at: PhysicalRegister,
        /// The bits that the VM owns.
        mask: u32,
        /// Their new value.
        value: u32,
    },
    /// A write has no effect.
    Ignore,
}
