//! Exhaustive checks of the rings over all orders that the memory model permits (loom).
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test --release -p core-ring`.

use crate::area::AtomicU64;
use crate::journal::{self, Layout, Next};
use crate::{Area, Error, message, stream};
use loom::thread;

const JOURNAL: Layout = Layout {
    capacity: 0,
    head: 8,
    records: 16,
};

/// Shared words that outlive the threads of the model.
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

/// Parts of a message queue of this shape.
fn queue(shape: message::Shape) -> message::Parts<'static> {
    message::Parts {
        producer: memory(shape.producer_bytes() / 8),
        consumer: memory(message::CONSUMER_BYTES / 8),
        status: memory(message::STATUS_BYTES / 8),
    }
}

/// Counting doorbell: a ring before the wait is not lost.
#[derive(Default)]
struct Bell(loom::sync::Mutex<bool>, loom::sync::Condvar);

impl Bell {
    fn answer(&self, doorbell: message::Doorbell) {
        if doorbell == message::Doorbell::Ring {
            *self.0.lock().unwrap() = true;
            self.1.notify_one();
        }
    }

    /// Without a doorbell this never returns, and the model reports it.
    fn wait(&self) {
        let mut rung = self.0.lock().unwrap();
        while !*rung {
            rung = self.1.wait(rung).unwrap();
        }
        *rung = false;
    }
}

#[test]
fn who_waits_for_a_message_or_for_room_is_rung() {
    loom::model(|| {
        let shape = message::Shape::new(1, 8).unwrap();
        let parts = queue(shape);
        let mut consumer = message::Consumer::attach(&parts, shape).unwrap();
        let mut producer = message::Producer::attach(&parts, shape).unwrap();
        let bells = loom::sync::Arc::new((Bell::default(), Bell::default()));
        let senders = bells.clone();
        let sending = thread::spawn(move || {
            for value in 1..3u64 {
                loop {
                    match producer.send(&value.to_le_bytes()) {
                        Ok(doorbell) => break senders.0.answer(doorbell),
                        Err(_) if producer.request_doorbell() => senders.1.wait(),
                        Err(_) => {}
                    }
                }
            }
        });
        for value in 1..3u64 {
            loop {
                let mut buffer = [0; 8];
                match consumer.receive_into(&mut buffer) {
                    Ok((8, doorbell)) => {
                        assert_eq!(u64::from_le_bytes(buffer), value);
                        break bells.1.answer(doorbell);
                    }
                    Ok(_) => panic!("a torn message"),
                    Err(_) if consumer.request_doorbell() => bells.0.wait(),
                    Err(_) => {}
                }
            }
        }
        sending.join().unwrap();
    });
}

#[test]
fn the_end_of_a_producer_is_seen_after_its_messages() {
    loom::model(|| {
        let shape = message::Shape::new(1, 8).unwrap();
        let parts = queue(shape);
        let mut consumer = message::Consumer::attach(&parts, shape).unwrap();
        let mut producer = message::Producer::attach(&parts, shape).unwrap();
        let supervisor = message::Supervisor::attach(&parts, shape).unwrap();
        supervisor.connect(message::End::Producer);
        let sending = thread::spawn(move || {
            let _ = producer.send(&[7]);
            supervisor.disconnect(message::End::Producer);
        });
        let mut taken = 0;
        for _ in 0..2 {
            match consumer.receive_into(&mut [0]) {
                Ok(_) => taken += 1,
                Err(Error::PeerGone) => assert_eq!(taken, 1),
                Err(error) => assert_eq!(error, Error::Empty),
            }
        }
        sending.join().unwrap();
    });
}
