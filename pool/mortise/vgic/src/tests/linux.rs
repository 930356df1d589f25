//! Access sequences of irq-gic-v3 in Linux 6.1.

use super::machine::*;
use crate::*;

const GICD: Frame = Frame::Distributor;
/// The default of the Linux driver.
const DEFAULT_PRIORITIES: u64 = 0xa0a0_a0a0;

/// `gic_of_init`, `gic_validate_dist_version`, `gic_iterate_rdists`.
fn probe(machine: &mut Machine) -> usize {
    let width = Width::Double;
    assert_eq!(machine.read(0, GICD, 0xffe8) & 0xf0, 0x30);
    let typer = machine.read(0, GICD, 4);
    // No LPIs, no extended SPIs, no message-based SPIs.
    assert_eq!(typer & (1 << 17 | 1 << 16 | 1 << 8), 0);
    assert_eq!(machine.read(0, GICD, 0xc), 0);
    let lines = 32 * ((typer & 0x1f) as usize + 1);
    let mut vcpu = 0;
    loop {
        let frame = Frame::Redistributor(vcpu);
        assert_eq!(machine.read(0, frame, 0xffe8) & 0xf0, 0x30);
        let typer = machine.access(
            0,
            Access {
                frame,
                offset: 8,
                width,
                operation: Operation::Read,
            },
        );
        assert_eq!(typer >> 32, vcpu as u64);
        vcpu += 1;
        if typer & 1 << 4 != 0 {
            break;
        }
    }
    assert_eq!(vcpu, VCPUS);
    lines
}

/// `gic_dist_init`.
fn distributor(machine: &mut Machine, lines: usize) {
    machine.write(0, GICD, 0, 0);
    assert_eq!(machine.read(0, GICD, 0) & 1 << 31, 0);
    for word in 1..lines / 32 {
        machine.write(0, GICD, 0x80 + 4 * word, u32::MAX.into());
    }
    for offset in (0xc08..0xc00 + lines / 4).step_by(4) {
        machine.write(0, GICD, offset, 0);
    }
    for offset in (0x420..0x400 + lines).step_by(4) {
        machine.write(0, GICD, offset, DEFAULT_PRIORITIES);
    }
    for word in 1..lines / 32 {
        machine.write(0, GICD, 0x380 + 4 * word, u32::MAX.into());
        machine.write(0, GICD, 0x180 + 4 * word, u32::MAX.into());
    }
    machine.write(0, GICD, 0, 0x10 | 0b11);
    assert_eq!(machine.read(0, GICD, 0) & 0x13, 0x13);
    (32..lines as u32).for_each(|intid| machine.route(0, intid, 0));
}

/// `gic_cpu_init`, on each CPU.
fn redistributor(machine: &mut Machine, vcpu: usize) {
    let (rd, sgi) = (Frame::Redistributor(vcpu), Frame::Sgi(vcpu));
    let waker = machine.read(vcpu, rd, 0x14);
    machine.write(vcpu, rd, 0x14, waker & !0b10);
    assert_eq!(machine.read(vcpu, rd, 0x14) & 0b100, 0, "children asleep");
    machine.write(vcpu, sgi, 0x80, u32::MAX.into());
    machine.write(vcpu, sgi, 0x380, u32::MAX.into());
    machine.write(vcpu, sgi, 0x180, u32::MAX.into());
    for offset in (0x400..0x420).step_by(4) {
        machine.write(vcpu, sgi, offset, DEFAULT_PRIORITIES);
    }
    assert_eq!(machine.read(vcpu, rd, 0) & 1 << 3, 0, "write pending");
    // `gic_smp_init`: eight IPIs, one by one.
    (0..8).for_each(|ipi| machine.write(vcpu, sgi, 0x100, 1 << ipi));
}

fn boot() -> Machine {
    let mut machine = Machine::new(4);
    let lines = probe(&mut machine);
    assert_eq!(lines, 288);
    distributor(&mut machine, lines);
    (0..VCPUS).for_each(|vcpu| redistributor(&mut machine, vcpu));
    machine
}

#[test]
fn the_driver_initialises_and_touches_only_its_own_interrupts() {
    let machine = boot();
    let own = |intid| intid == TIMER || (40..48).contains(&intid);
    assert!(machine.effects.iter().all(|effect| own(effect.target().0)));
    assert!(
        !machine
            .effects
            .iter()
            .any(|e| matches!(e, Effect::Enable(_, _, true)))
    );
}

#[test]
fn timer_ipis_and_serial_port_run() {
    let mut machine = boot();
    for vcpu in 0..VCPUS {
        // `gic_set_type` finds the level it wants and writes nothing; `gic_unmask_irq`.
        assert_eq!(machine.read(vcpu, Frame::Sgi(vcpu), 0xc04) & 2 << 22, 0);
        machine.write(vcpu, Frame::Sgi(vcpu), 0x100, 1 << TIMER);
        machine.raise(TIMER, vcpu);
        assert_eq!(machine.drain(vcpu), [TIMER]);
    }
    machine.sgi(0, 1 << 24 | 0b110);
    machine.sgi(0, 1 << 40 | 2 << 24);
    for vcpu in [1, 2] {
        machine.refresh(vcpu);
        assert_eq!(machine.drain(vcpu), [1, 2]);
    }
    machine.write(0, GICD, 0x104, 1 << 1);
    machine.route(0, 33, 1);
    machine.line(0, 33, true);
    machine.refresh(1);
    assert_eq!(machine.acknowledge(1), Some(33));
    machine.line(1, 33, false);
    machine.end(1);
    assert_eq!(machine.drain(1), []);
}

#[test]
fn a_reboot_starts_from_the_beginning() {
    let mut machine = boot();
    machine.write(1, Frame::Sgi(1), 0x100, 1 << TIMER);
    machine.raise(TIMER, 1);
    machine.reset();
    (0..VCPUS).for_each(|vcpu| machine.reset_vcpu(vcpu));
    let lines = probe(&mut machine);
    distributor(&mut machine, lines);
    (0..VCPUS).for_each(|vcpu| redistributor(&mut machine, vcpu));
    machine.write(1, Frame::Sgi(1), 0x100, 1 << TIMER);
    assert_eq!(machine.drain(1), []);
    machine.raise(TIMER, 1);
    assert_eq!(machine.drain(1), [TIMER]);
}

#[test]
fn an_interrupt_for_a_stopped_vcpu_is_delivered_when_it_starts() {
    let mut machine = Machine::running(4);
    machine.route(0, 40, 1);
    machine.reset_vcpu(1);
    machine.raise(40, 1);
    machine.save_lrs(1);
    assert!(
        machine.cores[1]
            .lists
            .iter()
            .all(|&list| list == ListRegister::EMPTY)
    );
    machine.refresh(1);
    assert_eq!(machine.acknowledge(1), Some(40));
}
