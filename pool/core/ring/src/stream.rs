//! Stream: a ring of bytes with one producer and one consumer, for logs.
//!
//! The consumer initialises the ring ([`Consumer::create`]); the producer attaches to it
//! ([`Producer::attach`]). Bytes that do not fit are dropped and counted: a full log never delays the
//! VM that writes it.
//!
//! Layout, little endian:
//!
//! | offset | field |
//! |---|---|
//! | 0x00 | `u32` magic `TRNG`, `u32` capacity in bytes (a power of two) |
//! | 0x08 | `u32` flags (bit 0: the consumer requests a kick), `u32` zero |
//! | 0x40 | `u64` head: bytes produced, free running; `u64` bytes lost |
//! | 0x80 | `u64` tail: bytes consumed, free running |
//! | 0x100 | the bytes |
//!
//! Head and tail have cache lines of their own, so that both ends do not contend.

use crate::area::Ordering;
use crate::{Area, Error, power_of_two_within};

/// First field of a ring: `TRNG`.
pub const MAGIC: u32 = u32::from_le_bytes(*b"TRNG");
/// Flag: the consumer does not poll and requests a kick after a write.
pub const WANTS_KICK: u32 = 1;

const MAGIC_AND_CAPACITY: usize = 0x00;
const FLAGS: usize = 0x08;
const HEAD: usize = 0x40;
const LOST: usize = 0x48;
const TAIL: usize = 0x80;
const DATA: usize = 0x100;

/// Data bytes of a ring.
#[derive(Clone, Copy, Debug)]
struct Data<'a> {
    area: Area<'a>,
    capacity: u64,
}

impl Data<'_> {
    /// Offset of free-running `index`, and the number of bytes up to the wrap of the ring.
    fn place(&self, index: u64) -> (usize, usize) {
        let position = index & (self.capacity - 1);
        (
            DATA + position as usize,
            (self.capacity - position) as usize,
        )
    }
}

/// Writing end of a stream.
#[derive(Debug)]
pub struct Producer<'a> {
    data: Data<'a>,
    head: u64,
    lost: u64,
}

impl<'a> Producer<'a> {
    /// Attaches to the ring that the consumer initialised in `area`.
    pub fn attach(area: Area<'a>) -> Result<Self, Error> {
        if area.len() <= DATA {
            return Err(Error::TooSmall);
        }
        let first = area.load(MAGIC_AND_CAPACITY, Ordering::Acquire);
        let capacity = first >> u32::BITS;
        if first as u32 != MAGIC {
            return Err(Error::NoRing);
        }
        if !capacity.is_power_of_two() || capacity > (area.len() - DATA) as u64 {
            return Err(Error::Capacity);
        }
        let head = area.load(HEAD, Ordering::Relaxed);
        let lost = area.load(LOST, Ordering::Relaxed);
        Ok(Self {
            data: Data { area, capacity },
            head,
            lost,
        })
    }

    /// Appends as many of `bytes` as fit and counts the others as lost; returns the number appended.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        let Data { area, capacity } = self.data;
        // Acquire: the consumer has finished reading the bytes that are overwritten next.
        let used = self.head.wrapping_sub(area.load(TAIL, Ordering::Acquire));
        let free = capacity.saturating_sub(used).min(bytes.len() as u64) as usize;
        let (fitting, dropped) = bytes.split_at(free);
        if !fitting.is_empty() {
            let (offset, until_wrap) = self.data.place(self.head);
            let (first, second) = fitting.split_at(until_wrap.min(fitting.len()));
            area.write(offset, first);
            area.write(DATA, second);
            self.head = self.head.wrapping_add(fitting.len() as u64);
            area.store(HEAD, self.head, Ordering::Release);
        }
        if !dropped.is_empty() {
            self.lost = self.lost.wrapping_add(dropped.len() as u64);
            area.store(LOST, self.lost, Ordering::Relaxed);
        }
        fitting.len()
    }

    /// Whether the consumer requests a kick after a write.
    pub fn wants_kick(&self) -> bool {
        self.data.area.load_half(FLAGS, Ordering::Relaxed) & WANTS_KICK != 0
    }
}

/// Reading end of a stream; it initialises the ring.
#[derive(Debug)]
pub struct Consumer<'a> {
    data: Data<'a>,
    tail: u64,
}

impl<'a> Consumer<'a> {
    /// Initialises an empty ring that fills `area`. `kick` requests a kick after each write, for a
    /// consumer that does not poll.
    pub fn create(area: Area<'a>, kick: bool) -> Result<Self, Error> {
        let room = area.len().checked_sub(DATA).ok_or(Error::TooSmall)?;
        let capacity = power_of_two_within(room.min(1 << 31)).ok_or(Error::TooSmall)?;
        area.store(
            FLAGS,
            if kick { WANTS_KICK.into() } else { 0 },
            Ordering::Relaxed,
        );
        for offset in [HEAD, LOST, TAIL] {
            area.store(offset, 0, Ordering::Relaxed);
        }
        // The magic number is stored last: a producer that finds it finds an initialised ring.
        let first = capacity << u32::BITS | u64::from(MAGIC);
        area.store(MAGIC_AND_CAPACITY, first, Ordering::Release);
        Ok(Self {
            data: Data { area, capacity },
            tail: 0,
        })
    }

    /// Reads bytes into `buffer`; returns their number, which is less than available where the ring wraps.
    ///
    /// If an invalid head is further ahead than the capacity, the bytes are those before the head; they
    /// lie within the ring in any case.
    pub fn read(&mut self, buffer: &mut [u8]) -> usize {
        let Data { area, capacity } = self.data;
        let head = area.load(HEAD, Ordering::Acquire);
        if head.wrapping_sub(self.tail) > capacity {
            self.tail = head.wrapping_sub(capacity);
        }
        let (offset, until_wrap) = self.data.place(self.tail);
        let most = buffer.len().min(until_wrap);
        let length = head.wrapping_sub(self.tail).min(most as u64) as usize;
        let (wanted, _) = buffer.split_at_mut(length);
        area.read(offset, wanted);
        self.tail = self.tail.wrapping_add(length as u64);
        area.store(TAIL, self.tail, Ordering::Release);
        length
    }

    /// Whether there are no unread bytes.
    pub fn is_empty(&self) -> bool {
        self.data.area.load(HEAD, Ordering::Relaxed) == self.tail
    }

    /// Number of dropped bytes, as counted by the producer.
    pub fn lost(&self) -> u64 {
        self.data.area.load(LOST, Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::area::AtomicU64;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    const WORDS: usize = (DATA + 64) / 8;

    fn memory() -> [AtomicU64; WORDS] {
        [const { AtomicU64::new(0) }; WORDS]
    }

    #[test]
    fn the_header_has_the_documented_bytes() {
        let memory = memory();
        let area = Area::new(&memory);
        Consumer::create(area, true).unwrap();
        Producer::attach(area).unwrap().write(b"ab");
        let mut found = [0; DATA + 2];
        area.read(0, &mut found);
        let mut expected = [0; DATA + 2];
        expected[..4].copy_from_slice(b"TRNG");
        expected[4] = 64;
        expected[8] = 1;
        expected[HEAD] = 2;
        expected[DATA..].copy_from_slice(b"ab");
        assert_eq!(found, expected);
    }

    #[test]
    fn bad_areas_are_refused() {
        let memory = memory();
        let area = Area::new(&memory);
        assert_eq!(Producer::attach(area).unwrap_err(), Error::NoRing);
        for capacity in [0u64, 3, 128] {
            area.store(0, capacity << 32 | u64::from(MAGIC), Ordering::Relaxed);
            assert_eq!(Producer::attach(area).unwrap_err(), Error::Capacity);
        }
        let small = area.part(0, DATA).unwrap();
        assert_eq!(Consumer::create(small, false).unwrap_err(), Error::TooSmall);
        assert_eq!(Producer::attach(small).unwrap_err(), Error::TooSmall);
    }

    #[test]
    fn a_restarted_producer_goes_on_where_the_ring_stands() {
        let memory = memory();
        let area = Area::new(&memory);
        let mut consumer = Consumer::create(area, false).unwrap();
        Producer::attach(area).unwrap().write(b"one");
        Producer::attach(area).unwrap().write(b"two");
        let mut buffer = [0; 8];
        assert_eq!(consumer.read(&mut buffer), 6);
        assert_eq!(&buffer[..6], b"onetwo");
        assert!(consumer.is_empty());
    }

    proptest! {
        #[test]
        fn what_fits_comes_out_in_order(
            steps in prop::collection::vec((any::<bool>(), 0usize..100), 1..60),
        ) {
            let memory = memory();
            let area = Area::new(&memory);
            let mut consumer = Consumer::create(area, false).unwrap();
            let mut producer = Producer::attach(area).unwrap();
            let (mut model, mut next, mut lost, mut taken) = (VecDeque::new(), 0u8, 0, 0);
            for (write, length) in steps {
                if write {
                    let bytes: Vec<u8> = (0..length).map(|i| next.wrapping_add(i as u8)).collect();
                    let fitted = producer.write(&bytes);
                    prop_assert_eq!(fitted, length.min(64 - model.len()));
                    model.extend(&bytes[..fitted]);
                    next = next.wrapping_add(length as u8);
                    lost += length - fitted;
                } else {
                    let mut buffer = vec![0; length];
                    let read = consumer.read(&mut buffer);
                    prop_assert_eq!(read, length.min(model.len()).min(64 - taken % 64));
                    taken += read;
                    let expected: Vec<u8> = model.drain(..read).collect();
                    prop_assert_eq!(&buffer[..read], &expected[..]);
                }
            }
            prop_assert_eq!(consumer.lost(), lost as u64);
        }

        #[test]
        fn a_lying_peer_stays_within_the_ring(
            lies in prop::collection::vec((0usize..WORDS, any::<u64>()), 1..60),
        ) {
            let memory = memory();
            let area = Area::new(&memory);
            let mut consumer = Consumer::create(area, false).unwrap();
            let mut producer = Producer::attach(area).unwrap();
            let mut buffer = [0; 100];
            for (word, value) in lies {
                area.store(word * 8, value, Ordering::Relaxed);
                prop_assert!(consumer.read(&mut buffer) <= 64);
                prop_assert!(producer.write(&buffer) <= 64);
                let _ = (Producer::attach(area), consumer.lost(), producer.wants_kick());
            }
        }
    }
}
