//! Exhaustive model of the trace ring over all orders that the memory model permits.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test --release -p core-trace`.

use crate::{Event, Next, RECORDS, Reader, Ring, Writer};
use loom::thread;

#[test]
fn a_record_is_whole_or_missed() {
    loom::model(|| {
        let ring: &'static Ring = Box::leak(Box::new(Ring::new()));
        let writer = Writer::new();
        writer.start(ring, 0, 1);
        let writing = thread::spawn(move || {
            for number in 0..RECORDS as u64 + 2 {
                writer.record(number, Event::Run, !number & 0xff);
            }
        });
        let mut reader = Reader::new(ring);
        let mut seen = 0;
        for _ in 0..3 {
            match reader.take() {
                Next::Record(record) => {
                    assert_eq!((record.time, record.subject), (seen, !seen & 0xff));
                    seen += 1;
                }
                Next::Missed(count) => seen += count,
                Next::Empty => {}
            }
        }
        writing.join().unwrap();
        assert!(seen <= RECORDS as u64 + 2);
    });
}
