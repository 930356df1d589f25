//! Register offsets and access widths, on frames in memory, compared with the register map of IHI 0048,
//! 4.1.
#![expect(unsafe_code, reason = "a frame made of memory")]

use hw_arch::mmio::Mmio;
use hw_irqchip_gicv2::{CpuInterface, Distributor, Targets, Trigger, intid};

/// The words that are not zero after `action` on a frame that holds `before`.
fn after(before: &[(usize, u32)], action: impl FnOnce(Mmio)) -> Vec<(usize, u32)> {
    let mut memory = vec![0u32; 0x400];
    for (offset, value) in before {
        memory[offset / 4] = *value;
    }
    // SAFETY: the frame is this memory, which outlives the action; the last use of it is below.
    action(unsafe { Mmio::new(memory.as_mut_ptr() as usize, memory.len() * 4) });
    let words = memory.iter().enumerate();
    let written = words.filter(|(_, value)| **value != 0);
    written.map(|(index, value)| (index * 4, *value)).collect()
}

#[test]
fn one_interrupt_has_its_bits_in_each_bank() {
    let one = |action: fn(&Distributor)| after(&[], |frame| action(&Distributor::new(frame)));
    assert_eq!(one(|gic| gic.enable(33)), [(0x104, 2)]);
    assert_eq!(one(|gic| gic.disable(33)), [(0x184, 2)]);
    assert_eq!(one(|gic| gic.set_pending(70, true)), [(0x208, 1 << 6)]);
    assert_eq!(one(|gic| gic.set_pending(70, false)), [(0x288, 1 << 6)]);
    assert_eq!(one(|gic| gic.deactivate(27)), [(0x380, 1 << 27)]);
    assert_eq!(one(|gic| gic.set_priority(33, 0x80)), [(0x420, 0x8000)]);
    assert_eq!(one(|gic| gic.set_trigger(33, Trigger::Edge)), [(0xc08, 8)]);
    assert_eq!(one(|gic| gic.route(35, Targets(4))), [(0x820, 4 << 24)]);
    assert_eq!(
        one(|gic| gic.route(27, Targets(4))),
        [],
        "private ones have no route"
    );
    assert_eq!(
        one(|gic| gic.send_sgi(3, Targets(2))),
        [(0xf00, 2 << 16 | 3)]
    );
}

#[test]
fn a_core_sends_to_itself_without_a_number() {
    let words = after(&[], |frame| Distributor::new(frame).send_sgi_to_self(5));
    assert_eq!(words, [(0xf00, 2 << 24 | 5)]);
}

#[test]
fn a_trigger_leaves_its_neighbours_alone() {
    let level = after(&[(0xc08, u32::MAX)], |frame| {
        Distributor::new(frame).set_trigger(33, Trigger::Level);
    });
    assert_eq!(level, [(0xc08, !8)]);
}

#[test]
fn a_core_is_what_its_private_interrupts_go_to() {
    let own = |word: u32| {
        let mut own = Targets(0);
        after(&[(0x804, word)], |frame| {
            own = Distributor::new(frame).own_target()
        });
        own
    };
    assert_eq!(own(0x0404_0404), Targets(4));
    assert_eq!(own(0), Targets(0), "a single core has no number");
}

#[test]
fn initialising_reaches_all_it_has_and_no_group_but_its_own() {
    // Ninety-six interrupts, all of them in Group 1 before.
    let words = after(&[(0x004, 2), (0x084, !0), (0x088, !0)], |frame| {
        let gic = Distributor::new(frame);
        assert_eq!(gic.interrupts(), 96);
        gic.initialise();
    });
    let at = |offset| {
        words
            .iter()
            .find(|word| word.0 == offset)
            .map(|word| word.1)
    };
    assert_eq!(at(0x000), Some(1), "on");
    for word in [0x184, 0x188, 0x284, 0x288, 0x384, 0x388] {
        assert_eq!(at(word), Some(u32::MAX), "{word:#x}");
    }
    assert_eq!((at(0x084), at(0x088)), (None, None), "in Group 0");
    assert_eq!(at(0x420), Some(0xa0a0_a0a0));
    assert_eq!(at(0x45c), Some(0xa0a0_a0a0));
    assert_eq!(
        (at(0x180), at(0x460)),
        (None, None),
        "neither private ones nor beyond"
    );
}

#[test]
fn the_interface_gives_back_what_it_acknowledged() {
    // SGI 3 from core 2.
    let acknowledged = 2 << 10 | 3;
    let words = after(&[(0x0c, acknowledged)], |frame| {
        let interface = CpuInterface::new(frame);
        interface.initialise();
        let taken = interface.acknowledge();
        assert_eq!(intid(taken), 3);
        interface.end(taken);
    });
    assert_eq!(
        words,
        [
            (0x00, 1),
            (0x04, 0xff),
            (0x0c, acknowledged),
            (0x10, acknowledged)
        ]
    );
}
