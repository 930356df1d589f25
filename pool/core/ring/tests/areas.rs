//! Areas at their ends, records that a journal overwrites, and the sentences of errors.

#![cfg(not(loom))]

use core::sync::atomic::{AtomicU64, Ordering};
use core_ring::journal::{Layout, Next, Reader, Writer};
use core_ring::{Area, Error};

/// Words that no test stores.
const OLD: u64 = 0x0909_0909_0909_0909;

fn memory<const WORDS: usize>() -> [AtomicU64; WORDS] {
    [const { AtomicU64::new(OLD) }; WORDS]
}

#[test]
fn a_part_has_whole_words_within_the_area() {
    let memory = memory::<4>();
    let area = Area::new(&memory);
    assert_eq!((area.len(), area.is_empty()), (32, false));
    let part = area.part(8, 16).unwrap();
    assert_eq!((part.len(), part.is_empty()), (16, false));
    part.store(8, 7, Ordering::Relaxed);
    assert_eq!(area.load(16, Ordering::Relaxed), 7);
    assert!(area.part(32, 0).is_some_and(|part| part.is_empty()));
    assert!(area.part(24, 16).is_none());
    assert!(area.part(8, usize::MAX).is_none());
    assert!(area.first_words::<4>().is_some());
    assert!(area.first_words::<5>().is_none());
}

#[test]
fn an_offset_outside_reads_as_zero_and_is_not_written() {
    let memory = memory::<2>();
    let area = Area::new(&memory);
    area.store(16, 1, Ordering::Relaxed);
    assert_eq!(area.load(16, Ordering::Relaxed), 0);
    assert_eq!(area.load(8, Ordering::Relaxed), OLD);
    area.clear();
    assert_eq!(memory.map(AtomicU64::into_inner), [0; 2]);
}

#[test]
fn a_half_spares_the_other_half() {
    let memory = memory::<1>();
    let area = Area::new(&memory);
    area.store_half(4, 0, Ordering::Relaxed);
    assert_eq!(area.load(0, Ordering::Relaxed), 0x0909_0909);
    area.store_half(0, 0xffff_ffff, Ordering::Relaxed);
    area.store_half(0, 5, Ordering::Relaxed);
    assert_eq!(area.load(0, Ordering::Relaxed), 5);
    assert_eq!(area.load_half(4, Ordering::Relaxed), 0);
}

#[test]
fn whole_words_are_filled_and_no_further_one() {
    let memory = memory::<3>();
    let area = Area::new(&memory);
    area.fill(&[1; 8]);
    assert_eq!(area.load(8, Ordering::Relaxed), OLD);
    area.fill(&[2; 9]);
    assert_eq!(area.load(8, Ordering::Relaxed), 2, "padded with zeros");
    assert_eq!(area.load(16, Ordering::Relaxed), OLD);
    area.fill(&[3; 100]);
    assert_eq!(area.load(16, Ordering::Relaxed), u64::from_ne_bytes([3; 8]));
    let mut bytes = [7; 30];
    area.take(&mut bytes);
    assert_eq!(bytes[..24], [3; 24]);
    assert_eq!(bytes[24..], [7; 6], "past the end of the area");
}

#[test]
fn a_journal_states_exactly_what_it_overwrote() {
    const LAYOUT: Layout = Layout {
        capacity: 0,
        head: 8,
        records: 16,
    };
    let memory = memory::<{ 2 + 2 * 7 }>();
    let area = Area::new(&memory);
    let mut writer = Writer::<[u64; 2], 2>::create(area, LAYOUT).unwrap();
    assert_eq!(area.load(0, Ordering::Relaxed), 4, "a power of two");
    let mut reader = Reader::<[u64; 2], 2>::attach(area, LAYOUT).unwrap();
    assert_eq!(reader.take(), Next::Empty);
    let mut publish = |count| {
        for _ in 0..count {
            let number = writer.published();
            writer.publish([number, number + 100]);
        }
    };
    publish(3);
    assert_eq!(reader.take(), Next::Record([0, 100]));
    publish(2);
    // Records 1 to 4 fill the journal, and the slot of the first is the next to be written.
    assert_eq!(reader.take(), Next::Missed(1));
    assert_eq!(reader.take(), Next::Record([2, 102]));
    publish(10);
    assert_eq!(reader.take(), Next::Missed(9));
    for number in 12..15 {
        assert_eq!(reader.take(), Next::Record([number, number + 100]));
    }
    assert_eq!(reader.take(), Next::Empty);
    assert_eq!(area.load(8, Ordering::Relaxed), 15);
}

#[test]
fn a_journal_needs_room_for_a_record() {
    const LAYOUT: Layout = Layout {
        capacity: 0,
        head: 8,
        records: 16,
    };
    let memory = memory::<4>();
    let area = Area::new(&memory);
    assert!(Writer::<[u64; 2], 2>::create(area, LAYOUT).is_ok());
    for length in [0, 8, 16, 24] {
        let small = area.part(0, length).unwrap();
        let refused = Writer::<[u64; 2], 2>::create(small, LAYOUT).map(|_| ());
        assert_eq!(refused, Err(Error::TooSmall), "{length}");
    }
}

#[test]
fn each_error_has_a_sentence_of_its_own() {
    let errors = [
        Error::TooSmall,
        Error::NoRing,
        Error::Capacity,
        Error::Full,
        Error::Empty,
        Error::TooLong,
        Error::PeerGone,
        Error::Corrupt,
    ];
    let mut sentences: Vec<String> = errors.iter().map(Error::to_string).collect();
    assert!(
        sentences
            .iter()
            .all(|sentence| sentence.starts_with("the "))
    );
    sentences.sort_unstable();
    sentences.dedup();
    assert_eq!(sentences.len(), errors.len());
}
