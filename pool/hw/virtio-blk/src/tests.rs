use crate::registers::{feature, offset, status};
use crate::{BUFFER, Drive, Error, Memory, Registers, Request, SHARERS};
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::Ordering;

const SECTORS: u64 = 32;
const WORDS: usize = 512 / 8;

/// Model of a disk as its driver sees it.
struct Device {
    memory: &'static Memory,
    registers: BTreeMap<usize, u32>,
    features: u64,
    content: Vec<u64>,
    taken: u16,
    notified: usize,
    flushed: usize,
    /// Whether the next requests fail.
    bad: bool,
}

#[derive(Clone)]
struct Bus(Rc<RefCell<Device>>);

impl Registers for Bus {
    fn read(&self, at: usize) -> u32 {
        let device = self.0.borrow();
        match at {
            offset::OFFERED => {
                let select = device.registers[&offset::OFFERED_SELECT];
                (device.features >> (32 * select)) as u32
            }
            _ => device.registers.get(&at).copied().unwrap_or(0),
        }
    }

    fn write(&mut self, at: usize, value: u32) {
        let mut device = self.0.borrow_mut();
        if at == offset::NOTIFY {
            device.notified += 1;
        }
        device.registers.insert(at, value);
    }
}

impl Bus {
    fn new() -> Self {
        let memory = Box::leak(Box::new(Memory::new()));
        let registers = [
            (offset::MAGIC, 0x7472_6976),
            (offset::VERSION, 2),
            (offset::DEVICE, 2),
            (offset::QUEUE_MOST, 1024),
            (offset::CAPACITY, SECTORS as u32),
        ];
        Self(Rc::new(RefCell::new(Device {
            memory,
            registers: registers.into(),
            features: feature::VERSION_1 | feature::FLUSH | 1 << 28,
            content: (0..SECTORS * WORDS as u64).collect(),
            taken: 0,
            notified: 0,
            flushed: 0,
            bad: false,
        })))
    }

    fn open(&self) -> Result<Drive<Self>, Error> {
        let memory = self.0.borrow().memory;
        Drive::open(self.clone(), memory)
    }

    /// Executes available requests, except the last `left`.
    fn work(&self, left: u16) {
        let device = &mut *self.0.borrow_mut();
        let memory = device.memory;
        while memory.offered().wrapping_sub(device.taken) > left {
            let (head, kind, sector, data) = memory.request(device.taken);
            let sharer = usize::from(head) / 4;
            let first = sector as usize * WORDS;
            match (kind, data) {
                (4, None) => device.flushed += 1,
                (kind @ (0 | 1), Some((at, bytes, writable))) => {
                    assert_eq!(at, memory.buffer(sharer).unwrap());
                    assert_eq!(writable, kind == 0);
                    assert!(bytes as usize <= BUFFER);
                    for word in 0..bytes as usize / 8 {
                        let there = memory.word(sharer, word);
                        match writable {
                            true => there.store(device.content[first + word], Ordering::Relaxed),
                            false => device.content[first + word] = there.load(Ordering::Relaxed),
                        }
                    }
                }
                other => panic!("{other:?}"),
            }
            memory.give(device.taken, head.into(), device.bad.into());
            device.taken = device.taken.wrapping_add(1);
        }
    }
}

fn read(sector: u64, count: u64) -> Request {
    Request::Read { sector, count }
}

fn write(sector: u64, count: u64) -> Request {
    Request::Write { sector, count }
}

#[test]
fn it_is_initialised_as_specified() {
    let bus = Bus::new();
    let drive = bus.open().unwrap();
    assert_eq!((drive.sectors(), drive.is_read_only()), (SECTORS, false));
    let device = bus.0.borrow();
    let register = |at| device.registers[&at];
    assert_eq!(register(offset::STATUS), 0xf);
    assert_eq!(
        (register(offset::QUEUE_SIZE), register(offset::QUEUE_READY)),
        (32, 1)
    );
    // No unknown feature is negotiated.
    assert_eq!(register(offset::WANTED), (feature::VERSION_1 >> 32) as u32);
    let [descriptors, available, used] = device.memory.parts();
    assert!(
        descriptors.is_multiple_of(16) && available.is_multiple_of(2) && used.is_multiple_of(4)
    );
    for (at, part) in offset::PARTS
        .into_iter()
        .zip([descriptors, available, used])
    {
        assert_eq!(
            u64::from(register(at)) | u64::from(register(at + 4)) << 32,
            part
        );
    }
}

#[test]
fn other_devices_are_recognised() {
    let cases = [
        (offset::MAGIC, 0, Error::Absent),
        (offset::DEVICE, 0, Error::Absent),
        (offset::DEVICE, 1, Error::Absent),
        (offset::VERSION, 1, Error::Legacy),
        (offset::QUEUE_MOST, 16, Error::Unfit),
        (offset::QUEUE_READY, 1, Error::Unfit),
    ];
    for (at, value, error) in cases {
        let bus = Bus::new();
        bus.0.borrow_mut().registers.insert(at, value);
        assert_eq!(bus.open().err(), Some(error), "{at:#x}");
        assert!(!error.words().is_empty());
    }
    let bus = Bus::new();
    bus.0.borrow_mut().features = feature::FLUSH;
    assert_eq!(bus.open().err(), Some(Error::Unfit));
}

#[test]
fn written_data_is_read_by_another_sharer() {
    let bus = Bus::new();
    let memory = bus.0.borrow().memory;
    let mut drive = bus.open().unwrap();
    for word in 0..2 * WORDS {
        memory
            .word(3, word)
            .store(1000 + word as u64, Ordering::Relaxed);
    }
    drive.submit(3, write(5, 2));
    assert_eq!((drive.poll(3), drive.poll(4)), (None, Some(false)));
    // A second request of the same sharer is ignored.
    drive.submit(3, read(0, 1));
    bus.work(0);
    assert_eq!(drive.poll(3), Some(true));
    drive.submit(7, read(6, 1));
    bus.work(0);
    assert_eq!(drive.poll(7), Some(true));
    assert_eq!(
        memory.word(7, 1).load(Ordering::Relaxed),
        1001 + WORDS as u64
    );
    assert_eq!(
        bus.0.borrow().content[7 * WORDS],
        7 * WORDS as u64,
        "no sector more"
    );
    drive.submit(3, Request::Flush);
    assert_eq!(drive.poll(3), None);
    bus.work(0);
    assert_eq!((drive.poll(3), bus.0.borrow().flushed), (Some(true), 1));
    assert_eq!(bus.0.borrow().notified, 3);
}

#[test]
fn all_sharers_have_a_request_in_flight() {
    let bus = Bus::new();
    let mut drive = bus.open().unwrap();
    // Enough rounds for the indices to wrap.
    for round in 0..10_000 {
        for sharer in 0..SHARERS {
            drive.submit(sharer, read(sharer as u64, 1));
        }
        bus.work(1);
        assert_eq!(drive.poll(6), Some(true), "{round}");
        assert_eq!(drive.poll(7), None, "the last one offered");
        bus.work(0);
        assert_eq!(drive.poll(7), Some(true));
    }
    drive.submit(SHARERS, read(0, 1));
    assert_eq!(drive.poll(SHARERS), Some(false), "there are no more");
}

#[test]
fn invalid_requests_are_not_submitted() {
    let bus = Bus::new();
    let mut drive = bus.open().unwrap();
    let most = (BUFFER / 512) as u64;
    for request in [
        read(SECTORS, 1),
        read(SECTORS - 1, 2),
        write(SECTORS, 1),
        read(u64::MAX, 1),
        write(u64::MAX - 1, 2),
        read(0, most + 1),
        read(0, u64::MAX),
        write(0, 0),
    ] {
        drive.submit(0, request);
        assert_eq!(drive.poll(0), Some(false), "{request:?}");
    }
    assert_eq!(bus.0.borrow().notified, 0);
    drive.submit(0, read(SECTORS - most, most));
    bus.work(0);
    assert_eq!(drive.poll(0), Some(true));
}

#[test]
fn a_read_only_disk_is_not_written() {
    let bus = Bus::new();
    bus.0.borrow_mut().features |= feature::READ_ONLY;
    let mut drive = bus.open().unwrap();
    assert!(drive.is_read_only());
    drive.submit(0, write(0, 1));
    assert_eq!((drive.poll(0), bus.0.borrow().notified), (Some(false), 0));
}

#[test]
fn failures_are_reported_and_no_flush_is_sent_without_a_cache() {
    let bus = Bus::new();
    bus.0.borrow_mut().features = feature::VERSION_1;
    bus.0.borrow_mut().bad = true;
    let mut drive = bus.open().unwrap();
    drive.submit(0, read(0, 1));
    bus.work(0);
    assert_eq!(drive.poll(0), Some(false));
    drive.submit(0, Request::Flush);
    assert_eq!((drive.poll(0), bus.0.borrow().notified), (Some(true), 1));
    bus.0.borrow_mut().bad = false;
    drive.submit(0, read(0, 1));
    bus.work(0);
    assert_eq!(
        drive.poll(0),
        Some(true),
        "one failure is no more than that"
    );
}

/// A device that violates the specification is turned off: each request fails, and no other is
/// submitted.
#[test]
fn a_faulty_disk_is_turned_off() {
    let lies: [fn(&Memory); 5] = [
        |memory| memory.say_given(2),
        |memory| memory.say_given(u16::MAX),
        |memory| memory.give(0, 4, 0),
        |memory| memory.give(0, 1, 0),
        |memory| memory.give(0, u32::MAX, 0),
    ];
    for (number, lie) in lies.into_iter().enumerate() {
        let bus = Bus::new();
        let memory = bus.0.borrow().memory;
        let mut drive = bus.open().unwrap();
        drive.submit(0, read(0, 1));
        lie(memory);
        assert_eq!(drive.poll(0), Some(false), "{number}");
        assert_eq!(bus.read(offset::STATUS) & status::DRIVER_OK, 0);
        let before = bus.0.borrow().notified;
        drive.submit(1, read(0, 1));
        assert_eq!(
            (drive.poll(1), bus.0.borrow().notified),
            (Some(false), before)
        );
    }
}

#[test]
fn a_request_is_returned_once() {
    let bus = Bus::new();
    let memory = bus.0.borrow().memory;
    let mut drive = bus.open().unwrap();
    drive.submit(0, read(0, 1));
    drive.submit(1, read(0, 1));
    memory.give(0, 0, 0);
    assert_eq!(drive.poll(0), Some(true));
    memory.give(1, 0, 0);
    assert_eq!(drive.poll(1), Some(false), "it is off");
}

proptest! {
    /// With a device that reports anything, every call returns, and no request stays in flight
    /// after its return.
    #[test]
    fn any_device_behaviour_is_survived(
        lies in prop::collection::vec((0u8..4, any::<u16>(), 0u32..40, any::<u8>()), 1..100),
    ) {
        let bus = Bus::new();
        let memory = bus.0.borrow().memory;
        let mut drive = bus.open().unwrap();
        for (kind, index, head, verdict) in lies {
            let sharer = usize::from(verdict) % (SHARERS + 1);
            match kind {
                0 => memory.give(index % 40, head, verdict),
                1 => memory.say_given(index),
                2 => drive.submit(sharer, read(index.into(), u64::from(head))),
                _ => { let _ = drive.poll(sharer); }
            }
        }
        for sharer in 0..SHARERS {
            let _ = drive.poll(sharer);
        }
    }
}

/// A page of transports, one of which has the disk.
#[derive(Clone)]
struct Page(Bus);

impl Registers for Page {
    fn read(&self, at: usize) -> u32 {
        match at / 0x200 {
            3 => self.0.read(at % 0x200),
            _ => 0,
        }
    }

    fn write(&mut self, at: usize, value: u32) {
        assert_eq!(at / 0x200, 3, "another transport is written");
        self.0.write(at % 0x200, value);
    }
}

#[test]
fn the_disk_of_a_page_is_found_and_its_bytes_are_copied() {
    let bus = Bus::new();
    let memory = bus.0.borrow().memory;
    let mut drive = Drive::find(&Page(bus.clone()), memory).unwrap();
    let bytes: Vec<u8> = (0..1020).map(|at| (at * 7) as u8).collect();
    memory.write(1, &bytes);
    drive.submit(
        1,
        Request::Write {
            sector: 4,
            count: 2,
        },
    );
    bus.work(0);
    assert_eq!(drive.poll(1), Some(true));
    memory.write(1, &[0; BUFFER]);
    drive.submit(
        1,
        Request::Read {
            sector: 4,
            count: 2,
        },
    );
    bus.work(0);
    assert_eq!(drive.poll(1), Some(true));
    let mut read = [0xff; 1024];
    memory.read(1, &mut read);
    assert_eq!((&read[..1020], &read[1020..]), (&bytes[..], &[0; 4][..]));
    bus.0.borrow_mut().registers.insert(offset::DEVICE, 1);
    assert_eq!(Drive::find(&Page(bus), memory).err(), Some(Error::Absent));
}
