//! Journal: a ring of fixed-size records that overwrites the oldest, for measurements.
//!
//! The writer never waits and never fails. A reader that falls behind by the capacity or more gets the
//! number of missed records.
//!
//! A journal is part of a larger format with a header of its own, which determines the offsets of the
//! fields ([`Layout`]). Record *i* has slot *i* mod capacity; the capacity is a power of two.

use crate::area::{Ordering, fence};
use crate::{Area, Error, power_of_two_within};
use core::marker::PhantomData;

/// Byte offsets of the fields of a journal within its area; all are multiples of eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Offset of the `u64` capacity in records.
    pub capacity: usize,
    /// Offset of the `u64` head: number of published records, free running.
    pub head: usize,
    /// Offset of the first record.
    pub records: usize,
}

/// Record of `WORDS` 64-bit words.
pub trait Record<const WORDS: usize>: From<[u64; WORDS]> + Into<[u64; WORDS]> {}

impl<T: From<[u64; WORDS]> + Into<[u64; WORDS]>, const WORDS: usize> Record<WORDS> for T {}

/// Offset of the record with free-running `index`.
fn slot<const WORDS: usize>(layout: &Layout, capacity: u64, index: u64) -> usize {
    layout.records + (index & (capacity - 1)) as usize * WORDS * size_of::<u64>()
}

/// Number of records that fit into `area`, rounded down to a power of two.
fn fitting<const WORDS: usize>(area: &Area<'_>, layout: &Layout) -> Result<u64, Error> {
    let room = area
        .len()
        .checked_sub(layout.records)
        .ok_or(Error::TooSmall)?;
    let records = room
        .checked_div(WORDS * size_of::<u64>())
        .ok_or(Error::TooSmall)?;
    power_of_two_within(records).ok_or(Error::TooSmall)
}

/// Writer of a journal.
#[derive(Debug)]
pub struct Writer<'a, T, const WORDS: usize> {
    area: Area<'a>,
    layout: Layout,
    capacity: u64,
    head: u64,
    records: PhantomData<fn(T)>,
}

impl<'a, T: Record<WORDS>, const WORDS: usize> Writer<'a, T, WORDS> {
    /// Initialises an empty journal, with records from `layout.records` to the end of `area`.
    pub fn create(area: Area<'a>, layout: Layout) -> Result<Self, Error> {
        let capacity = fitting::<WORDS>(&area, &layout)?;
        area.store(layout.head, 0, Ordering::Relaxed);
        area.store(layout.capacity, capacity, Ordering::Release);
        Ok(Self {
            area,
            layout,
            capacity,
            head: 0,
            records: PhantomData,
        })
    }

    /// Publishes one record, by a fixed number of stores and one barrier.
    #[inline]
    pub fn publish(&mut self, record: T) {
        // Orders the previous store of the head before the stores of the words. A reader that finds a
        // new word in an old slot then also finds that head, and knows that the slot is overwritten.
        fence(Ordering::Release);
        let start = slot::<WORDS>(&self.layout, self.capacity, self.head);
        for (index, word) in record.into().into_iter().enumerate() {
            self.area
                .store(start + index * size_of::<u64>(), word, Ordering::Relaxed);
        }
        self.head = self.head.wrapping_add(1);
        self.area
            .store(self.layout.head, self.head, Ordering::Release);
    }

    /// Number of published records.
    pub fn published(&self) -> u64 {
        self.head
    }
}

/// Result of reading the next record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<T> {
    /// The next record in order.
    Record(T),
    /// Number of records that were overwritten before they were read; the next call continues behind
    /// them.
    Missed(u64),
    /// No new record.
    Empty,
}

/// Reader of a journal.
#[derive(Debug)]
pub struct Reader<'a, T, const WORDS: usize> {
    area: Area<'a>,
    layout: Layout,
    capacity: u64,
    next: u64,
    records: PhantomData<fn() -> T>,
}

impl<'a, T: Record<WORDS>, const WORDS: usize> Reader<'a, T, WORDS> {
    /// Attaches to the journal in `area`, at its first record.
    ///
    /// The capacity follows from the size of the area; a header with another capacity is rejected.
    pub fn attach(area: Area<'a>, layout: Layout) -> Result<Self, Error> {
        let capacity = fitting::<WORDS>(&area, &layout)?;
        match area.load(layout.capacity, Ordering::Acquire) {
            0 => Err(Error::NoRing),
            stated if stated != capacity => Err(Error::Capacity),
            _ => Ok(Self {
                area,
                layout,
                capacity,
                next: 0,
                records: PhantomData,
            }),
        }
    }

    /// Reads the next record, if there is one.
    pub fn take(&mut self) -> Next<T> {
        let head = self.area.load(self.layout.head, Ordering::Acquire);
        if head == self.next {
            return Next::Empty;
        }
        if let Some(missed) = self.overtaken(head) {
            return missed;
        }
        let start = slot::<WORDS>(&self.layout, self.capacity, self.next);
        let words = core::array::from_fn(|index| {
            self.area
                .load(start + index * size_of::<u64>(), Ordering::Relaxed)
        });
        // Pairs with the barrier of the writer: if a word read above was already overwritten, the head
        // read below shows it.
        fence(Ordering::Acquire);
        if let Some(missed) = self.overtaken(self.area.load(self.layout.head, Ordering::Relaxed)) {
            return missed;
        }
        self.next = self.next.wrapping_add(1);
        Next::Record(T::from(words))
    }

    /// Skips overwritten records if the head is the capacity or more ahead: then the slot of `next` is
    /// being written.
    fn overtaken(&mut self, head: u64) -> Option<Next<T>> {
        let ahead = head.wrapping_sub(self.next);
        if ahead < self.capacity {
            return None;
        }
        let missed = (ahead - self.capacity).wrapping_add(1);
        self.next = self.next.wrapping_add(missed);
        Some(Next::Missed(missed))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::area::AtomicU64;
    use proptest::prelude::*;

    const LAYOUT: Layout = Layout {
        capacity: 0,
        head: 8,
        records: 16,
    };
    type Pair = [u64; 2];

    fn memory() -> [AtomicU64; 2 + 8 * 2] {
        [const { AtomicU64::new(0) }; 18]
    }

    #[test]
    fn an_empty_or_foreign_area_is_refused() {
        let memory = memory();
        let area = Area::new(&memory);
        assert_eq!(
            Reader::<Pair, 2>::attach(area, LAYOUT).unwrap_err(),
            Error::NoRing
        );
        area.store(0, 4, Ordering::Relaxed);
        assert_eq!(
            Reader::<Pair, 2>::attach(area, LAYOUT).unwrap_err(),
            Error::Capacity
        );
        let header = area.part(0, 16).unwrap();
        assert_eq!(
            Writer::<Pair, 2>::create(header, LAYOUT).unwrap_err(),
            Error::TooSmall
        );
    }

    #[test]
    fn a_capacity_of_one_never_yields_a_torn_record() {
        let memory = memory();
        let area = Area::new(&memory).part(0, 32).unwrap();
        let mut writer = Writer::<Pair, 2>::create(area, LAYOUT).unwrap();
        let mut reader = Reader::<Pair, 2>::attach(area, LAYOUT).unwrap();
        writer.publish([1, 1]);
        assert_eq!(reader.take(), Next::Missed(1));
        assert_eq!(reader.take(), Next::Empty);
    }

    proptest! {
        #[test]
        fn every_record_is_read_or_counted_as_missed(
            bursts in prop::collection::vec((0u64..20, 0usize..20), 1..40),
        ) {
            let memory = memory();
            let area = Area::new(&memory);
            let mut writer = Writer::<Pair, 2>::create(area, LAYOUT).unwrap();
            let mut reader = Reader::<Pair, 2>::attach(area, LAYOUT).unwrap();
            let mut seen = 0;
            for (writes, reads) in bursts {
                for _ in 0..writes {
                    let value = writer.published();
                    writer.publish([value, !value]);
                }
                for _ in 0..reads {
                    match reader.take() {
                        Next::Record(pair) => {
                            prop_assert_eq!(pair, [seen, !seen]);
                            seen += 1;
                        }
                        Next::Missed(count) => seen += count,
                        Next::Empty => prop_assert_eq!(seen, writer.published()),
                    }
                }
            }
        }

        #[test]
        fn a_lying_peer_cannot_harm(lies in prop::collection::vec((0usize..18, any::<u64>()), 1..60)) {
            let memory = memory();
            let area = Area::new(&memory);
            let mut writer = Writer::<Pair, 2>::create(area, LAYOUT).unwrap();
            let mut reader = Reader::<Pair, 2>::attach(area, LAYOUT).unwrap();
            for (word, value) in lies {
                area.store(word * 8, value, Ordering::Relaxed);
                writer.publish([value, value]);
                let _ = reader.take();
            }
        }
    }
}
