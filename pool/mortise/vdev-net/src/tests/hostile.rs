//! Tests of the switch with untrusted drivers.

use super::*;
use proptest::prelude::*;

impl Network {
    /// Whether a card needs a reset; others are as they were.
    fn is_broken(&self, port: usize) -> bool {
        let broken = self.get(port, offset::STATUS) & status::NEEDS_RESET != 0;
        let told = self.get(port, offset::INTERRUPT) & cause::CONFIGURATION != 0;
        assert_eq!(broken, told);
        broken
    }

    /// Whether a driver can make a frame available.
    fn has_room(&self, port: usize) -> bool {
        let ram = &self.machine.rams[port];
        let [offered, returned] = [AVAILABLE, USED].map(|ring| ram.word(QUEUES[1] + ring + 2));
        offered.wrapping_sub(returned) < SIZE
    }

    /// Checks that both cards work, after a reset of one.
    fn works_after_reset(&mut self, port: usize) {
        self.start(port);
        for (from, to) in [(0, 1), (1, 0)] {
            self.start(to);
            let sent = frame(address(to), address(from), 200);
            self.send(from, &sent);
            assert_eq!(self.received(to), [sent]);
        }
    }
}

#[test]
fn features_are_agreed_on_or_not() {
    for (low, high) in [(0, 0), (u32::MAX, 1), (0, 3), (1, 1)] {
        let network = Network::new(&[0], 0);
        network.set(0, offset::STATUS, 0);
        for (select, half) in [(0, low), (1, high), (2, u32::MAX)] {
            network.set(0, offset::WANTED_SELECT, select);
            network.set(0, offset::WANTED, half);
        }
        network.set(0, offset::STATUS, 3 | status::FEATURES_OK);
        assert_eq!(network.get(0, offset::STATUS), 3, "{low:#x} {high:#x}");
    }
    assert_eq!(feature::OFFERED, 1 << 32 | 1 << 5);
}

#[test]
fn an_invalid_queue_is_not_ready() {
    for (register, value) in [
        (offset::QUEUE_SIZE, 0),
        (offset::QUEUE_SIZE, 6),
        (offset::QUEUE_SIZE, 512),
        (offset::QUEUE_SIZE, 1 << 16 | 8),
        (offset::PARTS[0], 8),
        (offset::PARTS[1], 1),
        (offset::PARTS[2], 2),
    ] {
        for queue in [0, 1, 2, u32::MAX] {
            let mut network = Network::new(&[0b10, 0b01], 0);
            network.set(0, offset::QUEUE_SELECT, queue);
            network.set(0, register, value);
            assert_eq!(network.get(0, offset::QUEUE_READY), u32::from(queue < 2));
            network.set(0, offset::QUEUE_READY, 0);
            network.set(0, register, value);
            network.set(0, offset::QUEUE_READY, 1);
            assert_eq!(network.get(0, offset::QUEUE_READY), 0);
            network.offer(0, &frame(address(1), address(0), 60), &[72]);
            assert_eq!(network.notify(0), Progress::Done);
            assert!(!network.is_broken(0) && !network.is_broken(1));
            network.works_after_reset(0);
        }
    }
}

#[test]
fn errors_of_a_sender_need_its_reset() {
    let outside: [(u64, u32); 4] = [
        (MEMORY as u64, 72),
        (MEMORY as u64 - 20, 72),
        (u64::MAX - 30, 72),
        (0x4020_0000, 72),
    ];
    for buffer in outside {
        let mut network = Network::new(&[0b10, 0b01], 0);
        network.offer(0, &frame(address(1), address(0), 60), &[72]);
        network.machine.rams[0].describe(QUEUES[1], buffer, 0, 0);
        assert_eq!(network.notify(0), Progress::Done);
        assert!(network.is_broken(0) && !network.is_broken(1), "{buffer:?}");
        assert!(network.received(1).is_empty());
        network.works_after_reset(0);
    }
    for (flags, next) in [(2, 0), (1, 0), (1, SIZE), (4, 0), (0xffff, 0xffff)] {
        let mut network = Network::new(&[0b10, 0b01], 0);
        network.offer(0, &frame(address(1), address(0), 60), &[72]);
        network.machine.rams[0].describe(QUEUES[1], (SENT, 12), flags, next);
        assert_eq!(network.notify(0), Progress::Done);
        assert!(
            network.is_broken(0) && !network.is_broken(1),
            "{flags} {next}"
        );
        network.works_after_reset(0);
    }
    let mut network = Network::new(&[0b10, 0b01], 0);
    network.machine.rams[0].put(QUEUES[1] + AVAILABLE + 2, &[0, 0x80]);
    assert_eq!(network.notify(0), Progress::Done);
    assert!(network.is_broken(0));
    assert_eq!(network.notify(0), Progress::Done, "nothing before a reset");
    network.works_after_reset(0);
}

#[test]
fn errors_of_a_receiver_need_its_reset_and_do_not_affect_the_sender() {
    for (buffer, flags, next) in [
        ((MEMORY as u64, 2048), 2, 0),
        ((MEMORY as u64 - 30, 2048), 2, 0),
        ((u64::MAX - 20, 2048), 2, 0),
        ((RECEIVED, 2048), 0, 0),
        ((RECEIVED, 5), 3, 0),
        ((RECEIVED, 5), 3, SIZE),
        ((RECEIVED, 2048), 4, 0),
    ] {
        let mut network = Network::new(&[0b10, 0b01], 0);
        network.machine.rams[1].describe(0, buffer, flags, next);
        network.send(0, &frame(address(1), address(0), 60));
        assert!(
            network.is_broken(1) && !network.is_broken(0),
            "{buffer:?} {flags}"
        );
        assert_eq!(network.counts(1), [0, 0, 1, 0, 0]);
        assert_eq!(network.counts(0), [1, 0, 0, 0, 0]);
        network.send(0, &frame(address(1), address(0), 60));
        assert_eq!(network.counts(1), [0, 0, 2, 0, 0], "lost until its reset");
        network.works_after_reset(1);
    }
}

#[test]
fn too_small_buffers_lose_the_frame_and_stay() {
    let mut network = Network::new(&[0b10, 0b01], 0);
    network.machine.rams[1].describe(0, (RECEIVED, 40), 2, 0);
    network.send(0, &frame(address(1), address(0), 60));
    assert!(network.received(1).is_empty() && !network.is_broken(1));
    let short = frame(address(1), address(0), 28);
    network.send(0, &short);
    assert_eq!(network.received(1), [short]);
    assert_eq!(network.counts(1), [0, 1, 1, 0, 0]);
}

#[test]
fn a_card_that_is_not_initialised_receives_nothing() {
    let mut network = Network::new(&[0b10, 0b01], 0);
    network.set(1, offset::STATUS, 3 | status::FEATURES_OK);
    network.send(0, &frame(address(1), address(0), 60));
    assert_eq!(network.counts(1), [0, 0, 1, 0, 0]);
    network.set(0, offset::STATUS, 3);
    network.send(0, &frame(address(1), address(0), 60));
    assert_eq!(network.counts(0), [1, 0, 0, 0, 0], "nor sends");
}

proptest! {
    /// Random accesses of a driver to registers and memory between any two steps: the other card stays
    /// valid and receives only whole frames of the network, and this one works after a reset.
    #[test]
    fn a_driver_harms_only_itself(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0u8..8], 0x800),
        actions in prop::collection::vec(
            (0u8..6, prop_oneof![0usize..0x120, Just(offset::NOTIFY)], any::<u32>(), any::<u8>()), 1..200,
        ),
    ) {
        let mut network = Network::new(&[0b10, 0b01], 0);
        network.machine.rams[0].put(0, &bytes);
        for (action, at, value, width) in actions {
            match action {
                0 => { let _ = network.ports[0].write(at, [1, 2, 4, 8][usize::from(width % 4)], value.into()); }
                1 => { let _ = network.ports[0].read(at, width); }
                2 => network.machine.rams[0].put(u64::from(value % 0x800), &[width]),
                3 if network.has_room(1) => network.offer(1, &frame(address(0), address(1), 60 + usize::from(width)), &[72 + u32::from(width)]),
                4 => {
                    network.machine.steps.set(usize::from(width % 7));
                    let _ = network.notify(1);
                }
                _ => {
                    network.machine.steps.set(usize::from(width % 7));
                    let _ = network.notify(0);
                }
            }
        }
        network.machine.steps.set(usize::MAX);
        prop_assert!(!network.is_broken(1));
        for frame in network.received(1) {
            prop_assert_eq!(&frame[6..12], &address(0).to_le_bytes()[..6]);
        }
        network.start(1);
        network.works_after_reset(0);
    }
}
