//! Decoding of an access into a register.

use crate::{Frame, PRIVATE, Width};

/// A bank of registers with one bit per interrupt, 32 interrupts in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitBank {
    /// IGROUPR.
    Group,
    /// ISENABLER.
    SetEnable,
    /// ICENABLER.
    ClearEnable,
    /// ISPENDR.
    SetPending,
    /// ICPENDR.
    ClearPending,
    /// ISACTIVER.
    SetActive,
    /// ICACTIVER.
    ClearActive,
}

/// Which part of a 64-bit register a permitted access covers (section 12.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Bits 31 to 0.
    Low,
    /// Bits 63 to 32.
    High,
    /// All of it.
    Both,
}

impl Half {
    /// The part of a register's value that a read of this half returns.
    #[inline]
    #[must_use]
    pub const fn of(self, value: u64) -> u64 {
        match self {
            Self::Low => value & 0xffff_ffff,
            Self::High => value >> 32,
            Self::Both => value,
        }
    }
}

/// A register of a GICv3 frame, as one access addresses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// GICD_CTLR.
    DistributorControl,
    /// GICD_TYPER.
    DistributorType,
    /// GICR_CTLR.
    RedistributorControl,
    /// GICR_TYPER, or half of it.
    RedistributorType(Half),
    /// GICD_IIDR or GICR_IIDR.
    Implementer,
    /// GICD_PIDR2 or GICR_PIDR2.
    Peripheral2,
    /// One bit per interrupt; `first` is the interrupt of bit 0.
    Bank {
        /// What the bits mean.
        bank: BitBank,
        /// The interrupt of bit 0, a multiple of 32.
        first: u32,
    },
    /// IPRIORITYR: `count` bytes (1 or 4), of which the lowest belongs to `first`.
    Priority {
        /// The interrupt of the lowest byte.
        first: u32,
        /// How many interrupts the access covers.
        count: u32,
    },
    /// ICFGR: two bits for each of 16 interrupts; the upper one is set for an edge.
    Configuration {
        /// The interrupt of the lowest two bits, a multiple of 16.
        first: u32,
    },
    /// IROUTER of a shared interrupt, or half of it.
    Route {
        /// The routed interrupt.
        intid: u32,
        /// What the access covers.
        half: Half,
    },
    /// Reads as zero, ignores writes. Besides reserved offsets these are: GICR_WAKER (always awake),
    /// the LPI registers (no LPIs), STATUSR, IGRPMODR and NSACR (one security state), ITARGETSR and
    /// SGIR (affinity routing), and every access of a width or alignment that the register does not
    /// permit.
    Reserved,
}

impl Register {
    /// The register at `offset` of `frame` for an access of `width` (sections 12.8, 12.10).
    // Inlined, so that a caller's match on the result merges with the matches in here: the
    // instructions of a trapped access are measured.
    #[inline(always)]
    #[must_use]
    pub const fn decode(frame: Frame, offset: usize, width: Width) -> Self {
        if offset & (width.bytes() - 1) != 0 {
            return Self::Reserved;
        }
        match (frame, width) {
            (Frame::Distributor, Width::Word) => Self::distributor(offset),
            (Frame::Redistributor(_), Width::Word) => Self::redistributor(offset),
            (Frame::Sgi(_), Width::Word) => Self::interrupts(offset, 0, PRIVATE),
            (Frame::Distributor, Width::Byte) => Self::priority(offset, 1, PRIVATE, 1020),
            (Frame::Sgi(_), Width::Byte) => Self::priority(offset, 1, 0, PRIVATE),
            (Frame::Distributor, Width::Double) => Self::route(offset, Half::Both),
            (Frame::Redistributor(_), Width::Double) if offset == 0x0008 => {
                Self::RedistributorType(Half::Both)
            }
            _ => Self::Reserved,
        }
    }

    #[inline(always)]
    const fn distributor(offset: usize) -> Self {
        match offset {
            // With affinity routing the fields of SGIs and PPIs are RAZ/WI here (section 12.9).
            0x0080..0x0d00 => Self::interrupts(offset, PRIVATE, 1020),
            0x6100..0x8000 if offset & 4 == 0 => Self::route(offset, Half::Low),
            0x6100..0x8000 => Self::route(offset, Half::High),
            0x0000 => Self::DistributorControl,
            0x0004 => Self::DistributorType,
            0x0008 => Self::Implementer,
            0xffe8 => Self::Peripheral2,
            _ => Self::Reserved,
        }
    }

    #[inline(always)]
    const fn redistributor(offset: usize) -> Self {
        match offset {
            0x0000 => Self::RedistributorControl,
            0x0004 => Self::Implementer,
            0x0008 => Self::RedistributorType(Half::Low),
            0x000c => Self::RedistributorType(Half::High),
            0xffe8 => Self::Peripheral2,
            _ => Self::Reserved,
        }
    }

    /// The registers with the same layout in GICD and in SGI_base, for interrupts `from..to`.
    #[inline(always)]
    const fn interrupts(offset: usize, from: u32, to: u32) -> Self {
        match offset {
            0x080..0x400 => {
                let first = (offset as u32 & 0x7f) * 8;
                Self::within(
                    Self::Bank {
                        bank: Self::bank(offset),
                        first,
                    },
                    first,
                    from,
                    to,
                )
            }
            0xc00..0xd00 => {
                let first = (offset as u32 - 0xc00) * 4;
                Self::within(Self::Configuration { first }, first, from, to)
            }
            _ => Self::priority(offset, 4, from, to),
        }
    }

    #[inline(always)]
    const fn priority(offset: usize, count: u32, from: u32, to: u32) -> Self {
        match offset {
            0x400..0x800 => {
                let first = offset as u32 - 0x400;
                Self::within(Self::Priority { first, count }, first, from, to)
            }
            _ => Self::Reserved,
        }
    }

    #[inline(always)]
    const fn within(register: Self, first: u32, from: u32, to: u32) -> Self {
        if from <= first && first < to {
            register
        } else {
            Self::Reserved
        }
    }

    #[inline]
    const fn bank(offset: usize) -> BitBank {
        match offset >> 7 {
            1 => BitBank::Group,
            2 => BitBank::SetEnable,
            3 => BitBank::ClearEnable,
            4 => BitBank::SetPending,
            5 => BitBank::ClearPending,
            6 => BitBank::SetActive,
            _ => BitBank::ClearActive,
        }
    }

    #[inline(always)]
    const fn route(offset: usize, half: Half) -> Self {
        match offset {
            0x6100..0x7fe0 => Self::Route {
                intid: (offset as u32 - 0x6000) / 8,
                half,
            },
            _ => Self::Reserved,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Width::{Byte, Double, Half as HalfWord, Word};

    const WIDTHS: [Width; 4] = [Byte, HalfWord, Word, Double];

    fn gicd(offset: usize, width: Width) -> Register {
        Register::decode(Frame::Distributor, offset, width)
    }

    #[test]
    fn identification_is_word_wide() {
        for (offset, register) in [
            (0x0000, Register::DistributorControl),
            (0x0004, Register::DistributorType),
            (0x0008, Register::Implementer),
            (0xffe8, Register::Peripheral2),
        ] {
            assert_eq!(gicd(offset, Word), register);
            for width in [Byte, HalfWord, Double] {
                assert_eq!(
                    gicd(offset, width),
                    Register::Reserved,
                    "{offset:#x} {width:?}"
                );
            }
        }
    }

    #[test]
    fn a_redistributor_has_control_type_and_identification() {
        let gicr = |offset, width| Register::decode(Frame::Redistributor(1), offset, width);
        assert_eq!(gicr(0x0, Word), Register::RedistributorControl);
        assert_eq!(gicr(0x4, Word), Register::Implementer);
        assert_eq!(gicr(0x8, Double), Register::RedistributorType(Half::Both));
        assert_eq!(gicr(0x8, Word), Register::RedistributorType(Half::Low));
        assert_eq!(gicr(0xc, Word), Register::RedistributorType(Half::High));
        assert_eq!(gicr(0xffe8, Word), Register::Peripheral2);
        // WAKER, PROPBASER, PENDBASER.
        for offset in [0x14, 0x70, 0x78] {
            assert_eq!(gicr(offset, Word), Register::Reserved);
            assert_eq!(gicr(offset, Double), Register::Reserved);
        }
    }

    #[test]
    fn banks_lie_128_bytes_apart() {
        let banks = [
            BitBank::Group,
            BitBank::SetEnable,
            BitBank::ClearEnable,
            BitBank::SetPending,
            BitBank::ClearPending,
            BitBank::SetActive,
            BitBank::ClearActive,
        ];
        for (i, bank) in banks.into_iter().enumerate() {
            let base = 0x80 * (i + 1);
            assert_eq!(gicd(base, Word), Register::Reserved);
            assert_eq!(gicd(base + 4, Word), Register::Bank { bank, first: 32 });
            assert_eq!(gicd(base + 0x7c, Word), Register::Bank { bank, first: 992 });
            let sgi = |offset| Register::decode(Frame::Sgi(0), offset, Word);
            assert_eq!(sgi(base), Register::Bank { bank, first: 0 });
            assert_eq!(sgi(base + 4), Register::Reserved);
        }
    }

    #[test]
    fn priorities_take_bytes_and_words() {
        assert_eq!(
            gicd(0x421, Byte),
            Register::Priority {
                first: 33,
                count: 1
            }
        );
        assert_eq!(
            gicd(0x424, Word),
            Register::Priority {
                first: 36,
                count: 4
            }
        );
        assert_eq!(gicd(0x41c, Word), Register::Reserved);
        assert_eq!(gicd(0x422, HalfWord), Register::Reserved);
        assert_eq!(gicd(0x420, Double), Register::Reserved);
        let sgi = Register::decode(Frame::Sgi(1), 0x41c, Word);
        assert_eq!(
            sgi,
            Register::Priority {
                first: 28,
                count: 4
            }
        );
    }

    #[test]
    fn configuration_is_sixteen_a_word() {
        assert_eq!(gicd(0xc04, Word), Register::Reserved);
        assert_eq!(gicd(0xc08, Word), Register::Configuration { first: 32 });
        let sgi = Register::decode(Frame::Sgi(0), 0xc04, Word);
        assert_eq!(sgi, Register::Configuration { first: 16 });
    }

    #[test]
    fn routes_are_64_bits_or_two_halves() {
        let route = |half| Register::Route { intid: 33, half };
        assert_eq!(gicd(0x6108, Double), route(Half::Both));
        assert_eq!(gicd(0x6108, Word), route(Half::Low));
        assert_eq!(gicd(0x610c, Word), route(Half::High));
        assert_eq!(gicd(0x6108, Byte), Register::Reserved);
        assert_eq!(
            gicd(0x7fd8, Double),
            Register::Route {
                intid: 1019,
                half: Half::Both
            }
        );
        assert_eq!(gicd(0x7fe0, Double), Register::Reserved);
        assert_eq!(gicd(0x60f8, Double), Register::Reserved);
    }

    #[test]
    fn every_offset_decodes_to_interrupts_that_can_exist() {
        for offset in 0..2 * crate::FRAME_SIZE {
            for width in WIDTHS {
                for (frame, range) in [
                    (Frame::Distributor, 32..1020),
                    (Frame::Redistributor(0), 0..0),
                    (Frame::Sgi(0), 0..32),
                ] {
                    let first = match Register::decode(frame, offset, width) {
                        Register::Bank { first, .. }
                        | Register::Priority { first, .. }
                        | Register::Configuration { first } => first,
                        Register::Route { intid, .. } => intid,
                        _ => continue,
                    };
                    assert!(range.contains(&first), "{frame:?} {offset:#x} {width:?}");
                }
            }
        }
    }

    #[test]
    fn the_redistributor_region_alternates_its_frames() {
        assert_eq!(Frame::in_redistributors(0x8), (Frame::Redistributor(0), 8));
        assert_eq!(Frame::in_redistributors(0x1_0100), (Frame::Sgi(0), 0x100));
        assert_eq!(Frame::in_redistributors(0x5_ffff), (Frame::Sgi(2), 0xffff));
    }

    #[test]
    fn widths_come_from_the_syndrome() {
        assert_eq!([0, 1, 2, 3].map(Width::from_sas), WIDTHS);
        assert_eq!(WIDTHS.map(Width::bytes), [1, 2, 4, 8]);
        assert_eq!(
            WIDTHS.map(Width::mask),
            [0xff, 0xffff, 0xffff_ffff, u64::MAX]
        );
    }

    #[test]
    fn types_report_one_security_state_and_no_lpis() {
        assert_eq!(crate::distributor_type(288) & 0x1f, 8);
        assert_eq!(
            crate::distributor_type(288) & (1 << 17 | 1 << 16 | 1 << 10),
            0
        );
        assert_eq!(crate::redistributor_type(2, 3), 2 << 32 | 2 << 8 | 1 << 4);
        assert_eq!(crate::redistributor_type(0, 3), 0);
    }
}
