//! Interrupts from their source to the guest, and their ends.

use super::machine::*;
use crate::*;

const GICD: Frame = Frame::Distributor;

/// Interrupt 64 is edge-triggered.
fn with_edge_triggered() -> Machine {
    let mut machine = Machine::running(4);
    machine.write(0, GICD, 0xc10, 0b10);
    machine
}

/// vCPU 0 has acknowledged interrupt 33, and its line is high.
fn with_active_level() -> Machine {
    let mut machine = Machine::running(4);
    machine.line(0, 33, true);
    assert_eq!(machine.acknowledge(0), Some(33));
    machine
}

#[test]
fn a_timer_is_injected_by_its_template() {
    let mut machine = Machine::running(4);
    machine.raise(TIMER, 1);
    assert_eq!(
        machine.cores[1].lists[0],
        ListRegister::new(TIMER, 0xa0, true, State::Pending).with_hardware(TIMER)
    );
    assert_eq!(machine.drain(1), [TIMER]);
    assert!(!machine.source(TIMER, 1).active);
    // Repeatedly, without a call in between.
    for _ in 0..3 {
        machine.raise(TIMER, 1);
        assert_eq!(machine.drain(1), [TIMER]);
    }
}

#[test]
fn a_template_is_withdrawn_with_its_enable_and_its_group() {
    let mut machine = Machine::running(4);
    let template = machine.cores[2].template;
    machine.write(2, Frame::Sgi(2), 0x180, 1 << TIMER);
    assert_eq!(machine.cores[2].template, ListRegister::EMPTY);
    machine.write(2, Frame::Sgi(2), 0x100, 1 << TIMER);
    assert_eq!(machine.cores[2].template, template);
    machine.write(2, GICD, 0, 0);
    assert_eq!(machine.cores[2].template, ListRegister::EMPTY);
    machine.write(2, GICD, 0, 2);
    assert_eq!(machine.cores[2].template, template);
    machine.write(2, Frame::Sgi(2), 0x418, 0x2000_0000);
    assert_eq!(machine.cores[2].template.priority(), 0x20);
    assert_eq!(Machine::running(1).cores[0].template, ListRegister::EMPTY);
}

#[test]
fn disabling_withdraws_a_template_injection() {
    let mut machine = Machine::running(4);
    machine.raise(TIMER, 0);
    machine.write(0, Frame::Sgi(0), 0x180, 1 << TIMER);
    assert_eq!(machine.acknowledge(0), None);
    assert_eq!(machine.read(0, Frame::Sgi(0), 0x200), 1 << TIMER);
    machine.write(0, Frame::Sgi(0), 0x100, 1 << TIMER);
    assert_eq!(machine.drain(0), [TIMER]);
}

#[test]
fn a_timer_finds_its_way_past_a_full_list_register_0() {
    // Listed by the library because the group was off; ended; then again by its template.
    let mut machine = Machine::running(2);
    machine.write(0, GICD, 0, 0);
    machine.raise(TIMER, 0);
    machine.write(0, GICD, 0, 2);
    assert_eq!(machine.drain(0), [TIMER]);
    machine.raise(TIMER, 0);
    assert_eq!(machine.acknowledge(0), Some(TIMER));
    // An exit with the old one ended in one list register and the new one active in the other.
    machine.sgi(0, 1);
    assert_eq!(machine.end(0), Some(TIMER));
    assert!(!machine.source(TIMER, 0).active);
    assert_eq!(machine.drain(0), [0]);
}

#[test]
fn an_sgi_to_another_vcpu_kicks_it() {
    let mut machine = Machine::running(4);
    machine.sgi(0, 5 << 24 | 0b110);
    assert!(!machine.cores[0].kicked && machine.cores[1].kicked && machine.cores[2].kicked);
    for vcpu in [1, 2] {
        machine.refresh(vcpu);
        assert_eq!(machine.drain(vcpu), [5]);
    }
}

#[test]
fn an_sgi_sent_again_while_active_is_taken_again() {
    let mut machine = Machine::running(4);
    machine.sgi(0, 1);
    assert_eq!(machine.acknowledge(0), Some(0));
    machine.sgi(0, 1);
    machine.sgi(0, 1);
    machine.end(0);
    assert_eq!(machine.drain(0), [0]);
}

#[test]
fn an_sgi_in_flight_elsewhere_is_not_lost() {
    let mut machine = Machine::running(4);
    machine.sgi(0, 0b10);
    machine.refresh(1);
    // Acknowledged, which the hypervisor has not seen yet when the next one is sent.
    assert_eq!(machine.acknowledge(1), Some(0));
    machine.sgi(0, 0b10);
    machine.refresh(1);
    machine.end(1);
    assert_eq!(machine.drain(1), [0]);
}

#[test]
fn group_0_requests_do_not_pend_group_1() {
    let mut machine = Machine::running(4);
    machine.write(0, Frame::Sgi(0), 0x80, !0b10);
    assert_eq!(machine.read(0, Frame::Sgi(0), 0x80), 0x4800_fffd);
    machine.sgi_group0(0, 1);
    machine.sgi_group0(0, 1 << 24 | 1);
    let list = machine.cores[0].lists[1];
    assert_eq!((list.intid(), list.is_group1()), (1, false));
    assert_eq!(machine.drain(0), [1]);
}

#[test]
fn a_level_stays_until_its_line_falls() {
    let mut machine = with_active_level();
    machine.end(0);
    assert_eq!(machine.acknowledge(0), Some(33));
    machine.line(0, 33, false);
    machine.end(0);
    assert_eq!(machine.acknowledge(0), None);
}

#[test]
fn a_level_that_fell_is_not_signalled() {
    let mut machine = Machine::running(4);
    machine.toggle_line(0, 33);
    assert_eq!(machine.acknowledge(0), None);
    // But one pended by a write is, whatever the line does.
    machine.write(0, GICD, 0x204, 0b10);
    machine.toggle_line(0, 33);
    assert_eq!(machine.drain(0), [33]);
}

#[test]
fn an_edge_outlives_its_line() {
    let mut machine = with_edge_triggered();
    machine.toggle_line(0, 64);
    assert_eq!(machine.drain(0), [64]);
}

#[test]
fn an_interrupt_pended_while_active_is_signalled_at_its_end() {
    let mut machine = with_active_level();
    machine.write(0, GICD, 0x204, 0b10);
    machine.line(0, 33, false);
    machine.end(0);
    assert_eq!(machine.drain(0), [33]);
}

#[test]
fn an_edge_while_active_goes_where_it_is_routed_by_then() {
    let mut machine = with_edge_triggered();
    machine.toggle_line(0, 64);
    assert_eq!(machine.acknowledge(0), Some(64));
    machine.line(0, 64, true);
    machine.route(0, 64, 2);
    machine.end(0);
    assert!(machine.cores[2].kicked);
    machine.refresh(2);
    assert_eq!((machine.drain(0), machine.drain(2)), (vec![], vec![64]));
}

#[test]
fn a_shared_interrupt_follows_its_route() {
    let mut machine = Machine::running(4);
    machine.line(0, 33, true);
    machine.route(0, 33, 2);
    assert!(machine.cores[2].kicked);
    assert_eq!(machine.acknowledge(0), None);
    machine.refresh(2);
    assert_eq!(machine.acknowledge(2), Some(33));
    // An active interrupt keeps its target.
    machine.route(2, 33, 1);
    machine.line(2, 33, false);
    machine.end(2);
    machine.line(2, 33, true);
    assert!(machine.cores[1].kicked);
    machine.refresh(1);
    assert_eq!(machine.acknowledge(1), Some(33));
}

#[test]
fn a_shared_interrupt_listed_elsewhere_is_called_back() {
    let mut machine = Machine::running(4);
    machine.line(0, 33, true);
    machine.route(1, 33, 1);
    assert!(machine.cores[0].kicked);
    machine.refresh(0);
    assert!(machine.cores[1].kicked);
    machine.refresh(1);
    machine.line(1, 33, false);
    assert_eq!(
        (machine.acknowledge(0), machine.acknowledge(1)),
        (None, None)
    );
}

#[test]
fn an_interrupt_without_a_target_stays_pending() {
    let mut machine = Machine::running(4);
    machine.route(0, 33, 7);
    machine.line(0, 33, true);
    assert!((0..VCPUS).all(|vcpu| machine.acknowledge(vcpu).is_none()));
    machine.write(0, GICD, 0x304, 0b10);
    machine.route(0, 33, 0);
    assert_eq!(machine.acknowledge(0), Some(33));
}

#[test]
fn hardware_rerouted_in_flight_arrives_at_its_new_place() {
    let mut machine = Machine::running(4);
    machine.raise(40, 0);
    assert_eq!(machine.acknowledge(0), Some(40));
    machine.route(1, 40, 1);
    machine.raise(40, 0);
    // Physically active until the guest ends it; then the next one is signalled, on the other core.
    machine.end(0);
    assert_eq!(machine.acknowledge(1), Some(40));
    machine.refresh(0);
    assert_eq!(machine.acknowledge(0), None);
    machine.end(1);
    assert!(!machine.source(40, 0).active);
}

#[test]
fn clearing_a_hardware_interrupt_deactivates_it() {
    let mut machine = Machine::running(4);
    machine.raise(40, 0);
    machine.write(0, GICD, 0x284, 1 << 8);
    assert_eq!(machine.acknowledge(0), None);
    assert_eq!(
        machine.effects,
        [Effect::Pending(40, 0, false), Effect::Deactivate(40, 0)]
    );
    machine.effects.clear();
    machine.raise(40, 0);
    assert_eq!(machine.acknowledge(0), Some(40));
    machine.write(0, GICD, 0x384, 1 << 8);
    assert_eq!(machine.effects, [Effect::Deactivate(40, 0)]);
}

#[test]
fn hardware_made_pending_comes_from_the_hardware() {
    let mut machine = Machine::running(4);
    machine.write(0, GICD, 0x204, 1 << 8);
    assert_eq!(machine.effects, [Effect::Pending(40, 0, true)]);
    machine.signal(40, 0);
    assert_eq!(machine.drain(0), [40]);
}

#[test]
fn a_storm_is_taken_in_order_of_priority() {
    for list_registers in [1, 2, 4, 16] {
        let mut machine = Machine::running(list_registers);
        for intid in 0..16 {
            machine.set_priority(Frame::Sgi(0), intid, 0xf8 - 8 * intid as u64);
        }
        (0..16).for_each(|intid| machine.sgi(0, intid << 24 | 1));
        (40..48).for_each(|intid| machine.raise(intid, 0));
        machine.raise(TIMER, 0);
        let taken = machine.drain(0);
        assert_eq!(taken.len(), 16 + 8 + 1, "{taken:?}");
        // More urgent than 0xa0 are the SGIs from 12 (0x98) on; the timer's template does not
        // wait behind what is less urgent.
        assert_eq!(taken[..4], [15, 14, 13, 12], "{list_registers}");
        assert_eq!(
            taken[taken.len() - 11..],
            [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
        );
        assert_eq!(machine.cores[0].maintenance, Maintenance::default());
    }
}

#[test]
fn nesting_deeper_than_the_list_registers_ends_each_interrupt() {
    for list_registers in [1, 2, 4] {
        let mut machine = Machine::running(list_registers);
        let mut order = Vec::new();
        for i in 0..8u64 {
            let intid = 40 + i;
            machine.set_priority(GICD, intid as usize, 0xf0 - 0x10 * i);
            machine.raise(intid as u32, 0);
            assert_eq!(
                machine.acknowledge(0),
                Some(intid as u32),
                "{list_registers}"
            );
            order.push(intid as u32);
        }
        for _ in 0..8 {
            assert_eq!(machine.end(0), order.pop());
        }
        machine.refresh(0);
        assert!(
            (40..48).all(|intid| !machine.source(intid, 0).active),
            "{list_registers}"
        );
    }
}

#[test]
fn a_vcpu_switched_off_leaves_nothing_behind() {
    let mut machine = Machine::running(4);
    machine.raise(TIMER, 1);
    machine.sgi(1, 0b10);
    machine.route(1, 40, 1);
    machine.raise(40, 1);
    assert!(machine.acknowledge(1).is_some());
    machine.route(1, 33, 1);
    machine.line(1, 33, true);
    machine.reset_vcpu(1);
    assert!(
        machine.cores[1]
            .lists
            .iter()
            .all(|&list| list == ListRegister::EMPTY)
    );
    assert!(!machine.source(TIMER, 1).enabled && !machine.source(TIMER, 1).active);
    assert_eq!(machine.read(0, Frame::Sgi(1), 0x100), 0);
    // The interrupt of the serial port is still pending, for another vCPU.
    machine.route(0, 33, 0);
    assert_eq!(machine.acknowledge(0), Some(33));
}

#[test]
fn a_restart_silences_the_hardware() {
    let mut machine = Machine::running(4);
    machine.route(0, 41, 1);
    machine.write(0, GICD, 0xc08, 2 << 16); // 40: edge-triggered
    for intid in [40, 41, TIMER] {
        machine.raise(intid, 0);
    }
    machine.effects.clear();
    machine.reset();
    assert!(machine.effects.contains(&Effect::Edge(40, 0, false)));
    assert!(!machine.effects.contains(&Effect::Edge(41, 0, false)));
    for vcpu in 0..VCPUS {
        machine.reset_vcpu(vcpu);
        assert!(
            machine.cores[vcpu]
                .lists
                .iter()
                .all(|&list| list == ListRegister::EMPTY)
        );
        assert_eq!(machine.cores[vcpu].template, ListRegister::EMPTY);
    }
    for intid in [40, 41, TIMER] {
        let source = *machine.source(intid, 0);
        assert!(!source.enabled && !source.active && source.route == 0);
    }
    assert_eq!(machine.read(0, GICD, 0x104), 0);
    assert_eq!(machine.read(0, GICD, 0), 0x50);
}
