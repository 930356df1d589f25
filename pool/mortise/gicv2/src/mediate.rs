//! Mediated access to the distributor of a GICv2 for VMs that own their interrupts.
//!
//! The banks of a GICv2 have the offsets of the GICv3 banks, in one frame, with the private
//! interrupts banked for the accessing core. So [`OwnedInterrupts`] decides on them. This module adds
//! the registers of a GICv2 only: ITARGETSR and SGIR, which name CPUs by number, and identification.

use mortise_gicd::{
    Access, Decision as Common, Frame, IMPLEMENTER, Operation, OwnedInterrupts, PRIVATE,
    PhysicalFrame, PhysicalRegister, Register, Width,
};

/// What to do about an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// As on a GICv3; all frames are the one frame of a GICv2.
    Common(Common),
    /// A read returns the targets in each byte of the physical register as the VM numbers them: read
    /// it, and pass it to [`targets`].
    ReadTargets {
        /// The register.
        at: PhysicalRegister,
        /// 0xff for each interrupt that the VM owns.
        mask: u32,
    },
}

/// GICD_CTLR: the distributor is enabled (section 4.3.1).
const ENABLED: u64 = 1;
/// GICD_ICPIDR2 of a GICv2: ArchRev = 2 (section 4.3.18).
const PIDR2_GICV2: u64 = 2 << 4;
/// Offsets of the banks that GICv2 and GICv3 share; the GICv3 registers behind them do not exist on
/// a GICv2.
const BANKS: core::ops::Range<usize> = 0x080..0xd00;
pub(crate) const TARGETS: core::ops::Range<usize> = 0x800..0xc00;
const GROUPS: core::ops::Range<usize> = 0x080..0x100;
pub(crate) const SGIR: usize = 0xf00;

/// What an access of vCPU `vcpu` to the distributor, at `offset`, may do.
#[must_use]
pub fn decide<const VCPUS: usize, const ROWS: usize>(
    gic: &OwnedInterrupts<VCPUS, ROWS>,
    vcpu: usize,
    offset: usize,
    width: Width,
    operation: Operation,
) -> Decision {
    let nothing = match operation {
        Operation::Read => Common::Value(0),
        Operation::Write(_) => Common::Ignore,
    };
    if TARGETS.contains(&offset) {
        return target(gic, vcpu, offset, width, operation).unwrap_or(Decision::Common(nothing));
    }
    Decision::Common(match (offset, width, operation) {
        (0x000, Width::Word, Operation::Read) => Common::Value(ENABLED),
        (0x004, Width::Word, Operation::Read) => Common::Value(kind::<ROWS>(gic.cpus().len())),
        (0x008, Width::Word, Operation::Read) => Common::Value(IMPLEMENTER),
        (0xfe8, Width::Word, Operation::Read) => Common::Value(PIDR2_GICV2),
        (SGIR, Width::Word, Operation::Write(value)) => send(gic, vcpu, value as u32),
        // All interrupts of VMs are in the group that drivers enable where there is one security
        // state.
        _ if GROUPS.contains(&offset) => nothing,
        _ if BANKS.contains(&offset) && width != Width::Double => {
            let private = Frame::Sgi(vcpu);
            let frame = match Register::decode(private, offset, width) {
                Register::Reserved => Frame::Distributor,
                _ => private,
            };
            gic.decide(Access {
                frame,
                offset,
                width,
                operation,
            })
        }
        _ => nothing,
    })
}

/// A set of physical CPUs as the guest numbers them: one bit for each of its vCPUs in the set.
#[must_use]
pub fn targets<const VCPUS: usize, const ROWS: usize>(
    gic: &OwnedInterrupts<VCPUS, ROWS>,
    physical: u32,
) -> u32 {
    let bytes = physical.to_le_bytes().map(|byte| {
        let vcpus = gic.cpus().iter().enumerate();
        vcpus.fold(0, |set, (vcpu, cpu)| {
            set | (byte >> (cpu.number & 7) & 1) << (vcpu & 7)
        })
    });
    u32::from_le_bytes(bytes)
}

/// GICD_TYPER: interrupts in steps of 32, CPUs, one security state (section 4.3.2).
const fn kind<const ROWS: usize>(cpus: usize) -> u64 {
    ROWS as u64 & 0x1f | (cpus.saturating_sub(1) as u64 & 7) << 5
}

/// An access to ITARGETSR (section 4.3.12), or `None` if the VM owns none of its interrupts.
fn target<const VCPUS: usize, const ROWS: usize>(
    gic: &OwnedInterrupts<VCPUS, ROWS>,
    vcpu: usize,
    offset: usize,
    width: Width,
    operation: Operation,
) -> Option<Decision> {
    let first = (offset - TARGETS.start) as u32;
    let count = match width {
        Width::Byte => 1,
        Width::Word if offset.is_multiple_of(4) => 4,
        _ => return None,
    };
    let at = PhysicalRegister {
        frame: PhysicalFrame::Distributor,
        offset,
        width,
    };
    if first < PRIVATE {
        // Read-only: the accessing core, by which a core discovers its number.
        let own = (1u32 << (vcpu & 7)) * 0x0101_0101;
        let value = u64::from(own) & width.mask();
        return (operation == Operation::Read).then_some(Decision::Common(Common::Value(value)));
    }
    let mask = gic.bytes(first, count);
    match (mask, operation) {
        (0, _) => None,
        (_, Operation::Read) => Some(Decision::ReadTargets { at, mask }),
        (_, Operation::Write(value)) => {
            let bytes = (value as u32).to_le_bytes();
            let bytes = bytes.map(|byte| physical(gic, byte));
            let value = u32::from_le_bytes(bytes) & mask;
            Some(Decision::Common(match width {
                Width::Byte => Common::Write {
                    at,
                    value: value.into(),
                },
                _ => Common::WriteBytes { at, mask, value },
            }))
        }
    }
}

/// The physical CPUs of a set that a guest names, limited to its own.
fn physical<const VCPUS: usize, const ROWS: usize>(
    gic: &OwnedInterrupts<VCPUS, ROWS>,
    vcpus: u8,
) -> u8 {
    let cpus = gic.cpus().iter().enumerate();
    cpus.filter(|(vcpu, _)| vcpus >> (vcpu & 7) & 1 != 0)
        .fold(0, |set, (_, cpu)| set | 1 << (cpu.number & 7))
}

/// A write to SGIR (section 4.3.15): an SGI that the VM owns, to its own CPUs.
fn send<const VCPUS: usize, const ROWS: usize>(
    gic: &OwnedInterrupts<VCPUS, ROWS>,
    vcpu: usize,
    value: u32,
) -> Common {
    let (intid, own) = (value & 0xf, 1u8 << (vcpu & 7));
    let vcpus = match value >> 24 & 3 {
        0 => (value >> 16) as u8,
        1 => !own,
        2 => own,
        _ => 0,
    };
    match physical(gic, vcpus) {
        cpus if cpus != 0 && gic.owns(intid) => Common::Write {
            at: PhysicalRegister {
                frame: PhysicalFrame::Distributor,
                offset: SGIR,
                width: Width::Word,
            },
            value: u64::from(cpus) << 16 | u64::from(intid),
        },
        _ => Common::Ignore,
    }
}
