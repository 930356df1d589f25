//! Register map of the GICv3 distributor and redistributor frames, as a guest's access meets it.
//!
//! The frames are absent from stage 2, so each access arrives as a data abort. [`Register::decode`]
//! turns (frame, offset, width) into a checked value: either a register with the interrupts it
//! speaks of, or [`Register::Reserved`], which reads as zero and ignores writes. After that no code
//! sees a raw offset again.
//!
//! # Guarantees
//!
//! Pure, total and constant-time: every offset of every width decodes, nothing panics, nothing is
//! allocated. Whether an interrupt exists is the business of whoever answers the access.
//!
//! # Example
//!
//! ```
//! use mortise_gic_frame::{Bank, Frame, Register, Width};
//! // GICD_ISENABLER1 speaks of interrupts 32 to 63.
//! let register = Register::decode(Frame::Distributor, 0x104, Width::Word);
//! assert_eq!(register, Register::Bank { bank: Bank::SetEnable, first: 32 });
//! // With affinity routing, the private interrupts are not in the distributor.
//! assert_eq!(Register::decode(Frame::Distributor, 0x100, Width::Word), Register::Reserved);
//! ```
//!
//! References are to the GIC architecture specification, Arm IHI 0069.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod enables;
mod register;
mod sgi;

pub use enables::Enables;
pub use register::{Bank, Half, Register};
pub use sgi::SgiRequest;

/// Size of one register frame in bytes.
pub const FRAME_SIZE: usize = 0x1_0000;

/// Interrupts 0 to 31 are private to a vCPU: SGIs 0 to 15 and PPIs 16 to 31 (section 2.2).
pub const PRIVATE: u32 = 32;

/// GICD_PIDR2 and GICR_PIDR2 of a GICv3: ArchRev = 3 (section 12.9.37).
pub const PIDR2_GICV3: u64 = 3 << 4;

/// GICD_IIDR and GICR_IIDR: Arm as the implementer, `T` as the product, which no driver keeps a
/// list of errata for (section 12.9.17).
pub const IMPLEMENTER: u64 = (b'T' as u64) << 24 | 0x43b;

/// GICD_CTLR of a distributor with one security state (section 12.9.4).
pub mod control {
    /// Group 0 interrupts are forwarded.
    pub const ENABLE_GROUP0: u64 = 1 << 0;
    /// Group 1 interrupts are forwarded.
    pub const ENABLE_GROUP1: u64 = 1 << 1;
    /// Affinity routing; RAO/WI here.
    pub const ARE: u64 = 1 << 4;
    /// One security state; RAO/WI here.
    pub const DS: u64 = 1 << 6;
}

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

/// What the guest does at the address.
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

/// GICD_TYPER for interrupts up to `lines` (a multiple of 32): one security state, no LPIs, no
/// message-based SPIs, 10 bits of INTID, no 1-of-N routing, Aff3 zero (section 12.9.38).
#[inline]
#[must_use]
pub const fn distributor_type(lines: u32) -> u64 {
    const ID_BITS_10: u64 = 9 << 19;
    const NO_1_OF_N: u64 = 1 << 25;
    let groups_of_32 = (lines / 32).saturating_sub(1) as u64;
    groups_of_32 & 0x1f | ID_BITS_10 | NO_1_OF_N
}

/// GICR_TYPER of a vCPU: its affinity (Aff0 is its index), its number, whether it is the last
/// frame, no LPIs (section 12.11.35).
#[inline]
#[must_use]
pub const fn redistributor_type(vcpu: usize, vcpus: usize) -> u64 {
    let last = vcpu + 1 == vcpus;
    (vcpu as u64) << 32 | (vcpu as u64) << 8 | (last as u64) << 4
}

/// The set bits of a word, lowest first.
#[inline]
pub fn bits(mut word: u32) -> impl Iterator<Item = u32> {
    core::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        word &= word.wrapping_sub(1);
        (bit < 32).then_some(bit)
    })
}
