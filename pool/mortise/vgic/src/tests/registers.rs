//! Emulated registers, one by one.

use super::machine::*;
use crate::*;

const GICD: Frame = Frame::Distributor;

fn read_as(machine: &mut Machine, frame: Frame, offset: usize, width: Width) -> u64 {
    machine.access(
        0,
        Access {
            frame,
            offset,
            width,
            operation: Operation::Read,
        },
    )
}

#[test]
fn interrupts_are_given_once() {
    let mut vgic: VirtualGic<2, 1> = VirtualGic::new();
    assert_eq!(vgic.set_vcpus(0), Err(Error::TooManyVcpus));
    assert_eq!(vgic.set_vcpus(3), Err(Error::TooManyVcpus));
    assert_eq!(vgic.set_vcpus(2), Ok(()));
    assert_eq!(vgic.add_virtual(15), Err(Error::NoSuchInterrupt(15)));
    assert_eq!(vgic.add_hardware(64), Err(Error::NoSuchInterrupt(64)));
    assert_eq!(
        vgic.add_hardware(u32::MAX),
        Err(Error::NoSuchInterrupt(u32::MAX))
    );
    assert_eq!(
        (vgic.add_hardware(27), vgic.add_virtual(27)),
        (Ok(()), Err(Error::Taken(27)))
    );
    assert!(vgic.is_hardware(27) && !vgic.is_hardware(28) && !vgic.is_hardware(1 << 20));
}

#[test]
fn control_has_affinity_routing_and_one_security_state() {
    let mut machine = Machine::new(4);
    assert_eq!(machine.read(0, GICD, 0), 0x50);
    machine.write(0, GICD, 0, u64::MAX);
    assert_eq!(machine.read(0, GICD, 0), 0x53);
    // The other vCPUs refresh, once.
    assert!(machine.cores[1].kicked && machine.cores[2].kicked);
    machine.cores[1].kicked = false;
    machine.write(0, GICD, 0, 0x53);
    assert!(!machine.cores[1].kicked);
}

#[test]
fn identification() {
    let mut machine = Machine::new(4);
    assert_eq!(machine.read(0, GICD, 4), 8 | 9 << 19 | 1 << 25);
    assert_eq!(machine.read(0, GICD, 8), 0x5400_043b);
    assert_eq!(machine.read(0, GICD, 0xffe8), 0x30);
    assert_eq!(machine.read(0, Frame::Redistributor(1), 0xffe8), 0x30);
    assert_eq!(machine.read(0, Frame::Redistributor(1), 4), 0x5400_043b);
    for (vcpu, typer) in [
        (0, 0),
        (1, 1 << 32 | 1 << 8),
        (2, 2 << 32 | 2 << 8 | 1 << 4),
        (3, 0),
    ] {
        let frame = Frame::Redistributor(vcpu);
        assert_eq!(read_as(&mut machine, frame, 8, Width::Double), typer);
        assert_eq!(machine.read(0, frame, 8), typer & 0xffff_ffff);
        assert_eq!(machine.read(0, frame, 12), typer >> 32);
    }
}

#[test]
fn awake_and_without_lpis() {
    let mut machine = Machine::new(4);
    for offset in [0x0, 0x14, 0x70, 0x74, 0x78, 0x7c] {
        machine.write(0, Frame::Redistributor(0), offset, u64::MAX);
        assert_eq!(
            machine.read(0, Frame::Redistributor(0), offset),
            0,
            "{offset:#x}"
        );
    }
}

#[test]
fn only_given_interrupts_are_enabled() {
    let mut machine = Machine::new(4);
    for (frame, set, owned) in [
        (Frame::Sgi(0), 0x100, 0x4800_ffff),
        (GICD, 0x104, 0x0000_ff02),
        (GICD, 0x108, 0x0000_00ff),
        (GICD, 0x10c, 0),
        (GICD, 0x120, 0),
        (GICD, 0x124, 0),
    ] {
        machine.write(0, frame, set, u64::MAX);
        assert_eq!(machine.read(0, frame, set), owned, "{frame:?} {set:#x}");
        assert_eq!(machine.read(0, frame, set + 0x80), owned);
        machine.write(0, frame, set + 0x80, !1);
        assert_eq!(machine.read(0, frame, set), owned & 1);
    }
    assert_eq!(machine.read(0, Frame::Sgi(1), 0x100), 0);
}

#[test]
fn a_disabled_interrupt_reads_as_pending_from_hardware() {
    let mut machine = Machine::new(4);
    for (frame, set, intid, vcpu) in [
        (Frame::Sgi(1), 0x200, OTHER_TIMER, 1),
        (Frame::Sgi(2), 0x200, TIMER, 2),
        (GICD, 0x204, 44, 0),
    ] {
        let bit = 1 << (intid % 32);
        assert_eq!(machine.read(0, frame, set) & bit, 0);
        machine.cores[vcpu].sources[intid as usize].pending = true;
        assert_eq!(machine.read(0, frame, set), bit, "{intid}");
        assert_eq!(machine.read(0, frame, set + 0x80), bit, "{intid}");
    }
    // The pending state of an interrupt of another VM is hidden.
    machine.cores[0].sources[48].pending = true;
    assert_eq!(machine.read(0, GICD, 0x204), 1 << 12);
}

#[test]
fn enables_reach_the_hardware_once() {
    let mut machine = Machine::new(4);
    machine.write(0, GICD, 0x104, 0x302);
    machine.write(0, GICD, 0x104, 0x302);
    assert_eq!(
        machine.effects,
        [Effect::Enable(40, 0, true), Effect::Enable(41, 0, true)]
    );
    machine.effects.clear();
    machine.write(2, Frame::Sgi(1), 0x100, u64::MAX);
    machine.write(2, Frame::Sgi(1), 0x180, 1 << 27 | 1 << 26);
    assert_eq!(
        machine.effects,
        [
            Effect::Enable(TIMER, 1, true),
            Effect::Enable(OTHER_TIMER, 1, true),
            Effect::Enable(TIMER, 1, false)
        ]
    );
}

#[test]
fn writes_of_zero_do_nothing() {
    let mut machine = Machine::running(4);
    for bank in 1..7 {
        machine.write(0, GICD, 0x84 + 0x80 * bank, 0);
        machine.write(0, Frame::Sgi(1), 0x80 + 0x80 * bank, 0);
    }
    assert!(machine.effects.is_empty() && machine.cores.iter().skip(1).all(|core| !core.kicked));
}

#[test]
fn pending_by_a_write_and_back() {
    let mut machine = Machine::running(4);
    machine.write(0, Frame::Sgi(0), 0x200, 1 << 3);
    assert!(machine.cores[0].highest().is_some());
    assert_eq!(machine.read(0, Frame::Sgi(0), 0x200), 1 << 3);
    assert_eq!(machine.read(0, Frame::Sgi(0), 0x280), 1 << 3);
    machine.write(0, Frame::Sgi(0), 0x280, 1 << 3);
    assert_eq!(machine.cores[0].highest(), None);
    // Another vCPU is kicked, and what it has not acknowledged yet reads as pending.
    machine.write(0, Frame::Sgi(1), 0x200, 1 << 3);
    assert!(machine.cores[1].kicked);
    machine.refresh(1);
    assert_eq!(machine.read(0, Frame::Sgi(1), 0x200), 1 << 3);
    assert_eq!(machine.drain(1), [3]);
}

#[test]
fn a_line_held_high_stays_pending() {
    let mut machine = Machine::running(4);
    machine.line(0, 33, true);
    machine.write(0, GICD, 0x284, 1 << 1);
    assert_eq!(machine.read(0, GICD, 0x204), 1 << 1);
    machine.line(0, 33, false);
    assert_eq!(machine.read(0, GICD, 0x204), 0);
}

#[test]
fn active_is_seen_and_set() {
    let mut machine = Machine::running(4);
    machine.sgi(0, 2 << 24 | 1);
    machine.acknowledge(0);
    assert_eq!(machine.read(0, Frame::Sgi(0), 0x300), 1 << 2);
    machine.end(0);
    assert_eq!(machine.read(0, Frame::Sgi(0), 0x380), 0);
    // An interrupt restored as active is not signalled until that is cleared.
    machine.write(0, GICD, 0x308, 1);
    machine.line(0, 64, true);
    assert_eq!(machine.acknowledge(0), None);
    machine.write(0, GICD, 0x388, 1);
    assert_eq!(machine.acknowledge(0), Some(64));
    // Interrupts backed by hardware ignore it.
    machine.write(0, GICD, 0x304, 1 << 8);
    assert_eq!(machine.read(0, GICD, 0x304), 0);
}

#[test]
fn priorities_in_bytes_and_words() {
    let mut machine = Machine::new(4);
    machine.write(0, Frame::Sgi(0), 0x404, 0xa7b8_c9df);
    assert_eq!(machine.read(0, Frame::Sgi(0), 0x404), 0xa0b8_c8d8);
    let (frame, width, operation) = (Frame::Sgi(0), Width::Byte, Operation::Write(0x10));
    machine.access(
        0,
        Access {
            frame,
            offset: 0x405,
            width,
            operation,
        },
    );
    assert_eq!(read_as(&mut machine, frame, 0x405, Width::Byte), 0x10);
    assert_eq!(machine.read(0, frame, 0x404), 0xa0b8_10d8);
    // The VM owns only 33.
    machine.write(0, GICD, 0x420, u64::MAX);
    assert_eq!(machine.read(0, GICD, 0x420), 0x0000_f800);
    // The guest does not control the physical priority.
    machine.write(0, GICD, 0x428, 0x10b0_00c0);
    assert_eq!(machine.read(0, GICD, 0x428), 0x10b0_00c0);
    assert!(machine.effects.is_empty());
}

#[test]
fn a_new_priority_reorders_listed_interrupts() {
    let mut machine = Machine::running(4);
    machine.sgi(0, 1 << 24 | 1);
    machine.sgi(0, 2 << 24 | 1);
    machine.write(0, Frame::Sgi(0), 0x400, 0xa010_a0a0);
    assert_eq!(machine.drain(0), [2, 1]);
}

#[test]
fn triggers() {
    let mut machine = Machine::new(4);
    assert_eq!(machine.read(0, Frame::Sgi(0), 0xc00), 0xaaaa_aaaa);
    machine.write(0, Frame::Sgi(0), 0xc00, 0);
    assert_eq!(machine.read(0, Frame::Sgi(0), 0xc00), 0xaaaa_aaaa);
    machine.write(1, Frame::Sgi(1), 0xc04, u64::MAX);
    assert_eq!(machine.read(0, Frame::Sgi(1), 0xc04), 0x2080_0000);
    machine.write(0, GICD, 0xc08, 0x0002_000f);
    assert_eq!(machine.read(0, GICD, 0xc08), 0x0002_0008);
    assert_eq!(
        machine.effects,
        [
            Effect::Edge(TIMER, 1, true),
            Effect::Edge(OTHER_TIMER, 1, true),
            Effect::Edge(40, 0, true)
        ]
    );
    machine.write(0, GICD, 0xc08, 0);
    assert_eq!(machine.effects[3..], [Effect::Edge(40, 0, false)]);
}

#[test]
fn routes_whole_and_in_halves() {
    let mut machine = Machine::new(4);
    machine.route(0, 40, 2);
    assert_eq!(read_as(&mut machine, GICD, 0x6140, Width::Double), 2);
    assert_eq!(
        (machine.read(0, GICD, 0x6140), machine.read(0, GICD, 0x6144)),
        (2, 0)
    );
    machine.write(0, GICD, 0x6144, 1);
    machine.write(0, GICD, 0x6140, 1);
    assert_eq!(read_as(&mut machine, GICD, 0x6140, Width::Double), 1);
    assert_eq!(
        machine.effects,
        [Effect::Route(40, 2), Effect::Route(40, 1)]
    );
    // Not owned by the VM; not a vCPU; no 1-of-N.
    machine.route(0, 48, 1);
    assert_eq!(read_as(&mut machine, GICD, 0x6180, Width::Double), 0);
    machine.route(0, 40, 1 << 31 | 2);
    assert_eq!(read_as(&mut machine, GICD, 0x6140, Width::Double), 2);
    machine.effects.clear();
    machine.route(0, 40, 3);
    assert!(machine.effects.is_empty());
}

#[test]
fn a_vcpu_that_does_not_exist_has_no_redistributor() {
    let mut machine = Machine::running(4);
    for vcpu in [3, 8, usize::MAX] {
        for offset in [0x100, 0x200, 0x404, 0xc04] {
            machine.write(0, Frame::Sgi(vcpu), offset, u64::MAX);
            assert_eq!(machine.read(0, Frame::Sgi(vcpu), offset), 0);
        }
    }
    assert!(machine.effects.is_empty());
}

#[test]
fn has_pending_wakes_a_sleeping_vcpu() {
    let mut machine = Machine::running(4);
    machine.save_lrs(0);
    assert!(!machine.vgic.has_pending(0));
    machine.line(1, 33, true);
    assert!(machine.vgic.has_pending(0) && !machine.vgic.has_pending(1));
    machine.sgi(0, 0b10);
    assert!(machine.vgic.has_pending(1) && !machine.vgic.has_pending(7));
}
