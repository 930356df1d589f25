//! Mediated accesses, register by register and from a hostile guest.

use super::*;
use crate::{FRAME_SIZE, Half};
use proptest::prelude::*;

/// Two vCPUs on the CPUs 3 and 5 of different clusters; the virtual timer and two serial ports.
pub fn vm() -> OwnedInterrupts<2, 8> {
    let mut gic = OwnedInterrupts::new(0);
    gic.set_cpus(&[
        Cpu {
            number: 3,
            affinity: 0x103,
        },
        Cpu {
            number: 5,
            affinity: 5,
        },
    ])
    .unwrap();
    for intid in [27, 33, 35, 64] {
        gic.add(intid).unwrap();
    }
    gic
}

fn read(frame: Frame, offset: usize, width: Width) -> Decision {
    vm().decide(Access {
        frame,
        offset,
        width,
        operation: Operation::Read,
    })
}

fn write(frame: Frame, offset: usize, width: Width, value: u64) -> Decision {
    vm().decide(Access {
        frame,
        offset,
        width,
        operation: Operation::Write(value),
    })
}

const GICD: PhysicalFrame = PhysicalFrame::Distributor;

fn word(frame: PhysicalFrame, offset: usize) -> PhysicalRegister {
    PhysicalRegister {
        frame,
        offset,
        width: Width::Word,
    }
}

#[test]
fn interrupts_are_given_once() {
    let mut gic: OwnedInterrupts<1, 1> = OwnedInterrupts::new(0);
    assert_eq!(gic.add(15), Err(Error::NoSuchInterrupt(15)));
    assert_eq!(gic.add(64), Err(Error::NoSuchInterrupt(64)));
    assert_eq!((gic.add(63), gic.add(63)), (Ok(()), Err(Error::Taken(63))));
    assert_eq!(gic.set_cpus(&[]), Err(Error::TooManyVcpus));
    assert_eq!(gic.set_cpus(&[Cpu::default(); 2]), Err(Error::TooManyVcpus));
    assert_eq!(vm().shared().collect::<Vec<_>>(), [33, 35, 64]);
    assert_eq!(vm().private(), 0x0800_fffe);
}

#[test]
fn control_is_fixed_but_shows_outstanding_writes() {
    assert_eq!(
        read(Frame::Distributor, 0, Width::Word),
        Decision::Read {
            at: word(GICD, 0),
            mask: 1 << 31,
            ones: 0x52
        }
    );
    assert_eq!(
        read(Frame::Redistributor(1), 0, Width::Word),
        Decision::Read {
            at: word(PhysicalFrame::Redistributor(5), 0),
            mask: 1 << 3,
            ones: 0
        }
    );
    assert_eq!(
        write(Frame::Distributor, 0, Width::Word, 0),
        Decision::Ignore
    );
    assert_eq!(
        write(Frame::Redistributor(0), 0, Width::Word, 1),
        Decision::Ignore
    );
}

#[test]
fn identification_is_that_of_a_machine_of_its_own() {
    assert_eq!(
        read(Frame::Distributor, 4, Width::Word),
        Decision::Value(8 | 9 << 19 | 1 << 25)
    );
    assert_eq!(
        read(Frame::Distributor, 0xffe8, Width::Word),
        Decision::Value(0x30)
    );
    let typer = |vcpu| read(Frame::Redistributor(vcpu), 8, Width::Double);
    assert_eq!(typer(0), Decision::Value(0));
    assert_eq!(typer(1), Decision::Value(1 << 32 | 1 << 8 | 1 << 4));
    assert_eq!(typer(2), Decision::Value(0));
}

#[test]
fn banks_are_masked() {
    let sgi = PhysicalFrame::Sgi(3);
    assert_eq!(
        write(Frame::Sgi(0), 0x180, Width::Word, u64::MAX),
        Decision::Write {
            at: word(sgi, 0x180),
            value: 0x0800_fffe
        }
    );
    assert_eq!(
        read(Frame::Sgi(0), 0x200, Width::Word),
        Decision::Read {
            at: word(sgi, 0x200),
            mask: 0x0800_fffe,
            ones: 0
        }
    );
    assert_eq!(
        write(Frame::Distributor, 0x104, Width::Word, u64::MAX),
        Decision::Write {
            at: word(GICD, 0x104),
            value: 0b1010
        }
    );
    // No interrupt of the VM is selected: the physical GIC is not accessed.
    assert_eq!(
        write(Frame::Distributor, 0x104, Width::Word, 0b0101),
        Decision::Ignore
    );
    assert_eq!(
        write(Frame::Distributor, 0x10c, Width::Word, u64::MAX),
        Decision::Ignore
    );
    assert_eq!(
        read(Frame::Distributor, 0x10c, Width::Word),
        Decision::Value(0)
    );
    assert_eq!(
        write(Frame::Sgi(0), 0x100, Width::Word, 1),
        Decision::Ignore
    );
}

#[test]
fn groups_are_fixed() {
    assert_eq!(write(Frame::Sgi(0), 0x80, Width::Word, 0), Decision::Ignore);
    assert_eq!(
        read(Frame::Sgi(0), 0x80, Width::Word),
        Decision::Value(0x0800_fffe)
    );
    assert_eq!(
        read(Frame::Distributor, 0x84, Width::Word),
        Decision::Value(0b1010)
    );
}

#[test]
fn priorities_are_clamped_and_kept_apart() {
    assert_eq!(
        write(Frame::Distributor, 0x421, Width::Byte, 0x10),
        Decision::Write {
            at: PhysicalRegister {
                frame: GICD,
                offset: 0x421,
                width: Width::Byte
            },
            value: 0x80
        }
    );
    assert_eq!(
        write(Frame::Distributor, 0x420, Width::Word, 0xf0a0_10f8),
        Decision::WriteBytes {
            at: word(GICD, 0x420),
            mask: 0xff00_ff00,
            value: 0xf000_8000
        }
    );
    assert_eq!(
        write(Frame::Sgi(1), 0x404, Width::Word, 0xa0a0_0001),
        Decision::Write {
            at: word(PhysicalFrame::Sgi(5), 0x404),
            value: 0xa0a0_8080
        }
    );
    // The priority of the doorbell.
    assert_eq!(
        write(Frame::Sgi(0), 0x400, Width::Byte, 0xff),
        Decision::Ignore
    );
    assert_eq!(
        read(Frame::Sgi(0), 0x400, Width::Word),
        Decision::Read {
            at: word(PhysicalFrame::Sgi(3), 0x400),
            mask: 0xffff_ff00,
            ones: 0
        }
    );
}

#[test]
fn triggers_are_merged() {
    assert_eq!(
        write(Frame::Distributor, 0xc08, Width::Word, u64::MAX),
        Decision::Merge {
            at: word(GICD, 0xc08),
            mask: 0x88,
            value: 0x88
        }
    );
    assert_eq!(
        write(Frame::Sgi(0), 0xc00, Width::Word, 0),
        Decision::Ignore
    );
    assert_eq!(
        write(Frame::Sgi(0), 0xc04, Width::Word, 0),
        Decision::Merge {
            at: word(PhysicalFrame::Sgi(3), 0xc04),
            mask: 0x80_0000,
            value: 0
        }
    );
}

#[test]
fn routes_are_translated() {
    let at = PhysicalRegister {
        frame: GICD,
        offset: 0x6108,
        width: Width::Double,
    };
    let to = |value| write(Frame::Distributor, 0x6108, Width::Double, value);
    assert_eq!(to(0), Decision::Write { at, value: 0x103 });
    assert_eq!(to(1), Decision::Write { at, value: 5 });
    assert_eq!(to(2), Decision::Ignore);
    assert_eq!(
        write(Frame::Distributor, 0x6108, Width::Word, 1),
        Decision::Write { at, value: 5 }
    );
    assert_eq!(
        write(Frame::Distributor, 0x610c, Width::Word, 0),
        Decision::Ignore
    );
    assert_eq!(
        write(Frame::Distributor, 0x6110, Width::Double, 0),
        Decision::Ignore
    );
    assert_eq!(
        read(Frame::Distributor, 0x610c, Width::Word),
        Decision::ReadRoute {
            at,
            half: Half::High
        }
    );
    assert_eq!(
        [0x103, 5, 7].map(|affinity| vm().route(affinity)),
        [0, 1, 0]
    );
}

#[test]
fn sgis_reach_its_own_cpus() {
    let sgis = |vcpu, value| vm().sgis(vcpu, SgiRequest::new(value)).collect::<Vec<_>>();
    // vCPU 0 is CPU 0.0.1.3, vCPU 1 is CPU 0.0.0.5.
    let (first, second) = (1 << 16 | 1 << 3, 1 << 5);
    assert_eq!(sgis(0, 2 << 24 | 0b11), [2 << 24 | first, 2 << 24 | second]);
    assert_eq!(sgis(0, 2 << 24 | 0b100), []);
    assert_eq!(sgis(1, 1 << 40 | 7 << 24), [7 << 24 | first]);
    // The doorbell.
    assert_eq!(sgis(0, 0b11), []);
}

/// The interrupts that a decision changes or reads, with the CPU if they are private. Panics if it
/// reaches a register that no VM may reach.
fn reached(decision: Decision) -> Vec<(Option<usize>, u32)> {
    let (at, bits) = match decision {
        Decision::Value(_) | Decision::Ignore => return Vec::new(),
        Decision::Read { at, mask, .. } => (at, mask),
        Decision::Write { at, value } => (at, value),
        Decision::WriteBytes { at, mask, .. } | Decision::Merge { at, mask, .. } => {
            (at, mask.into())
        }
        Decision::ReadRoute { at, .. } => (at, 1),
    };
    let cpu = match at.frame {
        PhysicalFrame::Distributor => None,
        PhysicalFrame::Sgi(cpu) => Some(cpu),
        PhysicalFrame::Redistributor(_) => {
            assert_eq!((at.offset, bits), (0, 1 << 3), "{decision:?}");
            return Vec::new();
        }
    };
    let offset = at.offset;
    let (first, width) = match offset {
        0 => {
            assert_eq!(bits, 1 << 31, "{decision:?}");
            return Vec::new();
        }
        0x100..0x400 => ((offset & 0x7f) * 8, 1),
        0x400..0x800 => (offset - 0x400, 8),
        0xc00..0xd00 => ((offset - 0xc00) * 4, 2),
        0x6100..0x8000 => ((offset - 0x6000) / 8, 64),
        _ => panic!("{decision:?}"),
    };
    (0..64)
        .filter(|bit| bits >> bit & 1 != 0)
        .map(|bit| (cpu, (first + bit / width) as u32))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn a_hostile_guest_reaches_nothing_but_its_own(value: u64, junk in any::<[u64; 3]>()) {
        let gic = vm();
        let own = |(cpu, intid): &(Option<usize>, u32)| match cpu {
            None => [33, 35, 64].contains(intid),
            Some(cpu) => [3, 5].contains(cpu) && (*intid == 27 || (1..16).contains(intid)),
        };
        for offset in 0..2 * FRAME_SIZE {
            for sas in 0..4 {
                let width = Width::from_sas(sas);
                for frame in [Frame::Distributor, Frame::Sgi(0), Frame::Sgi(1), Frame::Sgi(2),
                              Frame::Redistributor(1), Frame::Redistributor(usize::MAX)] {
                    let value = value ^ junk[offset % 3].rotate_left(offset as u32);
                    for operation in [Operation::Read, Operation::Write(value),
                                      Operation::Write(u64::MAX)] {
                        let decision = gic.decide(Access { frame, offset, width, operation });
                        let reached = reached(decision);
                        prop_assert!(reached.iter().all(own), "{offset:#x} {decision:?}");
                        let writes = !matches!(decision, Decision::Value(_)
                            | Decision::Read { .. } | Decision::ReadRoute { .. });
                        prop_assert_eq!(writes, operation != Operation::Read);
                    }
                }
            }
        }
    }

    #[test]
    fn hostile_sgis_reach_nothing_but_its_own(value: u64, vcpu: usize) {
        for intid in 0..16 {
            for target in vm().sgis(vcpu, SgiRequest::new(value & !(0xf << 24) | intid << 24)) {
                prop_assert!([1 << 16 | 1 << 3, 1 << 5].contains(&(target & !(0xf << 24))));
                prop_assert!(intid != 0 && target >> 24 & 0xf == intid);
            }
        }
    }

    #[test]
    fn priorities_written_stay_below_the_doorbell(offset in 0x400usize..0x800, value: u32) {
        for (frame, width) in [(Frame::Sgi(0), Width::Byte), (Frame::Sgi(0), Width::Word),
                               (Frame::Distributor, Width::Byte), (Frame::Distributor, Width::Word)] {
            let bytes = match write(frame, offset, width, value.into()) {
                Decision::Write { value, .. } => value.to_le_bytes()[..width.bytes()].to_vec(),
                Decision::WriteBytes { mask, value, .. } => value.to_le_bytes().into_iter()
                    .zip(mask.to_le_bytes()).filter(|&(_, m)| m != 0).map(|(v, _)| v).collect(),
                other => { prop_assert_eq!(other, Decision::Ignore); continue }
            };
            prop_assert!(bytes.iter().all(|&priority| priority >= HIGHEST_GUEST_PRIORITY));
        }
    }
}
