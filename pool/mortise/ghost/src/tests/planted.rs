//! Planted errors in list registers, each found by its rule.

use super::controller::{DEVICE, DOORBELL, Machine, TIMER};
use crate::*;
use mortise_vgic::State;

/// A machine with two pending SGIs in list registers of the first vCPU.
fn busy() -> Machine {
    let mut machine = Machine::new(4);
    machine.sgi(0, 3, 1);
    machine.sgi(0, 4, 1);
    machine.check(0).unwrap();
    machine
}

fn place_of(machine: &Machine, intid: u32) -> usize {
    let mut lists = machine.ports[0].lists.iter();
    lists
        .position(|list| list.intid() == intid && !list.is_free())
        .unwrap()
}

fn free(machine: &Machine) -> usize {
    machine.ports[0]
        .lists
        .iter()
        .rposition(|list| list.is_free())
        .unwrap()
}

/// Checks a machine with this value in a free list register.
fn with(list: ListRegister) -> Result<(), Violation> {
    let mut machine = busy();
    let index = free(&machine);
    machine.ports[0].lists[index] = list;
    machine.check(0)
}

const fn pending(intid: u32) -> ListRegister {
    ListRegister::new(intid, 0xa0, true, State::Pending)
}

#[test]
fn an_interrupt_that_the_vm_does_not_own_is_found() {
    for list in [
        pending(45),
        pending(45).with_hardware(45),
        pending(28),
        pending(1019),
        pending(8192),
    ] {
        let violation = with(list).unwrap_err();
        assert!(
            matches!(violation, Violation::Foreign { .. }),
            "{violation}"
        );
    }
    let said = with(pending(45).with_hardware(45)).unwrap_err().to_string();
    assert!(
        said.contains("rule foreign") && said.contains("INTID 45"),
        "{said}"
    );
}

#[test]
fn a_binding_to_hardware_that_is_not_the_interrupts_own_is_found() {
    let both = ListRegister::new(DEVICE, 0, true, State::PendingActive).with_hardware(DEVICE);
    let wrong = [
        pending(5).with_hardware(5),
        pending(DOORBELL).with_hardware(DOORBELL),
        pending(DEVICE),
        pending(DEVICE).with_hardware(TIMER),
        both,
    ];
    for list in wrong {
        let violation = with(list).unwrap_err();
        assert!(
            matches!(violation, Violation::Binding { .. }),
            "{violation}"
        );
    }
}

#[test]
fn an_interrupt_in_two_list_registers_is_found() {
    let violation = with(pending(3)).unwrap_err();
    assert!(
        matches!(violation, Violation::Duplicate { intid: 3, .. }),
        "{violation}"
    );
}

#[test]
fn an_interrupt_that_fell_out_of_its_list_register_is_found() {
    let mut machine = busy();
    let (place, was) = (place_of(&machine, 3), machine.state(0));
    machine.ports[0].lists[place] = ListRegister::EMPTY;
    assert_eq!(machine.check(0), Err(Violation::Missing { intid: 3 }));
    let memory = machine.memory(0);
    let lost = Violation::Lost {
        intid: 3,
        active: false,
    };
    assert_eq!(
        was.check_successor(&machine.ports[0].lists, &memory),
        Err(lost)
    );
}

#[test]
fn an_interrupt_unknown_to_the_virtual_gic_is_found() {
    let violation = with(pending(7)).unwrap_err();
    assert!(
        matches!(violation, Violation::Unknown { .. }),
        "{violation}"
    );
}

#[test]
fn an_active_interrupt_that_mortise_ended_is_found() {
    let mut machine = busy();
    let taken = machine.acknowledge(0).unwrap();
    let (place, was) = (place_of(&machine, taken), machine.state(0));
    machine.refresh(0);
    assert_eq!(machine.check(0), Ok(()));
    let place = machine.ports[0]
        .lists
        .get(place)
        .map_or(0, |_| place_of(&machine, taken));
    machine.ports[0].lists[place] = pending(taken).with_state(State::Invalid);
    let memory = machine.memory(0);
    let lost = Violation::Lost {
        intid: taken,
        active: true,
    };
    assert_eq!(
        was.check_successor(&machine.ports[0].lists, &memory),
        Err(lost)
    );
}

#[test]
fn template_injections_are_no_violation() {
    assert_eq!(with(pending(TIMER).with_hardware(TIMER)), Ok(()));
}
