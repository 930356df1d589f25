//! Fast paths of the hypervisor beside [`VirtualGic::access`] and [`VirtualGic::send_sgi`]. The model takes
//! them at every other opportunity.

use super::machine::*;
use crate::*;
use mortise_gicd::EnableRegister;

fn enables(access: Access) -> Option<EnableRegister> {
    let is_enable = access.frame == Frame::Distributor && access.width == Width::Word;
    EnableRegister::at(access.offset).filter(|_| is_enable)
}

impl Machine {
    /// Whether an access is a write that changes nothing and is to be skipped this time.
    pub fn takes_fast_write(&mut self, access: Access) -> bool {
        self.takes_fast_path ^= true;
        match (enables(access), access.operation) {
            (Some(EnableRegister { row, sets }), Operation::Write(value)) => {
                self.takes_fast_path && self.vgic.is_noop_write(row, sets, value as u32)
            }
            _ => false,
        }
    }

    /// Whether the fast path reads the same value.
    pub fn agrees(&self, access: Access, value: u64) -> bool {
        match (enables(access), access.operation) {
            (Some(EnableRegister { row, .. }), Operation::Read) => {
                u64::from(self.vgic.enabled_word(row)) == value
            }
            _ => true,
        }
    }
}

#[test]
fn a_write_without_effect_is_detected() {
    let machine = Machine::running(4);
    let vgic = &machine.vgic;
    let (all, given) = (u32::MAX, 0xff << 8 | 1 << 1);
    assert_eq!(vgic.enabled_word(1), given);
    for (row, sets, value, idle) in [
        (1, true, 0, true),
        (1, true, all, true),
        (1, false, 0, true),
        (1, false, !given, true),
        (1, false, 1 << 8, false),
        (3, true, all, true),
        (3, false, all, true),
        (9, true, all, true),
        (31, false, all, true),
    ] {
        assert_eq!(
            vgic.is_noop_write(row, sets, value),
            idle,
            "{row} {sets} {value:#x}"
        );
    }
}

#[test]
fn an_sgi_to_itself_is_listed_again_in_its_list_register() {
    let mut machine = Machine::running(4);
    let fast = |machine: &mut Machine| {
        machine.takes_fast_path = false;
        let before = machine.cores[0].lists.clone();
        machine.sgi(0, 3 << 24 | 1);
        before != machine.cores[0].lists
    };
    assert!(fast(&mut machine), "a new one takes a list register");
    assert_eq!(machine.drain(0), [3]);
    let ended = machine.cores[0].lists[1];
    assert!(ended.is_free() && ended.intid() == 3);
    assert!(fast(&mut machine));
    assert_eq!(machine.cores[0].lists[1].state(), State::Pending);
    assert!(!fast(&mut machine), "two are one");
    assert_eq!(machine.acknowledge(0), Some(3));
    assert!(fast(&mut machine), "one sent meanwhile is another");
    machine.end(0);
    machine.refresh(0);
    assert_eq!(machine.drain(0), [3]);
    machine.write(0, Frame::Sgi(0), 0x180, 1 << 3);
    assert!(
        fast(&mut machine) || machine.drain(0).is_empty(),
        "disabled"
    );
    machine.write(0, Frame::Sgi(0), 0x100, 1 << 3);
    assert_eq!(machine.drain(0), [3]);
}
