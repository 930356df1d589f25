//! Guest accesses to the frames of a GICv3.

/// Size of one register frame in bytes.
pub const FRAME_SIZE: usize = 0x1_0000;

/// A 64 KiB frame of registers; redistributors carry the index of their vCPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// GICD, common to the whole VM.
    Distributor,
    /// RD_base of one vCPU's redistributor.
    Redistributor(usize),
    /// SGI_base of one vCPU's redistributor.
    Sgi(usize),
}

impl Frame {
    /// The frame and the offset in it for an offset into the redistributor region, where each vCPU
    /// has RD_base and SGI_base one after the other (section 12.10).
    #[inline]
    #[must_use]
    pub const fn in_redistributors(offset: usize) -> (Self, usize) {
        let vcpu = offset / (2 * FRAME_SIZE);
        let frame = if offset & FRAME_SIZE == 0 {
            Self::Redistributor(vcpu)
        } else {
            Self::Sgi(vcpu)
        };
        (frame, offset % FRAME_SIZE)
    }
}

/// The width of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 8 bits.
    Byte,
    /// 16 bits: no GIC register takes these.
    Half,
    /// 32 bits.
    Word,
    /// 64 bits.
    Double,
}

impl Width {
    /// The width a data abort reports in ESR_EL2.ISS.SAS; only the low two bits count.
    #[inline]
    #[must_use]
    pub const fn from_sas(sas: u64) -> Self {
        match sas & 3 {
            0 => Self::Byte,
            1 => Self::Half,
            2 => Self::Word,
            _ => Self::Double,
        }
    }

    /// The number of bytes.
    #[inline]
    #[must_use]
    pub const fn bytes(self) -> usize {
        1 << self as usize
    }

    /// The bits a value of this width can have.
    #[inline]
    #[must_use]
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - 8 * self.bytes())
    }
}

/// Load or store of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A load.
    Read,
    /// A store of this value.
    Write(u64),
}

/// One access by a guest to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The frame accessed.
    pub frame: Frame,
    /// The byte offset in the frame.
    pub offset: usize,
    /// The width of the access.
    pub width: Width,
    /// Load or store.
    pub operation: Operation,
}
