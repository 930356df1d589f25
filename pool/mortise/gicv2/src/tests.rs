//! Mediated accesses, register by register and from a hostile guest.

use crate::mediate::*;
use mortise_gicd::{
    Cpu, Decision as Common, HIGHEST_GUEST_PRIORITY, Operation, OwnedInterrupts, PhysicalFrame,
    PhysicalRegister, Width,
};
use proptest::prelude::*;

const DOORBELL: u32 = 15;

/// Two vCPUs on the CPUs 3 and 1; the virtual timer and three devices.
fn vm() -> OwnedInterrupts<2, 8> {
    let mut gic = OwnedInterrupts::new(DOORBELL);
    let cpu = |number| Cpu {
        number,
        affinity: number as u64,
    };
    gic.set_cpus(&[cpu(3), cpu(1)]).unwrap();
    for intid in [27, 33, 35, 64] {
        gic.add(intid).unwrap();
    }
    gic
}

fn read(vcpu: usize, offset: usize, width: Width) -> Decision {
    decide(&vm(), vcpu, offset, width, Operation::Read)
}

fn write(vcpu: usize, offset: usize, width: Width, value: u64) -> Decision {
    decide(&vm(), vcpu, offset, width, Operation::Write(value))
}

const fn gicd(offset: usize, width: Width) -> PhysicalRegister {
    PhysicalRegister {
        frame: PhysicalFrame::Distributor,
        offset,
        width,
    }
}

const NOTHING: Decision = Decision::Common(Common::Value(0));
const IGNORE: Decision = Decision::Common(Common::Ignore);

#[test]
fn it_is_a_gicv2_with_cpus_of_its_own() {
    let word = |offset| read(0, offset, Width::Word);
    let value = |value| Decision::Common(Common::Value(value));
    assert_eq!(word(0x000), value(1), "on");
    assert_eq!(word(0x004), value(8 | 1 << 5), "288 interrupts, two CPUs");
    assert_eq!(word(0xfe8), value(0x20));
    assert_eq!(word(0x080), NOTHING, "Group 0");
    for offset in [0x000, 0x004, 0x080, 0x084, 0xf10, 0xf20] {
        assert_eq!(
            write(0, offset, Width::Word, u64::MAX),
            IGNORE,
            "{offset:#x}"
        );
    }
}

#[test]
fn private_interrupts_are_those_of_the_accessing_core() {
    let at = PhysicalRegister {
        frame: PhysicalFrame::Sgi(1),
        offset: 0x100,
        width: Width::Word,
    };
    let value = 1 << 27 | 0x7fff;
    assert_eq!(
        write(1, 0x100, Width::Word, u64::MAX),
        Decision::Common(Common::Write { at, value }),
        "the timer, and all SGIs but the doorbell"
    );
    let at = gicd(0x104, Width::Word);
    let value = 1 << 1 | 1 << 3;
    assert_eq!(
        write(1, 0x104, Width::Word, u64::MAX),
        Decision::Common(Common::Write { at, value })
    );
}

#[test]
fn a_core_discovers_its_number() {
    let value = |value| Decision::Common(Common::Value(value));
    assert_eq!(read(0, 0x800, Width::Word), value(0x0101_0101));
    assert_eq!(read(1, 0x81c, Width::Word), value(0x0202_0202));
    assert_eq!(read(1, 0x81b, Width::Byte), value(2));
    assert_eq!(write(1, 0x800, Width::Word, 0xffff_ffff), IGNORE);
}

#[test]
fn targets_are_its_own_cpus_by_its_own_names() {
    let mask = 0xff00_ff00;
    assert_eq!(
        write(0, 0x820, Width::Word, 0xff01_0203),
        Decision::Common(Common::WriteBytes {
            at: gicd(0x820, Width::Word),
            mask,
            value: 0x0a00_0200,
        })
    );
    let at = gicd(0x821, Width::Byte);
    let to = |value| Decision::Common(Common::Write { at, value });
    assert_eq!(write(0, 0x821, Width::Byte, 1), to(1 << 3));
    assert_eq!(write(0, 0x821, Width::Byte, 0xfc), to(0));
    assert_eq!(
        read(0, 0x820, Width::Word),
        Decision::ReadTargets {
            at: gicd(0x820, Width::Word),
            mask
        }
    );
    assert_eq!(targets(&vm(), 0x0a02_08f5), 0x0302_0100);
    assert_eq!(read(0, 0x822, Width::Byte), NOTHING, "another VM's");
    assert_eq!(write(0, 0x822, Width::Byte, 1), IGNORE);
    assert_eq!(write(0, 0x821, Width::Word, 1), IGNORE, "not aligned");
}

#[test]
fn sgis_go_to_its_own_cpus() {
    let sent = |vcpu, value| match write(vcpu, SGIR, Width::Word, value) {
        Decision::Common(Common::Write { at, value }) => {
            assert_eq!(at, gicd(SGIR, Width::Word));
            Some((value >> 16, value & 0xffff))
        }
        other => {
            assert_eq!(other, IGNORE);
            None
        }
    };
    assert_eq!(sent(0, 0xff << 16 | 5), Some((0b1010, 5)), "a list");
    assert_eq!(sent(0, 0b10 << 16 | 5), Some((0b0010, 5)));
    assert_eq!(sent(0, 1 << 24 | 5), Some((0b0010, 5)), "all others");
    assert_eq!(sent(1, 2 << 24 | 5), Some((0b0010, 5)), "itself");
    assert_eq!(sent(1, 3 << 24 | 5), None, "reserved");
    assert_eq!(sent(0, 0b100 << 16 | 5), None, "no CPU");
    assert_eq!(sent(0, 0xff << 16 | 0x8005), Some((0b1010, 5)), "no NSATT");
    assert_eq!(sent(0, 0xff << 16 | u64::from(DOORBELL)), None);
}

/// The interrupts that a decision reads or changes.
fn touched(decision: Decision) -> Vec<u32> {
    let (at, bits) = match decision {
        Decision::ReadTargets { at, mask } => (at, u64::from(mask)),
        Decision::Common(plain) => match plain {
            Common::Value(_) | Common::Ignore => return vec![],
            Common::Read { at, mask, .. } => (at, mask),
            Common::Write { at, value } if at.offset == SGIR => {
                assert_eq!(value & !(0b1010 << 16 | 0xf), 0, "{value:#x}");
                return vec![value as u32 & 0xf];
            }
            Common::Write { at, value } if (0x400..0xc00).contains(&at.offset) => {
                assert!(value >> 32 == 0);
                (at, at.width.mask())
            }
            Common::Write { at, value } => (at, value),
            Common::WriteBytes { at, mask, .. } | Common::Merge { at, mask, .. } => {
                (at, mask.into())
            }
            Common::ReadRoute { .. } => panic!("no GICv2 has routes"),
        },
    };
    assert!(!matches!(at.frame, PhysicalFrame::Redistributor(_)));
    let (base, each) = match at.offset {
        0x100..0x400 => (at.offset as u32 % 0x80 * 8, 1),
        0x400..0x800 => (at.offset as u32 - 0x400, 8),
        0x800..0xc00 => (at.offset as u32 - 0x800, 8),
        0xc00..0xd00 => ((at.offset as u32 - 0xc00) * 4, 2),
        other => panic!("{other:#x}"),
    };
    let set = (0..64).filter(|bit| bits >> bit & 1 != 0);
    set.map(|bit| base + bit / each).collect()
}

proptest! {
    /// Every access at every offset affects only interrupts that the VM owns.
    #[test]
    fn a_hostile_guest_touches_its_own_only(vcpu in 0usize..9, sas in 0u64..4, value: u64, write: bool) {
        let gic = vm();
        let owned = |intid: &u32| gic.owns(*intid) && *intid != DOORBELL;
        let operation = if write { Operation::Write(value) } else { Operation::Read };
        for offset in 0..0x2000 {
            let decision = decide(&gic, vcpu, offset, Width::from_sas(sas), operation);
            prop_assert!(touched(decision).iter().all(owned), "{:#x}: {:?}", offset, decision);
            if let Decision::Common(Common::Write { at, value }) = decision
                && (0x400..0x800).contains(&at.offset)
            {
                let most_urgent = value.to_le_bytes()[..at.width.bytes()].iter().min().copied();
                prop_assert!(most_urgent >= Some(HIGHEST_GUEST_PRIORITY));
            }
            let sent_to = match decision {
                Decision::Common(Common::Write { at, value }) => (at, value),
                Decision::Common(Common::WriteBytes { at, value, .. }) => (at, value.into()),
                _ => continue,
            };
            if TARGETS.contains(&sent_to.0.offset) {
                prop_assert_eq!(sent_to.1 & !0x0a0a_0a0a, 0, "CPUs of its own");
            }
        }
    }
}
