//! Interrupts that are raised for an instant, as doorbells are.

use super::machine::*;
use crate::*;

const GICD: Frame = Frame::Distributor;
const BELL: u32 = 65;

/// A machine whose guest lets the doorbell through, to its first vCPU.
fn listening() -> Machine {
    let mut machine = Machine::running(2);
    machine.route(0, BELL, 0);
    machine.write(0, GICD, 0x108, 1 << (BELL % 32));
    machine
}

#[test]
fn several_pulses_before_the_guest_looks_are_one() {
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
        // One that comes while the guest is at the last one is another.
        machine.pulse(BELL);
        machine.end(0);
        machine.refresh(0);
        assert_eq!(machine.drain(0), [BELL]);
    }
}

#[test]
fn a_pulse_waits_until_the_guest_lets_it_through() {
    let mut machine = listening();
    machine.write(0, GICD, 0x188, 1 << (BELL % 32));
    machine.pulse(BELL);
    assert_eq!(machine.drain(0), []);
    machine.write(0, GICD, 0x108, 1 << (BELL % 32));
    assert_eq!(machine.drain(0), [BELL]);
}

#[test]
fn what_the_guest_has_not_or_hardware_raises_is_not_pulsed() {
    let mut machine = listening();
    for intid in [0, TIMER, 40, 90, 1019, u32::MAX] {
        machine.pulse(intid);
    }
    (0..2).for_each(|vcpu| assert_eq!(machine.drain(vcpu), []));
}
