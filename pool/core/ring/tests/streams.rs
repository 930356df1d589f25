//! Streams with a full ring, with a consumer that requests kicks, and with invalid indices.

#![cfg(not(loom))]

use core::sync::atomic::{AtomicU64, Ordering};
use core_ring::stream::{Consumer, Producer};
use core_ring::{Area, Error};

/// Offsets of the header, and its size.
const HEAD: usize = 0x40;
const TAIL: usize = 0x80;
const HEADER: usize = 0x100;

/// Memory of a ring of `bytes` bytes, not cleared.
fn memory(bytes: usize) -> Vec<AtomicU64> {
    let words = (HEADER + bytes) / size_of::<u64>();
    (0..words).map(|_| AtomicU64::new(0x0909)).collect()
}

#[test]
fn a_kick_is_wanted_if_the_consumer_requested_it() {
    let memory = memory(64);
    let area = Area::new(&memory);
    for kick in [true, false, true] {
        Consumer::create(area, kick).unwrap();
        assert_eq!(Producer::attach(area).unwrap().wants_kick(), kick);
    }
}

#[test]
fn a_ring_has_the_largest_power_of_two_that_fits() {
    for (bytes, capacity) in [(8, 8), (24, 16), (64, 64), (120, 64)] {
        let memory = memory(bytes);
        let area = Area::new(&memory);
        let mut consumer = Consumer::create(area, false).unwrap();
        let mut producer = Producer::attach(area).unwrap();
        assert!(consumer.is_empty());
        assert_eq!(producer.write(&[1; 200]), capacity);
        assert_eq!(producer.write(&[1]), 0, "it is full");
        assert_eq!(consumer.lost(), 200 - capacity as u64 + 1);
        assert!(!consumer.is_empty());
        assert_eq!(consumer.read(&mut [0; 200]), capacity);
        assert!(consumer.is_empty());
    }
    let memory = memory(0);
    let area = Area::new(&memory);
    assert!(matches!(
        Consumer::create(area, false),
        Err(Error::TooSmall)
    ));
}

#[test]
fn a_restarted_producer_continues_its_count_of_lost_bytes() {
    let memory = memory(8);
    let area = Area::new(&memory);
    let consumer = Consumer::create(area, false).unwrap();
    for lost in [2, 12] {
        Producer::attach(area).unwrap().write(&[1; 10]);
        assert_eq!(consumer.lost(), lost);
    }
}

#[test]
fn a_consumer_that_is_overtaken_reads_the_bytes_before_the_head() {
    let memory = memory(8);
    let area = Area::new(&memory);
    let mut consumer = Consumer::create(area, false).unwrap();
    area.write(HEADER, b"01234567");
    area.store(HEAD, 11, Ordering::Relaxed);
    let mut buffer = [0; 16];
    assert_eq!(consumer.read(&mut buffer), 5, "up to the wrap");
    assert_eq!(&buffer[..5], b"34567");
    assert_eq!(area.load(TAIL, Ordering::Relaxed), 8);
    assert_eq!(consumer.read(&mut buffer), 3);
    assert_eq!(&buffer[..3], b"012");
    assert_eq!(area.load(TAIL, Ordering::Relaxed), 11);
}

#[test]
fn an_invalid_tail_leaves_no_room() {
    let memory = memory(8);
    let area = Area::new(&memory);
    Consumer::create(area, false).unwrap();
    let mut producer = Producer::attach(area).unwrap();
    assert_eq!(producer.write(b"abc"), 3);
    for tail in [4, u64::MAX - 4] {
        area.store(TAIL, tail, Ordering::Relaxed);
        assert_eq!(producer.write(b"x"), 0, "{tail}");
    }
}
