use crate::memory::{BUFFER, HEADER};
use crate::registers::{feature, offset, status};
use crate::{BUFFERS, ByteRegisters, Card, Error, FRAME, Memory, Registers, Transport};
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

const MAC: [u8; 6] = [0x52, 0x54, 0, 0x12, 0x34, 0x56];

/// The transport of the card in its page.
const NUMBER: usize = 3;

/// Model of a card as its driver sees it.
struct Device {
    memory: &'static Memory,
    registers: BTreeMap<usize, u32>,
    /// Registers of each queue, by number and offset.
    queues: BTreeMap<(u32, usize), u32>,
    features: u64,
    mac: [u8; 6],
    link: u8,
    taken: [u16; 2],
    notified: [usize; 2],
}

#[derive(Clone)]
struct Bus(Rc<RefCell<Device>>);

const OF_QUEUE: std::ops::Range<usize> = 0x034..0x0b0;

impl Registers for Bus {
    fn read(&self, at: usize) -> u32 {
        let device = self.0.borrow();
        let Some(at) = at.checked_sub(0x200 * NUMBER).filter(|at| *at < 0x200) else {
            return [0x7472_6976, 2, 0][at % 0x200 / 4 % 3];
        };
        let queue = device.registers.get(&offset::QUEUE_SELECT).copied();
        match at {
            offset::OFFERED => {
                let select = device.registers[&offset::OFFERED_SELECT];
                (device.features >> (32 * select)) as u32
            }
            offset::QUEUE_READY => {
                let own = device.queues.get(&(queue.unwrap_or(0), at));
                own.copied().unwrap_or(device.registers[&at])
            }
            _ => device.registers.get(&at).copied().unwrap_or(0),
        }
    }

    fn write(&mut self, at: usize, value: u32) {
        let mut device = self.0.borrow_mut();
        let at = at - 0x200 * NUMBER;
        match at {
            offset::NOTIFY => device.notified[value as usize] += 1,
            offset::STATUS => drop(device.registers.insert(at, value)),
            _ if OF_QUEUE.contains(&at) => {
                let queue = device.registers[&offset::QUEUE_SELECT];
                device.queues.insert((queue, at), value);
            }
            _ => drop(device.registers.insert(at, value)),
        }
    }
}

impl ByteRegisters for Bus {
    fn read8(&self, at: usize) -> u8 {
        match at - 0x200 * NUMBER {
            offset::LINK => self.0.borrow().link,
            at => self.0.borrow().mac[at - offset::MAC],
        }
    }
}

impl Bus {
    fn new() -> Self {
        let registers = [
            (offset::MAGIC, 0x7472_6976),
            (offset::VERSION, 2),
            (offset::DEVICE, 1),
            (offset::QUEUE_MOST, 1024),
            (offset::QUEUE_READY, 0),
        ];
        Self(Rc::new(RefCell::new(Device {
            memory: Box::leak(Box::new(Memory::new())),
            registers: registers.into(),
            queues: BTreeMap::new(),
            features: feature::VERSION_1 | feature::MAC | feature::STATUS | 1 << 15 | 1 << 28,
            mac: MAC,
            link: 1,
            taken: [0; 2],
            notified: [0; 2],
        })))
    }

    fn memory(&self) -> &'static Memory {
        self.0.borrow().memory
    }

    fn open(&self) -> Result<Card<Self>, Error> {
        Card::find(self, self.memory())
    }

    /// Delivers a frame; false if the driver left no buffer.
    fn deliver(&self, frame: &[u8]) -> bool {
        let device = &mut *self.0.borrow_mut();
        let queue = &device.memory.receive;
        if queue.offered() == device.taken[0] {
            return false;
        }
        let (buffer, bytes, writable) = queue.taken(device.taken[0]);
        assert!(writable && bytes == BUFFER);
        queue.put(buffer, frame);
        queue.give(
            device.taken[0],
            buffer as u32,
            (HEADER + frame.len()) as u32,
        );
        device.taken[0] = device.taken[0].wrapping_add(1);
        true
    }

    /// Transmits available frames, except the last `left`.
    fn transmit(&self, left: u16) -> Vec<Vec<u8>> {
        let device = &mut *self.0.borrow_mut();
        let queue = &device.memory.transmit;
        let mut frames = vec![];
        while queue.offered().wrapping_sub(device.taken[1]) > left {
            let (buffer, bytes, writable) = queue.taken(device.taken[1]);
            assert!(!writable);
            let content = queue.content(buffer, bytes);
            assert_eq!(content[..HEADER], [0; HEADER], "no offload");
            frames.push(content[HEADER..].to_vec());
            queue.give(device.taken[1], buffer as u32, 0);
            device.taken[1] = device.taken[1].wrapping_add(1);
        }
        frames
    }
}

fn frame(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 + seed) as u8).collect()
}

fn received(card: &mut Card<Bus>) -> Option<Vec<u8>> {
    let mut frame = [0xaa; FRAME];
    let length = card.receive(&mut frame)?;
    assert!(frame[length..].iter().all(|byte| *byte == 0xaa));
    Some(frame[..length].to_vec())
}

#[test]
fn it_is_initialised_as_specified() {
    let bus = Bus::new();
    let card = bus.open().unwrap();
    assert_eq!(
        (card.mac(), card.has_link(), card.is_off()),
        (MAC, true, false)
    );
    let device = bus.0.borrow();
    assert_eq!(device.registers[&offset::STATUS], 0xf);
    // No unknown feature is negotiated.
    assert_eq!(device.registers[&offset::WANTED], 1);
    for (number, queue) in [(0, &device.memory.receive), (1, &device.memory.transmit)] {
        let register = |at| device.queues[&(number, at)];
        assert_eq!(register(offset::QUEUE_SIZE), BUFFERS as u32);
        assert_eq!(register(offset::QUEUE_READY), 1);
        assert!(queue.suppresses_interrupts());
        let parts = queue.parts();
        for ((at, part), alignment) in offset::PARTS.into_iter().zip(parts).zip([16, 2, 4]) {
            assert!(part.is_multiple_of(alignment));
            assert_eq!(
                u64::from(register(at)) | u64::from(register(at + 4)) << 32,
                part
            );
        }
    }
    assert_eq!(device.memory.receive.offered(), BUFFERS as u16);
    assert_eq!(device.notified, [1, 0]);
}

#[test]
fn other_devices_are_recognised() {
    let cases = [
        (offset::MAGIC, 0, Error::Absent),
        (offset::DEVICE, 0, Error::Absent),
        (offset::DEVICE, 2, Error::Absent),
        (offset::VERSION, 1, Error::Legacy),
        (offset::QUEUE_MOST, 8, Error::Unfit),
        (offset::QUEUE_READY, 1, Error::Unfit),
    ];
    for (at, value, error) in cases {
        let bus = Bus::new();
        bus.0.borrow_mut().registers.insert(at, value);
        assert_eq!(bus.open().err(), Some(error), "{at:#x}");
        assert!(!error.to_string().is_empty());
    }
    for features in [feature::MAC, feature::VERSION_1, 0] {
        let bus = Bus::new();
        bus.0.borrow_mut().features = features;
        assert_eq!(bus.open().err(), Some(Error::Unfit));
        assert_eq!(bus.read(0x200 * NUMBER + offset::STATUS), status::FAILED);
    }
    let bus = Bus::new();
    let other = Card::open(Transport::new(bus.clone(), 0), bus.memory());
    assert_eq!(other.err(), Some(Error::Absent));
}

#[test]
fn an_address_that_is_not_of_one_card_is_refused() {
    for mac in [[0; 6], [0xff; 6], [1, 0, 0x5e, 0, 0, 1]] {
        let bus = Bus::new();
        bus.0.borrow_mut().mac = mac;
        assert_eq!(bus.open().err(), Some(Error::Unfit));
        assert_eq!(bus.read(0x200 * NUMBER + offset::STATUS), status::FAILED);
    }
}

#[test]
fn the_link_is_read_where_the_card_states_it() {
    let bus = Bus::new();
    bus.0.borrow_mut().link = 0;
    assert!(!bus.open().unwrap().has_link());
    let bus = Bus::new();
    bus.0.borrow_mut().link = 0;
    bus.0.borrow_mut().features = feature::MAC | feature::VERSION_1;
    assert!(bus.open().unwrap().has_link());
}

#[test]
fn frames_arrive_in_order_and_whole() {
    let bus = Bus::new();
    let mut card = bus.open().unwrap();
    assert_eq!(received(&mut card), None);
    // Enough rounds for the indices to wrap.
    for round in 0..5_000 {
        let lengths = [14, 15, 60, 61, 62, 63, 1513, FRAME];
        let frames = lengths.map(|length| frame(length, round));
        assert!(frames.iter().all(|frame| bus.deliver(frame)));
        for frame in frames {
            assert_eq!(received(&mut card), Some(frame));
        }
        assert_eq!(received(&mut card), None);
    }
    assert_eq!(card.counters().received, 40_000);
    // The first notification, and one per batch of eight.
    assert_eq!(bus.0.borrow().notified, [5_001, 0]);
}

#[test]
fn all_receive_buffers_are_used_and_returned() {
    let bus = Bus::new();
    let mut card = bus.open().unwrap();
    for _ in 0..3 {
        let delivered = (0..100)
            .take_while(|at| bus.deliver(&frame(20, *at)))
            .count();
        assert_eq!(delivered, BUFFERS);
        for at in 0..BUFFERS {
            assert_eq!(received(&mut card), Some(frame(20, at)));
        }
    }
}

#[test]
fn frames_without_a_header_or_too_long_are_dropped() {
    let bus = Bus::new();
    let mut card = bus.open().unwrap();
    for length in [0, 13, FRAME + 1, BUFFER - HEADER] {
        bus.deliver(&frame(length, 1));
    }
    bus.deliver(&frame(14, 2));
    assert_eq!(received(&mut card), Some(frame(14, 2)));
    assert_eq!((card.counters().invalid, card.counters().received), (4, 1));
    // A used entry shorter than the header of virtio.
    let queue = &bus.memory().receive;
    let (buffer, ..) = queue.taken(5);
    queue.give(5, buffer as u32, 3);
    assert_eq!((received(&mut card), card.counters().invalid), (None, 5));
    assert!(!card.is_off());
}

#[test]
fn frames_leave_in_order_and_whole() {
    let bus = Bus::new();
    let mut card = bus.open().unwrap();
    for round in 0..5_000 {
        let frames = [14, 15, 61, FRAME].map(|length| frame(length, round));
        assert!(frames.iter().all(|frame| card.transmit(frame)));
        assert_eq!(bus.transmit(0), frames);
    }
    assert_eq!(card.counters().transmitted, 20_000);
    assert_eq!(bus.0.borrow().notified[1], 20_000);
    bus.memory().transmit.suppress_notifications();
    assert!(card.transmit(&frame(14, 0)));
    assert_eq!(bus.0.borrow().notified[1], 20_000);
}

#[test]
fn frames_beyond_the_buffers_are_refused_and_counted() {
    let bus = Bus::new();
    let mut card = bus.open().unwrap();
    for at in 0..BUFFERS {
        assert!(card.can_transmit() && card.transmit(&frame(20, at)));
    }
    assert!(!card.can_transmit() && !card.transmit(&frame(20, 0)));
    assert_eq!(bus.transmit(BUFFERS as u16 - 1).len(), 1);
    assert!(card.can_transmit() && card.transmit(&frame(20, 99)));
    assert!(!card.transmit(&frame(20, 0)));
    assert_eq!(bus.transmit(0).len(), BUFFERS);
    for length in [0, 13, FRAME + 1] {
        assert!(!card.transmit(&vec![0; length]));
    }
    assert_eq!(card.counters().refused, 5);
}

/// A card that violates the specification is turned off: nothing is received or transmitted.
#[test]
fn a_faulty_card_is_turned_off() {
    let lies: [fn(&Memory); 8] = [
        |memory| memory.receive.say_returned(BUFFERS as u16 + 1),
        |memory| memory.receive.say_returned(u16::MAX),
        |memory| memory.receive.give(0, BUFFERS as u32, 60),
        |memory| memory.receive.give(0, u32::MAX, 60),
        |memory| memory.receive.give(0, 0, BUFFER as u32 + 1),
        |memory| memory.receive.give(0, 0, u32::MAX),
        |memory| memory.transmit.say_returned(2),
        // A buffer that was never offered.
        |memory| memory.transmit.give(0, 1, 0),
    ];
    for (number, lie) in lies.into_iter().enumerate() {
        let bus = Bus::new();
        let mut card = bus.open().unwrap();
        assert!(card.transmit(&frame(20, 0)));
        lie(bus.memory());
        let was = (received(&mut card), card.can_transmit());
        assert_eq!((was, card.is_off()), ((None, false), true), "{number}");
        assert_eq!(bus.read(0x200 * NUMBER + offset::STATUS), 0);
        let before = bus.0.borrow().notified;
        assert!(!card.transmit(&frame(20, 0)) && !card.has_link());
        assert_eq!(bus.0.borrow().notified, before);
    }
}

#[test]
fn a_buffer_is_returned_once() {
    let bus = Bus::new();
    let mut card = bus.open().unwrap();
    assert!(card.transmit(&frame(20, 0)) && card.transmit(&frame(20, 1)));
    bus.memory().transmit.give(0, 0, 0);
    assert!(card.can_transmit());
    bus.memory().transmit.give(1, 0, 0);
    assert!(!card.can_transmit() && card.is_off());
}

proptest! {
    /// With a card that reports anything, every call returns, with a frame of a valid length.
    #[test]
    fn any_behaviour_of_the_card_is_survived(
        lies in prop::collection::vec((0u8..6, any::<u16>(), 0u32..20, any::<u16>()), 1..100),
    ) {
        let bus = Bus::new();
        let mut card = bus.open().unwrap();
        let Memory { receive, transmit } = bus.memory();
        for (kind, index, buffer, bytes) in lies {
            match kind {
                0 => receive.give(index % 20, buffer, (bytes % 1600).into()),
                1 => receive.say_returned(index),
                2 => transmit.give(index % 20, buffer, bytes.into()),
                3 => transmit.say_returned(index),
                4 => { card.transmit(&frame(usize::from(bytes % 1600), 0)); }
                _ => prop_assert!(received(&mut card).is_none_or(|frame| frame.len() >= 14)),
            }
        }
    }
}
