//! Mediated access to the physical GICv2's distributor for VMs that own their interrupts.
//!
//! Such a VM has the whole CPU interface and takes and ends interrupts there with no exit. The
//! distributor stays absent from its stage 2: there lie what other VMs own, where interrupts go, and
//! the register that sends them to any core. [`decide`] says what an access to it may do.
//!
//! What a GICv3 has in two frames, a GICv2 has in one, at the same offsets, the private interrupts as
//! the accessing core sees them. So what a VM owns, and what it may do about one interrupt, is said by
//! [`Mediated`]; here is what only a GICv2 has: targets and SGIs by numbers of cores, and what tells
//! a driver which generation it is.
//!
//! # Guarantees
//!
//! Pure, total and constant-time. A VM reaches only
//!
//! * the interrupts it owns: SGIs but the doorbell's, the PPIs and SPIs given to it;
//! * as their targets, and as receivers of its SGIs, its own CPUs: vCPU `i` is CPU interface `i` to it;
//! * their enable, pending, active, priority and trigger; priorities no more urgent than
//!   [`MOST_URGENT`](mortise_gic_mediated::MOST_URGENT), so that Mortise is heard where it waits;
//! * never their group, nor whether the distributor is on.
//!
//! All else reads as zero and ignores writes, the bits of who sent an SGI that is pending among it.
//!
//! # Example
//!
//! ```
//! use mortise_gic_mediated::{Cpu, Decision as Plain, Mediated, Operation, Width};
//! use mortise_gicv2_mediated::{Decision, decide};
//! // vCPU 0 runs on physical CPU 3; SGI 15 is the doorbell.
//! let mut gic: Mediated<1, 8> = Mediated::new(15);
//! gic.set_cpus(&[Cpu { number: 3, affinity: 3 }])?;
//! // SGI 2 to CPUs 0 and 1: of these the VM has the first.
//! let sgi = Operation::Write(0b11 << 16 | 2);
//! let Decision::Plain(Plain::Write { value, .. }) = decide(&gic, 0, 0xf00, Width::Word, sgi) else {
//!     panic!("it is sent")
//! };
//! assert_eq!(value, 0b1000 << 16 | 2);
//! # Ok::<(), mortise_gic_mediated::Error>(())
//! ```
//!
//! References are to the GICv2 architecture specification, Arm IHI 0048.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

#[cfg(test)]
mod tests;

use mortise_gic_frame::{Access, Frame, IMPLEMENTER, Operation, PRIVATE, Register, Width};
use mortise_gic_mediated::{Decision as Plain, Mediated, PhysicalFrame, Place};

/// What is to be done about an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// As on a GICv3, whose frames are all the one that a GICv2 has.
    Plain(Plain),
    /// A read returns, of each byte, the VM's name of the targets in the physical register: read it,
    /// and pass it to [`targets`].
    ReadTargets {
        /// The register.
        place: Place,
        /// 0xff for each interrupt that the VM owns.
        mask: u32,
    },
}

/// GICD_CTLR: the distributor is on (section 4.3.1).
const ON: u64 = 1;
/// GICD_ICPIDR2 of a GICv2: ArchRev = 2 (section 4.3.18).
const PIDR2_GICV2: u64 = 2 << 4;
/// The last bank ends here; what a GICv3 has behind it is none of a GICv2's.
const BANKS: core::ops::Range<usize> = 0x080..0xd00;
const TARGETS: core::ops::Range<usize> = 0x800..0xc00;
const GROUPS: core::ops::Range<usize> = 0x080..0x100;
const SGIR: usize = 0xf00;

/// What an access of vCPU `vcpu` to the distributor, at `offset`, may do.
#[must_use]
pub fn decide<const VCPUS: usize, const ROWS: usize>(
    gic: &Mediated<VCPUS, ROWS>,
    vcpu: usize,
    offset: usize,
    width: Width,
    operation: Operation,
) -> Decision {
    let nothing = match operation {
        Operation::Read => Plain::Value(0),
        Operation::Write(_) => Plain::Ignore,
    };
    if TARGETS.contains(&offset) {
        return target(gic, vcpu, offset, width, operation).unwrap_or(Decision::Plain(nothing));
    }
    Decision::Plain(match (offset, width, operation) {
        (0x000, Width::Word, Operation::Read) => Plain::Value(ON),
        (0x004, Width::Word, Operation::Read) => Plain::Value(kind::<ROWS>(gic.cpus().len())),
        (0x008, Width::Word, Operation::Read) => Plain::Value(IMPLEMENTER),
        (0xfe8, Width::Word, Operation::Read) => Plain::Value(PIDR2_GICV2),
        (SGIR, Width::Word, Operation::Write(value)) => send(gic, vcpu, value as u32),
        // All interrupts of VMs are in the group that drivers of one security state enable.
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

/// The guest's name of a set of physical CPUs: a bit for each of its vCPUs that is among them.
#[must_use]
pub fn targets<const VCPUS: usize, const ROWS: usize>(
    gic: &Mediated<VCPUS, ROWS>,
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

/// An access to ITARGETSR (section 4.3.12); nothing if there is nothing of the VM's.
fn target<const VCPUS: usize, const ROWS: usize>(
    gic: &Mediated<VCPUS, ROWS>,
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
    let place = Place {
        frame: PhysicalFrame::Distributor,
        offset,
        width,
    };
    if first < PRIVATE {
        // Read-only: whose they are, which is how a core finds out its number.
        let own = (1u32 << (vcpu & 7)) * 0x0101_0101;
        let value = u64::from(own) & width.mask();
        return (operation == Operation::Read).then_some(Decision::Plain(Plain::Value(value)));
    }
    let mask = gic.bytes(first, count);
    match (mask, operation) {
        (0, _) => None,
        (_, Operation::Read) => Some(Decision::ReadTargets { place, mask }),
        (_, Operation::Write(value)) => {
            let bytes = (value as u32).to_le_bytes();
            let bytes = bytes.map(|byte| physical(gic, byte));
            let value = u32::from_le_bytes(bytes) & mask;
            Some(Decision::Plain(match width {
                Width::Byte => Plain::Write {
                    place,
                    value: value.into(),
                },
                _ => Plain::WriteBytes { place, mask, value },
            }))
        }
    }
}

/// The physical CPUs that a guest names, of those that are its own.
fn physical<const VCPUS: usize, const ROWS: usize>(gic: &Mediated<VCPUS, ROWS>, vcpus: u8) -> u8 {
    let cpus = gic.cpus().iter().enumerate();
    cpus.filter(|(vcpu, _)| vcpus >> (vcpu & 7) & 1 != 0)
        .fold(0, |set, (_, cpu)| set | 1 << (cpu.number & 7))
}

/// A write to SGIR (section 4.3.15): an SGI of the VM's, to CPUs of its own.
fn send<const VCPUS: usize, const ROWS: usize>(
    gic: &Mediated<VCPUS, ROWS>,
    vcpu: usize,
    value: u32,
) -> Plain {
    let (intid, own) = (value & 0xf, 1u8 << (vcpu & 7));
    let vcpus = match value >> 24 & 3 {
        0 => (value >> 16) as u8,
        1 => !own,
        2 => own,
        _ => 0,
    };
    match physical(gic, vcpus) {
        cpus if cpus != 0 && gic.owns(intid) => Plain::Write {
            place: Place {
                frame: PhysicalFrame::Distributor,
                offset: SGIR,
                width: Width::Word,
            },
            value: u64::from(cpus) << 16 | u64::from(intid),
        },
        _ => Plain::Ignore,
    }
}
