//! Pulsed interrupts, such as doorbells.

use super::machine::*;
use crate::*;

const GICD: Frame = Frame::Distributor;
const BELL: u32 = 65;

/// A machine with the doorbell enabled and routed to vCPU 0.
fn listening() -> Machine {
    listening_with(2)
}

fn listening_with(list_registers: usize) -> Machine {
    let mut machine = Machine::running(list_registers);
    machine.route(0, BELL, 0);
    machine.write(0, GICD, 0x108, 1 << (BELL % 32));
    machine
}

#[test]
fn several_pulses_before_acknowledgement_are_one() {
    for edge in [false, true] {
        let mut machine = listening();
        if edge {
            machine.write(0, GICD, 0xc10, 2 << (BELL % 16 * 2));
        }
        machine.pulse(BELL);
        machine.pulse(BELL);
        assert_eq!(machine.drain(0), [BELL]);
        machine.pulse(BELL);
        assert_eq!(machine.acknowledge(0), Some(BELL));
        // A pulse while the last one is active is another interrupt.
        machine.pulse(BELL);
        machine.end(0);
        machine.refresh(0);
        assert_eq!(machine.drain(0), [BELL]);
    }
}

#[test]
fn a_pulse_stays_pending_until_it_is_enabled() {
    let mut machine = listening();
    machine.write(0, GICD, 0x188, 1 << (BELL % 32));
    machine.pulse(BELL);
    assert_eq!(machine.drain(0), []);
    machine.write(0, GICD, 0x108, 1 << (BELL % 32));
    assert_eq!(machine.drain(0), [BELL]);
}

#[test]
fn a_local_pulse_is_listed_again_in_its_list_register() {
    let mut machine = listening_with(4);
    let place = |machine: &Machine| {
        let lists = &machine.cores[0].lists;
        lists
            .iter()
            .position(|list| list.intid() == BELL && list.is_pending())
    };
    for _ in 0..3 {
        machine.pulse_local(0, BELL);
        assert_eq!(place(&machine), Some(1));
        machine.pulse_local(0, BELL);
        assert_eq!(machine.drain(0), [BELL], "two are one");
    }
    // With an SGI in the list register before it.
    machine.refresh(0);
    machine.sgi(0, 3 << 24 | 1);
    assert_eq!(machine.drain(0), [3]);
    for _ in 0..3 {
        machine.pulse_local(0, BELL);
        assert_eq!(place(&machine), Some(2));
        assert_eq!(machine.acknowledge(0), Some(BELL));
        machine.pulse_local(0, BELL);
        machine.end(0);
        machine.refresh(0);
        assert_eq!(
            machine.drain(0),
            [BELL],
            "one that came meanwhile is another"
        );
        machine.refresh(0);
        machine.sgi(0, 3 << 24 | 1);
        assert_eq!(machine.drain(0), [3]);
    }
}

#[test]
fn a_local_pulse_stays_pending_if_disabled_and_is_forwarded_if_rerouted() {
    let mut machine = listening();
    machine.pulse_local(0, BELL);
    assert_eq!(machine.drain(0), [BELL]);
    machine.write(0, GICD, 0x188, 1 << (BELL % 32));
    machine.pulse_local(0, BELL);
    assert_eq!(machine.drain(0), []);
    assert_ne!(
        machine.read(0, GICD, 0x208) & 1 << (BELL % 32),
        0,
        "pending"
    );
    machine.write(0, GICD, 0x108, 1 << (BELL % 32));
    assert_eq!(machine.drain(0), [BELL]);
    machine.route(0, BELL, 1);
    machine.pulse_local(0, BELL);
    assert_eq!(machine.drain(0), []);
    assert!(machine.cores[1].kicked);
    machine.refresh(1);
    assert_eq!(machine.drain(1), [BELL]);
    assert!(!machine.cores[0].kicked);
}

#[test]
fn only_emulated_spis_of_the_vm_are_pulsed() {
    let mut machine = listening();
    for intid in [0, TIMER, 40, 90, 1019, u32::MAX] {
        machine.pulse(intid);
    }
    (0..2).for_each(|vcpu| assert_eq!(machine.drain(vcpu), []));
}
