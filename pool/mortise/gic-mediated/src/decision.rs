//! What an access may do.

use mortise_gic_frame::{Half, Width};

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

/// A physical register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The frame it lies in.
    pub frame: PhysicalFrame,
    /// The byte offset in the frame.
    pub offset: usize,
    /// The width to access it with.
    pub width: Width,
}

/// What is to be done about an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// A read returns this value; the physical GIC is not touched.
    Value(u64),
    /// A read returns the bits of `mask` of the physical register, and those of `ones`.
    Read {
        /// The register.
        place: Place,
        /// The bits that the VM may see.
        mask: u64,
        /// Bits that read as one.
        ones: u64,
    },
    /// A read returns a part of the route, which names a physical CPU and which the guest knows by
    /// a virtual one: read IROUTER, whole, and pass it to [`Mediated::route`](crate::Mediated::route).
    ReadRoute {
        /// The register, 64 bits.
        place: Place,
        /// The part the guest asked for.
        half: Half,
    },
    /// The value is written as it is: to registers whose zeroes have no effect, or whole ones.
    Write {
        /// The register.
        place: Place,
        /// What to write.
        value: u64,
    },
    /// The bytes under `mask` are written, by one store each; the others are not the VM's.
    /// Priorities take byte accesses, so that no other VM's are ever rewritten.
    WriteBytes {
        /// The register of the lowest byte.
        place: Place,
        /// 0xff for each byte to write.
        mask: u32,
        /// What to write.
        value: u32,
    },
    /// The bits under `mask` are replaced, by reading and writing the register back: under a lock
    /// that covers the whole distributor, as its other bits may be another VM's.
    Merge {
        /// The register.
        place: Place,
        /// The bits that belong to the VM.
        mask: u32,
        /// What they become.
        value: u32,
    },
    /// A write has no effect.
    Ignore,
}
