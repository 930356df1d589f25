//! Tests of the virtual disk with a model of a driver.

mod hostile;

use super::*;
use crate::registers::{cause, feature, offset, status};
use core_virtq::{Memory, Outside};

const SECTORS: u64 = 8;
const DESCRIPTORS: u64 = 0;
const AVAILABLE: u64 = 0x100;
const USED: u64 = 0x200;
/// Address of its buffers.
const DATA: u64 = 0x1000;
const MEMORY: usize = 0x4000;
/// Bytes copied per step, as if an interrupt arrived then.
const PIECE: u32 = 100;

/// The disk and the driver's memory.
struct World {
    memory: [u8; MEMORY],
    disk: Vec<u8>,
}

impl World {
    fn new() -> Self {
        Self {
            memory: [0; MEMORY],
            disk: (0..SECTORS * SECTOR).map(|at| (at / 7) as u8).collect(),
        }
    }

    /// Checks that a range is the driver's memory.
    fn check(&self, at: u64, size: u32) -> Result<(), Outside> {
        self.memory.read(at, &mut vec![0; size as usize])
    }

    fn put(&mut self, at: u64, bytes: &[u8]) {
        self.write(at, bytes).unwrap();
    }

    fn describe(&mut self, number: u64, (address, length): (u64, u32), flags: u16, next: u16) {
        let at = DESCRIPTORS + 16 * number;
        self.put(at, &address.to_le_bytes());
        self.put(at + 8, &length.to_le_bytes());
        self.put(at + 12, &flags.to_le_bytes());
        self.put(at + 14, &next.to_le_bytes());
    }
}

impl Memory for World {
    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), Outside> {
        self.memory.read(at, bytes)
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Outside> {
        self.memory.write(at, bytes)
    }
}

impl Store for World {
    fn load(&mut self, from: u64, to: u64, size: u32) -> Result<u32, IoError> {
        self.check(to, size)?;
        let (from, done) = (from as usize, size.min(PIECE) as usize);
        assert!(size > 0 && from + size as usize <= self.disk.len());
        self.memory.write(to, &self.disk[from..from + done])?;
        Ok(done as u32)
    }

    fn store(&mut self, from: u64, to: u64, size: u32) -> Result<u32, IoError> {
        self.check(from, size)?;
        let (to, done) = (to as usize, size.min(PIECE) as usize);
        assert!(size > 0 && to + size as usize <= self.disk.len());
        self.memory.read(from, &mut self.disk[to..to + done])?;
        Ok(done as u32)
    }
}

/// A driver with its disk.
struct Driver {
    block: Block,
    world: World,
    offered: u16,
}

impl Driver {
    /// Initialises the device as Linux does: accepts all features, and sets up a queue of 8.
    fn start(read_only: bool) -> Self {
        let block = Block::new(Geometry {
            sectors: SECTORS,
            read_only,
            name: *b"a disk of eight sec\0",
        });
        let mut driver = Self {
            block,
            world: World::new(),
            offered: 0,
        };
        driver.configure_queue();
        driver
    }

    fn configure_queue(&mut self) {
        self.offered = 0;
        self.world.put(AVAILABLE, &[0; 4]);
        self.set(offset::STATUS, 0);
        self.set(offset::STATUS, 3);
        for select in [0, 1] {
            self.set(offset::OFFERED_SELECT, select);
            self.set(offset::WANTED_SELECT, select);
            self.set(offset::WANTED, self.get(offset::OFFERED));
        }
        self.set(offset::STATUS, 3 | status::FEATURES_OK);
        assert_eq!(self.get(offset::STATUS), 3 | status::FEATURES_OK);
        self.set(offset::QUEUE_SELECT, 0);
        self.set(offset::QUEUE_SIZE, 8);
        for (register, part) in offset::PARTS
            .into_iter()
            .zip([DESCRIPTORS, AVAILABLE, USED])
        {
            self.set(register, part as u32);
            self.set(register + 4, 0);
        }
        self.set(offset::QUEUE_READY, 1);
        assert_eq!(self.get(offset::QUEUE_READY), 1);
        self.set(offset::STATUS, 3 | status::FEATURES_OK | status::DRIVER_OK);
    }

    fn get(&self, at: usize) -> u32 {
        self.block.read(at, 4) as u32
    }

    fn set(&mut self, at: usize, value: u32) {
        self.block.write(at, 4, value.into());
    }

    /// Makes descriptor 0 available.
    fn offer(&mut self) {
        let place = AVAILABLE + 4 + 2 * u64::from(self.offered % 8);
        self.world.put(place, &[0, 0]);
        self.offered = self.offered.wrapping_add(1);
        self.world.put(AVAILABLE + 2, &self.offered.to_le_bytes());
        self.set(offset::NOTIFY, 0);
    }

    /// Executes steps until nothing is left. Returns the number of interrupts.
    fn run(&mut self) -> usize {
        let mut interrupts = 0;
        for _ in 0..1000 {
            match self.block.step(&mut self.world) {
                Step::Idle => return interrupts,
                Step::More | Step::Wait => {}
                Step::Interrupt => interrupts += 1,
            }
        }
        panic!("a request comes to no end");
    }

    /// Executes a request with consecutive buffers of these lengths from `DATA` on, first those
    /// that the device reads. Returns its status and the number of bytes written.
    fn request(&mut self, kind: u32, sector: u64, readable: &[u32], writable: &[u32]) -> (u8, u32) {
        let mut header = u64::from(kind).to_le_bytes().to_vec();
        header.extend(sector.to_le_bytes());
        self.world.put(DATA, &header);
        let count = readable.len() + writable.len();
        let mut at = DATA;
        for (number, length) in readable.iter().chain(writable).enumerate() {
            let next = u16::from(number + 1 < count);
            let write = u16::from(number >= readable.len());
            let following = number as u16 + 1;
            self.world
                .describe(number as u64, (at, *length), next | write << 1, following);
            at += u64::from(*length);
        }
        let used = USED + 4 + 8 * u64::from(self.offered % 8);
        self.offer();
        assert_eq!(self.run(), 1);
        assert_eq!(self.get(offset::INTERRUPT), cause::USED);
        self.set(offset::ACKNOWLEDGE, cause::USED);
        let mut element = [0; 8];
        self.world.read(used, &mut element).unwrap();
        assert_eq!(element[..4], [0; 4]);
        let written = u32::from_le_bytes(element[4..].try_into().unwrap());
        (self.world.memory[at as usize - 1], written)
    }

    /// Checks that these descriptors leave the device in need of a reset.
    fn breaks(&mut self) {
        self.offer();
        assert_eq!(self.run(), 1);
        assert_ne!(self.get(offset::STATUS) & status::NEEDS_RESET, 0);
        assert_eq!(self.get(offset::INTERRUPT), cause::CONFIGURATION);
        self.set(offset::NOTIFY, 0);
        assert_eq!(self.run(), 0, "nothing is done before it is reset");
        self.configure_queue();
        assert_eq!(self.request(0, 0, &[16], &[512, 1]), (0, 513));
    }
}

#[test]
fn linux_recognises_the_disk() {
    let driver = Driver::start(false);
    let registers = [0x000, 0x004, 0x008].map(|at| driver.get(at));
    assert_eq!(registers, [0x7472_6976, 2, 2]);
    let config = |at: usize, width| driver.block.read(0x100 + at, width);
    assert_eq!((config(0, 4), config(4, 4)), (SECTORS, 0), "capacity");
    assert_eq!(
        (config(12, 4), config(20, 4)),
        (126, 512),
        "segments, block"
    );
    assert_eq!((config(20, 1), config(21, 1), config(0x100, 8)), (0, 2, 0));
    assert_eq!(driver.block.read(0, 2), 0, "registers are words");
    assert_eq!(driver.get(offset::QUEUE_MOST), 128);
    assert_eq!(driver.get(0x0b0), u32::MAX, "no shared memory");
}

#[test]
fn reads_return_written_data() {
    let mut driver = Driver::start(false);
    let text: Vec<u8> = (0..1024u32).map(|at| (at % 251) as u8).collect();
    driver.world.put(DATA + 16, &text);
    assert_eq!(driver.request(1, 3, &[16, 512, 512], &[1]), (0, 1));
    assert_eq!(driver.world.disk[3 * 512..5 * 512], text);
    driver.world.put(DATA + 16, &[0; 1024]);
    assert_eq!(driver.request(0, 3, &[16], &[1024, 1]), (0, 1025));
    assert_eq!(driver.world.memory[DATA as usize + 16..][..1024], text);
}

/// The framing is the driver's choice (2.7.4.3).
#[test]
fn any_framing_is_accepted() {
    for (readable, writable) in [
        (&[16][..], &[513][..]),
        (&[1, 15], &[511, 2]),
        (&[4, 4, 8], &[100, 100, 312, 1]),
    ] {
        let mut driver = Driver::start(false);
        assert_eq!(driver.request(0, 1, readable, writable), (0, 513));
        assert_eq!(
            driver.world.memory[DATA as usize + 16..][..512],
            driver.world.disk[512..1024]
        );
    }
    let mut driver = Driver::start(false);
    driver.world.put(DATA + 16, &[0xa5; 512]);
    assert_eq!(driver.request(1, 0, &[528], &[1]), (0, 1));
    assert_eq!(
        driver.world.disk[..513],
        [[0xa5; 512].as_slice(), &[73]].concat()
    );
}

#[test]
fn it_identifies_itself_and_flushes() {
    let mut driver = Driver::start(false);
    assert_eq!(driver.request(8, 0, &[16], &[20, 1]), (0, 21));
    assert_eq!(
        &driver.world.memory[DATA as usize + 16..][..20],
        b"a disk of eight sec\0"
    );
    assert_eq!(
        driver.request(8, u64::MAX, &[16], &[5, 300, 1]),
        (0, 21),
        "the sector is no matter"
    );
    assert_eq!(driver.request(4, 0, &[16], &[1]), (0, 1));
    assert_eq!(driver.request(11, 0, &[16], &[512, 1]), (2, 1), "unknown");
}

#[test]
fn accesses_beyond_the_end_fail() {
    let mut driver = Driver::start(false);
    let before = driver.world.disk.clone();
    for sector in [SECTORS, SECTORS - 1, u64::MAX / 512, u64::MAX] {
        assert_eq!(
            driver.request(0, sector, &[16], &[1024, 1]).0,
            1,
            "{sector}"
        );
        assert_eq!(
            driver.request(1, sector, &[16, 1024], &[1]).0,
            1,
            "{sector}"
        );
    }
    assert_eq!(driver.world.disk, before);
    assert_eq!(
        driver.request(0, 0, &[16], &[100, 1]).0,
        1,
        "no whole sectors"
    );
}

#[test]
fn a_read_only_disk_is_not_written() {
    let mut driver = Driver::start(true);
    driver.set(offset::OFFERED_SELECT, 0);
    assert_ne!(
        u64::from(driver.get(offset::OFFERED)) & feature::READ_ONLY,
        0
    );
    let before = driver.world.disk.clone();
    driver.world.put(DATA + 16, &[0xa5; 512]);
    assert_eq!(driver.request(1, 0, &[16, 512], &[1]), (1, 1));
    assert_eq!(driver.world.disk, before);
}
