//! Calls that return early because the core should yield.

use super::machine::*;
use crate::*;

const GICD: Frame = Frame::Distributor;

/// A machine with `should_yield` true at each of the first calls after a guest entry.
fn busy(list_registers: usize) -> Machine {
    let mut machine = Machine::running(list_registers);
    machine.yield_pattern = u64::MAX;
    machine.resume(0);
    machine
}

#[test]
fn a_deferred_flush_requests_no_maintenance() {
    let mut machine = busy(2);
    (0..6).for_each(|intid| machine.sgi(0, intid << 24 | 1));
    assert_ne!(machine.cores[0].maintenance, Maintenance::NONE);
    // A maintenance interrupt that stays asserted would always be more urgent.
    for _ in 0..3 {
        assert!(!machine.refresh_once(0), "it would be done in one go");
        assert!(!machine.cores[0].maintenance_asserted());
    }
    machine.refresh(0);
    assert_eq!(machine.drain(0), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn other_vcpus_are_kicked_for_an_sgi_one_by_one() {
    let mut machine = busy(4);
    machine.sgi_once(0, 3 << 24 | 0b111);
    assert!(machine.cores.iter().all(|core| !core.kicked));
    assert!(!machine.refresh_once(0));
    let kicked: Vec<_> = machine.cores.iter().map(|core| core.kicked).collect();
    assert_eq!(kicked, [false, true, false]);
    machine.resume(0);
    (0..VCPUS).for_each(|vcpu| machine.refresh(vcpu));
    (0..VCPUS).for_each(|vcpu| assert_eq!(machine.drain(vcpu), [3]));
}

#[test]
fn a_write_is_made_again_until_it_is_done_and_then_once() {
    let mut machine = busy(4);
    machine.raise(TIMER, 0);
    assert_eq!(machine.acknowledge(0), Some(TIMER));
    let write = Access {
        frame: GICD,
        offset: 0x208,
        width: Width::Word,
        operation: Operation::Write(0b111),
    };
    // Either all of them are pending or none.
    while machine.access_once(0, write).is_none() {
        assert_eq!(machine.vgic.bank(0, 64).map(|bank| bank.latch), Some(0));
    }
    machine.resume(0);
    machine.end(0);
    assert_eq!(machine.drain(0), [64, 65, 66]);
    assert!(!machine.source(TIMER, 0).active);
}
