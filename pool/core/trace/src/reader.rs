//! Trace reader, concurrent with the writer on another core.

use crate::{RECORDS, Record, Ring};
use core::sync::atomic::Ordering;

/// Result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The next record in order.
    Record(Record),
    /// This number of records was overwritten before it was read; the next call continues after
    /// them.
    Missed(u64),
    /// No new record.
    Empty,
}

/// A reader of a ring.
#[derive(Debug)]
pub struct Reader<'a> {
    ring: &'a Ring,
    next: u64,
}

impl<'a> Reader<'a> {
    /// A reader that starts at the first record of `ring`.
    pub const fn new(ring: &'a Ring) -> Self {
        Self { ring, next: 0 }
    }

    /// Reads the next record, if there is one.
    pub fn take(&mut self) -> Next {
        let head = self.ring.head.load(Ordering::Acquire);
        if head == self.next {
            return Next::Empty;
        }
        let capacity = RECORDS as u64;
        let behind = head.wrapping_sub(self.next);
        if behind > capacity {
            return self.miss(behind - capacity);
        }
        let place = self.ring.records.get(self.next as usize % RECORDS);
        let words = place.map_or([0; 2], |[first, second]| {
            [
                first.load(Ordering::Relaxed),
                second.load(Ordering::Relaxed),
            ]
        });
        match Record::of(words, self.next / capacity) {
            Some(record) => {
                self.next = self.next.wrapping_add(1);
                Next::Record(record)
            }
            // It is being overwritten: the head will announce it later.
            None => self.miss(1),
        }
    }

    fn miss(&mut self, count: u64) -> Next {
        self.next = self.next.wrapping_add(count);
        Next::Missed(count)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{Event, NAMES, Writer};
    use proptest::prelude::*;
    use std::boxed::Box;

    fn ring() -> (&'static Ring, Writer) {
        let ring = Box::leak(Box::new(Ring::new()));
        let writer = Writer::new();
        writer.start(ring, 1, 62_500_000);
        (ring, writer)
    }

    proptest! {
        #[test]
        fn every_record_is_read_or_counted_as_missed(
            bursts in prop::collection::vec((0..3 * RECORDS as u64, 0..2 * RECORDS), 1..8),
        ) {
            let (ring, writer) = ring();
            let mut reader = Reader::new(ring);
            let (mut written, mut seen) = (0u64, 0u64);
            for (writes, reads) in bursts {
                for _ in 0..writes {
                    writer.record(written * 3, Event::Ready, !written);
                    written += 1;
                }
                for _ in 0..reads {
                    match reader.take() {
                        Next::Record(record) => {
                            prop_assert_eq!(record.time, seen * 3);
                            prop_assert_eq!(record.event, Some(Event::Ready));
                            prop_assert_eq!(record.subject, !seen & ((1 << 48) - 1));
                            seen += 1;
                        }
                        Next::Missed(count) => {
                            prop_assert!(seen + count <= written);
                            seen += count;
                        }
                        Next::Empty => prop_assert_eq!(seen, written),
                    }
                }
            }
        }
    }

    #[test]
    fn a_start_forgets_what_was() {
        let (ring, writer) = ring();
        writer.name(7, "seven");
        writer.record(1, Event::Run, 7);
        writer.start(ring, 0, 1);
        assert_eq!(Reader::new(ring).take(), Next::Empty);
        assert!(!std::format!("{ring:?}").contains("subject: 7"));
    }

    #[test]
    fn names_beyond_the_last_are_left_out() {
        let (ring, writer) = ring();
        for subject in 1..=NAMES as u64 + 3 {
            writer.name(subject, "a name that is much longer than its place");
        }
        writer.name(5, "five");
        let shown = std::format!("{ring:?}");
        assert!(shown.contains(&std::format!("subject: {NAMES},")));
        assert!(!shown.contains(&std::format!("subject: {},", NAMES + 1)));
        assert_eq!(shown.matches("subject: 5,").count(), 1);
    }
}
