//! Exhaustive checks of both rings over the orders the memory model allows.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test --release -p core-ring`.

use crate::area::AtomicU64;
use crate::journal::{self, Layout, Next};
use crate::{Area, stream};
use loom::thread;

const JOURNAL: Layout = Layout {
    capacity: 0,
    head: 8,
    records: 16,
};

/// Shared words that live as long as the model's threads need them.
fn memory(words: usize) -> Area<'static> {
    let memory: Vec<AtomicU64> = (0..words).map(|_| AtomicU64::new(0)).collect();
    Area::new(Box::leak(memory.into_boxed_slice()))
}

#[test]
fn a_stream_delivers_what_was_written() {
    loom::model(|| {
        let area = memory(0x100 / 8 + 1);
        let mut consumer = stream::Consumer::create(area, false).unwrap();
        let mut producer = stream::Producer::attach(area).unwrap();
        let writing = thread::spawn(move || producer.write(b"abcdef") + producer.write(b"ghijkl"));
        let mut text = Vec::new();
        for _ in 0..2 {
            let mut buffer = [0; 8];
            let length = consumer.read(&mut buffer);
            text.extend_from_slice(&buffer[..length]);
        }
        let written = writing.join().unwrap();
        assert!(b"abcdefghijkl".starts_with(&text) && text.len() <= written);
    });
}

#[test]
fn a_journal_never_yields_a_torn_record() {
    loom::model(|| {
        let area = memory(2 + 2 * 2);
        let mut writer = journal::Writer::<[u64; 2], 2>::create(area, JOURNAL).unwrap();
        let mut reader = journal::Reader::<[u64; 2], 2>::attach(area, JOURNAL).unwrap();
        writer.publish([0, !0]);
        let writing = thread::spawn(move || {
            for value in 1..4u64 {
                writer.publish([value, !value]);
            }
        });
        let mut expected = 0;
        for _ in 0..2 {
            match reader.take() {
                Next::Record(record) => {
                    assert_eq!(record, [expected, !expected]);
                    expected += 1;
                }
                Next::Missed(count) => expected += count,
                Next::Empty => {}
            }
        }
        writing.join().unwrap();
    });
}
