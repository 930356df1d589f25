//! Mediated accesses to the physical GICv3: the decision on each register.

use super::OwnedInterrupts;
use crate::{
    Access, BitBank, Cpu, Decision, Frame, HIGHEST_GUEST_PRIORITY, Half, IMPLEMENTER, Operation,
    PIDR2_GICV3, PRIVATE, PhysicalFrame, PhysicalRegister, Register, SgiRequest, Width, bits,
    control, distributor_type, redistributor_type,
};

/// GICD_CTLR.RWP: a register write is in progress (section 12.9.4).
const DISTRIBUTOR_WRITE_PENDING: u64 = 1 << 31;
/// GICR_CTLR.RWP (section 12.11.2).
const REDISTRIBUTOR_WRITE_PENDING: u64 = 1 << 3;

impl<const VCPUS: usize, const ROWS: usize> OwnedInterrupts<VCPUS, ROWS> {
    /// What an access by one of the VM's vCPUs may do. Each vCPU may access the redistributors of
    /// all of them.
    #[inline]
    #[must_use]
    pub fn decide(&self, access: Access) -> Decision {
        let frame = match access.frame {
            Frame::Distributor => Some(PhysicalFrame::Distributor),
            Frame::Redistributor(vcpu) => self
                .cpu(vcpu)
                .map(|cpu| PhysicalFrame::Redistributor(cpu.number)),
            Frame::Sgi(vcpu) => self.cpu(vcpu).map(|cpu| PhysicalFrame::Sgi(cpu.number)),
        };
        let decoded = Register::decode(access.frame, access.offset, access.width);
        let at = |frame| PhysicalRegister {
            frame,
            offset: access.offset,
            width: access.width,
        };
        match (frame, access.operation) {
            (Some(frame), Operation::Read) => self.read(access.frame, at(frame), decoded),
            (Some(frame), Operation::Write(value)) => {
                self.write(at(frame), decoded, value & access.width.mask())
            }
            (None, Operation::Read) => Decision::Value(0),
            (None, Operation::Write(_)) => Decision::Ignore,
        }
    }

    fn cpu(&self, vcpu: usize) -> Option<Cpu> {
        self.cpus().get(vcpu).copied()
    }

    #[inline]
    fn read(&self, frame: Frame, at: PhysicalRegister, decoded: Register) -> Decision {
        let part = |mask| match mask {
            0 => Decision::Value(0),
            _ => Decision::Read { at, mask, ones: 0 },
        };
        match decoded {
            Register::Bank {
                bank: BitBank::Group,
                first,
            } => Decision::Value(u64::from(self.owned(first))),
            Register::Bank { first, .. } => part(u64::from(self.owned(first))),
            Register::Priority { first, count } => part(u64::from(self.bytes(first, count))),
            Register::Configuration { first } => part(u64::from(self.pairs(first))),
            Register::Route { intid, half } if self.owns(intid) => Decision::ReadRoute {
                at: route(intid),
                half,
            },
            Register::DistributorControl => Decision::Read {
                at,
                mask: DISTRIBUTOR_WRITE_PENDING,
                ones: control::DS | control::ARE | control::ENABLE_GROUP1,
            },
            Register::RedistributorControl => part(REDISTRIBUTOR_WRITE_PENDING),
            Register::DistributorType => {
                Decision::Value(distributor_type(PRIVATE * (1 + ROWS as u32)))
            }
            Register::RedistributorType(half) => match frame {
                Frame::Redistributor(vcpu) => {
                    Decision::Value(half.of(redistributor_type(vcpu, self.cpus().len())))
                }
                _ => Decision::Value(0),
            },
            Register::Implementer => Decision::Value(IMPLEMENTER),
            Register::Peripheral2 => Decision::Value(PIDR2_GICV3),
            Register::Route { .. } | Register::Reserved => Decision::Value(0),
        }
    }

    #[inline]
    fn write(&self, at: PhysicalRegister, decoded: Register, value: u64) -> Decision {
        match decoded {
            Register::Bank {
                bank: BitBank::Group,
                ..
            } => Decision::Ignore,
            Register::Bank { first, .. } => match value & u64::from(self.owned(first)) {
                0 => Decision::Ignore,
                value => Decision::Write { at, value },
            },
            Register::Priority { first, count } => {
                self.write_priority(at, self.bytes(first, count), value as u32)
            }
            // SGIs are edge-triggered, whatever is written (section 12.9.10).
            Register::Configuration { first: 0 } => Decision::Ignore,
            // The lower bit of each pair is RES0.
            Register::Configuration { first } => match self.pairs(first) & 0xaaaa_aaaa {
                0 => Decision::Ignore,
                mask => Decision::Merge {
                    at,
                    mask,
                    value: value as u32 & mask,
                },
            },
            Register::Route {
                intid,
                half: Half::Low | Half::Both,
            } if self.owns(intid) => {
                /// Aff2, Aff1, Aff0; Aff3 is zero, and there is no 1-of-N routing.
                const AFFINITY: u64 = 0x00ff_ffff;
                match self.cpu((value & AFFINITY) as usize) {
                    Some(cpu) => Decision::Write {
                        at: route(intid),
                        value: cpu.affinity,
                    },
                    None => Decision::Ignore,
                }
            }
            Register::Route { .. }
            | Register::DistributorControl
            | Register::DistributorType
            | Register::RedistributorControl
            | Register::RedistributorType(_)
            | Register::Implementer
            | Register::Peripheral2
            | Register::Reserved => Decision::Ignore,
        }
    }

    fn write_priority(&self, at: PhysicalRegister, mask: u32, value: u32) -> Decision {
        let value = value
            .to_le_bytes()
            .map(|priority| priority.max(HIGHEST_GUEST_PRIORITY));
        let value = u32::from_le_bytes(value) & mask;
        match (mask, at.width) {
            (0, _) => Decision::Ignore,
            (u32::MAX, _) | (_, Width::Byte) => Decision::Write {
                at,
                value: value.into(),
            },
            _ => Decision::WriteBytes { at, mask, value },
        }
    }

    /// The guest's view of a route: the vCPU on the physical CPU that it names. A route to another
    /// CPU, before the guest's first write, reads as vCPU 0.
    #[must_use]
    pub fn route(&self, physical: u64) -> u64 {
        self.cpus()
            .iter()
            .position(|cpu| cpu.affinity == physical)
            .unwrap_or(0) as u64
    }

    /// The values to write to ICC_SGI1R_EL1 for a guest that wrote to it on `vcpu`: one for each
    /// target CPU, none if the VM does not own the SGI.
    pub fn sgis(&self, vcpu: usize, request: SgiRequest) -> impl Iterator<Item = u64> {
        let intid = request.intid();
        let targets = if self.owns(intid) {
            request.targets(vcpu, self.cpus().len())
        } else {
            0
        };
        bits(targets)
            .filter_map(move |target| self.cpu(target as usize))
            .map(move |cpu| SgiRequest::to_cpu(intid, cpu.affinity))
    }

    /// Whether the VM owns an interrupt.
    #[inline]
    #[must_use]
    pub fn owns(&self, intid: u32) -> bool {
        self.owned(intid) >> (intid % 32) & 1 != 0
    }

    /// 0xff for each of `count` interrupts that the VM owns.
    #[inline]
    #[must_use]
    pub fn bytes(&self, first: u32, count: u32) -> u32 {
        let owned = self.owned(first) >> (first % 32);
        (0..count)
            .filter(|i| owned >> i & 1 != 0)
            .fold(0, |mask, i| mask | 0xff << (8 * i))
    }

    /// Two bits for each of 16 interrupts that the VM owns.
    #[inline]
    fn pairs(&self, first: u32) -> u32 {
        let owned = self.owned(first) >> (first % 32) & 0xffff;
        bits(owned).fold(0, |mask, bit| mask | 3 << (2 * bit))
    }
}

/// GICD_IROUTER of an SPI.
const fn route(intid: u32) -> PhysicalRegister {
    PhysicalRegister {
        frame: PhysicalFrame::Distributor,
        offset: 0x6000 + 8 * intid as usize,
        width: Width::Double,
    }
}
