//! Tests of [`Producer`], [`Consumer`] and [`Supervisor`] against a model, with faulty and restarted peers.

use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;

const SLOTS_HERE: u32 = 4;
const SIZE_HERE: u32 = 13;

struct Memory {
    producer: Vec<AtomicU64>,
    consumer: Vec<AtomicU64>,
    status: Vec<AtomicU64>,
    shape: Shape,
}

fn words(bytes: usize) -> Vec<AtomicU64> {
    (0..bytes / WORD).map(|_| AtomicU64::new(0)).collect()
}

impl Memory {
    fn new(slots: u32, size: u32) -> Self {
        let shape = Shape::new(slots, size).unwrap();
        Self {
            producer: words(shape.producer_bytes()),
            consumer: words(CONSUMER_BYTES),
            status: words(STATUS_BYTES),
            shape,
        }
    }

    fn small() -> Self {
        Self::new(SLOTS_HERE, SIZE_HERE)
    }

    fn parts(&self) -> Parts<'_> {
        Parts {
            producer: Area::new(&self.producer),
            consumer: Area::new(&self.consumer),
            status: Area::new(&self.status),
        }
    }

    fn producer(&self) -> Producer<'_> {
        Producer::attach(&self.parts(), self.shape).unwrap()
    }

    fn consumer(&self) -> Consumer<'_> {
        Consumer::attach(&self.parts(), self.shape).unwrap()
    }

    fn supervisor(&self) -> Supervisor<'_> {
        Supervisor::attach(&self.parts(), self.shape).unwrap()
    }
}

fn receive(consumer: &mut Consumer<'_>) -> Result<Vec<u8>, Error> {
    let mut buffer = [0; SIZE_HERE as usize];
    let (length, _) = consumer.receive_into(&mut buffer)?;
    Ok(buffer[..length].to_vec())
}

#[test]
fn shapes_that_no_ring_has_are_refused() {
    for (slots, size) in [
        (0, 8),
        (3, 8),
        (MAX_SLOTS * 2, 8),
        (4, 0),
        (4, MAX_SIZE + 1),
    ] {
        assert_eq!(Shape::new(slots, size), Err(Error::Capacity));
    }
    let memory = Memory::small();
    let larger = Shape::new(SLOTS_HERE * 2, SIZE_HERE).unwrap();
    let refused = Producer::attach(&memory.parts(), larger).map(|_| ());
    assert_eq!(refused, Err(Error::TooSmall));
}

#[test]
fn the_layout_is_the_documented_one() {
    let memory = Memory::small();
    let _ = memory.producer().send(b"0123456789abc").unwrap();
    let mut consumer = memory.consumer();
    let part = memory.parts().producer;
    assert_eq!(part.load(0, Ordering::Relaxed), 1);
    assert_eq!(part.load(0x40, Ordering::Relaxed), 13);
    assert_eq!(
        part.load(0x48, Ordering::Relaxed),
        u64::from_le_bytes(*b"01234567")
    );
    assert_eq!(memory.shape.producer_bytes(), 0x40 + 4 * 24);
    assert_eq!(receive(&mut consumer), Ok(b"0123456789abc".to_vec()));
    assert_eq!(memory.parts().consumer.load(0, Ordering::Relaxed), 1);
}

#[test]
fn a_doorbell_rings_once_for_each_wait() {
    let memory = Memory::small();
    let (mut producer, mut consumer) = (memory.producer(), memory.consumer());
    assert_eq!(producer.send(b"unawaited"), Ok(Doorbell::Quiet));
    assert!(!consumer.request_doorbell(), "there is one");
    assert_eq!(receive(&mut consumer), Ok(b"unawaited".to_vec()));
    let before = memory.supervisor().wake(End::Consumer);
    assert!(consumer.request_doorbell());
    assert_ne!(memory.supervisor().wake(End::Consumer), before);
    assert_eq!(producer.send(b"awaited"), Ok(Doorbell::Ring));
    assert_eq!(producer.send(b"more"), Ok(Doorbell::Quiet));
    // A second wait for the same message has another wake word than the first.
    let before = memory.supervisor().wake(End::Consumer);
    assert!(!consumer.request_doorbell());
    assert_ne!(memory.supervisor().wake(End::Consumer), before);
}

#[test]
fn a_producer_waits_for_room() {
    let memory = Memory::small();
    let (mut producer, mut consumer) = (memory.producer(), memory.consumer());
    for number in 0..SLOTS_HERE as u8 {
        assert_eq!(producer.send(&[number]), Ok(Doorbell::Quiet));
    }
    assert_eq!(producer.send(&[9]), Err(Error::Full));
    assert!(producer.request_doorbell());
    let mut byte = [0];
    assert_eq!(consumer.receive_into(&mut byte), Ok((1, Doorbell::Ring)));
    assert!(!producer.request_doorbell());
    assert_eq!(consumer.receive_into(&mut byte), Ok((1, Doorbell::Quiet)));
    assert_eq!(producer.send(&[9]), Ok(Doorbell::Quiet));
    assert_eq!(
        producer.send(&[0; SIZE_HERE as usize + 1]),
        Err(Error::TooLong)
    );
}

#[test]
fn a_message_looked_at_stays_and_a_slot_let_go_too() {
    let memory = Memory::small();
    let (mut producer, mut consumer) = (memory.producer(), memory.consumer());
    assert!(producer.reserve().is_ok());
    assert_eq!(consumer.receive().map(|_| ()), Err(Error::Empty));
    let slot = producer.reserve().unwrap();
    slot.bytes().fill(b"in place");
    assert_eq!(slot.send(8), Doorbell::Quiet);
    for _ in 0..2 {
        let message = consumer.receive().unwrap();
        assert_eq!((message.len(), message.is_empty()), (8, false));
        assert_eq!(
            message.bytes().load(0, Ordering::Relaxed),
            u64::from_le_bytes(*b"in place")
        );
    }
    assert_eq!(receive(&mut consumer), Ok(b"in place".to_vec()));
    assert_eq!(receive(&mut consumer), Err(Error::Empty));
}

#[test]
fn a_consumer_learns_of_the_end_after_the_last_message_and_once() {
    let memory = Memory::small();
    let supervisor = memory.supervisor();
    let mut consumer = memory.consumer();
    assert!(supervisor.connect(End::Producer) && !supervisor.connect(End::Producer));
    let _ = memory.producer().send(b"last").unwrap();
    assert!(supervisor.disconnect(End::Producer) && !supervisor.disconnect(End::Producer));
    assert!(!consumer.request_doorbell() && !consumer.is_connected());
    assert_eq!(receive(&mut consumer), Ok(b"last".to_vec()));
    assert_eq!(receive(&mut consumer), Err(Error::PeerGone));
    assert_eq!(receive(&mut consumer), Err(Error::Empty));
    assert!(supervisor.connect(End::Producer));
    assert_eq!(
        receive(&mut consumer),
        Err(Error::Empty),
        "one that comes is no matter"
    );
    let _ = memory.producer().send(b"anew").unwrap();
    assert_eq!(receive(&mut consumer), Ok(b"anew".to_vec()));
    assert_eq!(supervisor.lost(), 0);
}

#[test]
fn what_a_consumer_leaves_is_lost_and_the_rest_is_the_next_ones() {
    let memory = Memory::small();
    let supervisor = memory.supervisor();
    let mut producer = memory.producer();
    let _ = producer.send(b"early").unwrap();
    assert!(supervisor.connect(End::Consumer));
    let _ = producer.send(b"second").unwrap();
    let _ = producer.send(b"third").unwrap();
    assert_eq!(receive(&mut memory.consumer()), Ok(b"early".to_vec()));
    assert!(supervisor.disconnect(End::Consumer));
    assert_eq!(supervisor.lost(), 2);
    assert_eq!(producer.send(b"refused"), Err(Error::PeerGone));
    let _ = producer.send(b"fourth").unwrap();
    assert!(supervisor.connect(End::Consumer));
    assert_eq!(receive(&mut memory.consumer()), Ok(b"fourth".to_vec()));
    // A peer that restarted between two polls is reported too.
    assert!(supervisor.disconnect(End::Consumer) && supervisor.connect(End::Consumer));
    assert_eq!(producer.send(b"refused"), Err(Error::PeerGone));
    assert_eq!(producer.send(b"fifth"), Ok(Doorbell::Quiet));
    assert_eq!(supervisor.lost(), 2);
}

#[test]
fn a_full_channel_whose_ends_both_go_is_counted_once() {
    let memory = Memory::small();
    let supervisor = memory.supervisor();
    let mut producer = memory.producer();
    assert!(supervisor.connect(End::Producer) && supervisor.connect(End::Consumer));
    while producer.send(b"x").is_ok() {}
    assert!(supervisor.disconnect(End::Producer) && supervisor.disconnect(End::Consumer));
    assert_eq!(supervisor.lost(), SLOTS_HERE.into());
    assert!(supervisor.connect(End::Consumer) && supervisor.disconnect(End::Consumer));
    assert_eq!(supervisor.lost(), SLOTS_HERE.into());
}

#[derive(Clone, Debug)]
enum Step {
    Send(Vec<u8>),
    Receive,
    Restart(bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..=SIZE_HERE as usize).prop_map(Step::Send),
        4 => Just(Step::Receive),
        1 => any::<bool>().prop_map(Step::Restart),
    ]
}

proptest! {
    #[test]
    fn what_was_sent_comes_once_and_in_order(steps in prop::collection::vec(step(), 1..80)) {
        let memory = Memory::small();
        let supervisor = memory.supervisor();
        let (mut producer, mut consumer) = (memory.producer(), memory.consumer());
        supervisor.connect(End::Producer);
        supervisor.connect(End::Consumer);
        // Both ends poll, so that each knows the epoch of the other.
        prop_assert!(producer.reserve().is_ok());
        prop_assert_eq!(receive(&mut consumer), Err(Error::Empty));
        let (mut model, mut lost) = (VecDeque::new(), 0);
        for step in steps {
            match step {
                Step::Send(bytes) if model.len() == SLOTS_HERE as usize => {
                    prop_assert_eq!(producer.send(&bytes), Err(Error::Full));
                }
                Step::Send(bytes) => {
                    prop_assert!(producer.send(&bytes).is_ok());
                    model.push_back(bytes);
                }
                Step::Receive => {
                    prop_assert_eq!(receive(&mut consumer), model.pop_front().ok_or(Error::Empty));
                }
                Step::Restart(true) => {
                    supervisor.disconnect(End::Consumer);
                    supervisor.connect(End::Consumer);
                    lost += model.len() as u64;
                    model.clear();
                    consumer = memory.consumer();
                    prop_assert_eq!(producer.reserve().map(|_| ()), Err(Error::PeerGone));
                }
                Step::Restart(false) => {
                    supervisor.disconnect(End::Producer);
                    supervisor.connect(End::Producer);
                    producer = memory.producer();
                    while let Some(message) = model.pop_front() {
                        prop_assert_eq!(receive(&mut consumer), Ok(message));
                    }
                    prop_assert_eq!(receive(&mut consumer), Err(Error::PeerGone));
                }
            }
        }
        prop_assert_eq!(supervisor.lost(), lost);
    }

    /// Each step writes an arbitrary word into one part, as its owner could. The other end stays within
    /// bounds, and continues once the index is valid again.
    #[test]
    fn a_lying_peer_is_met_within_bounds(
        lies in prop::collection::vec((any::<bool>(), 0usize..20, prop_oneof![
            any::<u64>(), 0u64..8, (0u64..8).prop_map(u64::wrapping_neg),
        ]), 1..60),
    ) {
        let memory = Memory::small();
        let (mut producer, mut consumer) = (memory.producer(), memory.consumer());
        for (of_producer, word, value) in lies {
            let parts = memory.parts();
            let part = if of_producer { parts.producer } else { parts.consumer };
            part.store(word * WORD, value, Ordering::Relaxed);
            let _ = (producer.send(b"truth"), producer.request_doorbell());
            let mut buffer = [0; 64];
            if let Ok((length, _)) = consumer.receive_into(&mut buffer) {
                prop_assert!(length <= SIZE_HERE as usize);
            }
            let _ = consumer.request_doorbell();
            let _ = (memory.supervisor().connect(End::Consumer), memory.supervisor().disconnect(End::Consumer));
        }
        prop_assert!(memory.supervisor().lost() <= 60 * u64::from(SLOTS_HERE));
        // After a restart with a valid index, either end can use the queue.
        let mut producer = memory.producer();
        while receive(&mut consumer) != Err(Error::Empty) {}
        let sent = (0..3).find_map(|_| producer.send(b"honest").ok());
        prop_assert!(sent.is_some());
        prop_assert_eq!(receive(&mut consumer), Ok(b"honest".to_vec()));
    }
}

#[test]
fn two_threads_hand_over_every_message_sleeping_by_doorbells() {
    const MESSAGES: u64 = 20_000;
    let memory = Memory::new(8, 8);
    let (mut producer, mut consumer) = (memory.producer(), memory.consumer());
    std::thread::scope(|scope| {
        let receiver = std::thread::current();
        let (tell, told) = std::sync::mpsc::channel();
        let sender = scope.spawn(move || {
            let _ = tell.send(std::thread::current());
            for number in 0..MESSAGES {
                while let Err(error) = producer.send(&number.to_le_bytes()).map(|doorbell| {
                    if doorbell == Doorbell::Ring {
                        receiver.unpark();
                    }
                }) {
                    assert_eq!(error, Error::Full);
                    if producer.request_doorbell() {
                        std::thread::park();
                    }
                }
            }
        });
        let peer = told.recv().unwrap();
        let mut expected = 0u64;
        while expected < MESSAGES {
            let mut buffer = [0; 8];
            match consumer.receive_into(&mut buffer) {
                Ok((_, doorbell)) => {
                    assert_eq!(u64::from_le_bytes(buffer), expected);
                    expected += 1;
                    if doorbell == Doorbell::Ring {
                        peer.unpark();
                    }
                }
                Err(error) => {
                    assert_eq!(error, Error::Empty);
                    if consumer.request_doorbell() {
                        std::thread::park();
                    }
                }
            }
        }
        sender.join().unwrap();
    });
}

#[test]
fn the_largest_and_the_smallest_shape_are_accepted() {
    let largest = Shape::new(MAX_SLOTS, MAX_SIZE).unwrap();
    assert_eq!((largest.slots(), largest.size()), (1 << 16, 1 << 16));
    let smallest = Shape::new(1, 1).unwrap();
    assert_eq!((smallest.slots(), smallest.size()), (1, 1));
    assert_eq!(smallest.producer_bytes(), Shape::HEAD_BYTES + 16);
    let memory = Memory::new(1, 1);
    let (mut producer, mut consumer) = (memory.producer(), memory.consumer());
    assert_eq!(
        (producer.shape(), consumer.shape()),
        (smallest, memory.shape)
    );
    for byte in 0..3 {
        assert_eq!(producer.send(&[byte]), Ok(Doorbell::Quiet));
        assert_eq!(producer.send(&[byte]), Err(Error::Full));
        assert_eq!(receive(&mut consumer), Ok(vec![byte]));
    }
}

#[test]
fn both_ends_count_what_is_unread() {
    let memory = Memory::small();
    let (mut producer, mut consumer) = (memory.producer(), memory.consumer());
    for sent in 1..=SLOTS_HERE {
        let _ = producer.send(b"").unwrap();
        assert_eq!((producer.count(), consumer.count()), (sent, sent));
    }
    for left in (0..SLOTS_HERE).rev() {
        assert_eq!(receive(&mut consumer), Ok(vec![]));
        assert_eq!((producer.count(), consumer.count()), (left, left));
    }
    let parts = memory.parts();
    parts.producer.store(INDEX, 100, Ordering::Relaxed);
    parts.consumer.store(INDEX, 90, Ordering::Relaxed);
    let counts = (producer.count(), consumer.count());
    assert_eq!(counts, (SLOTS_HERE, SLOTS_HERE), "at most the capacity");
}

#[test]
fn each_end_sees_whether_the_other_is_connected() {
    let memory = Memory::small();
    let (producer, consumer, supervisor) =
        (memory.producer(), memory.consumer(), memory.supervisor());
    for epoch in [1, 3] {
        assert!(!producer.is_connected() && !consumer.is_connected());
        assert!(supervisor.connect(End::Consumer));
        assert!(producer.is_connected() && !consumer.is_connected());
        assert!(supervisor.connect(End::Producer));
        assert!(producer.is_connected() && consumer.is_connected());
        for end in [End::Producer, End::Consumer] {
            assert_eq!(supervisor.epoch(end), epoch);
            assert!(supervisor.disconnect(end));
            assert_eq!(
                supervisor.epoch(end.peer()) & 1,
                u64::from(end == End::Producer)
            );
        }
    }
}

#[test]
fn the_wake_word_has_the_index_below_the_number_of_waits() {
    let memory = Memory::small();
    let (mut producer, mut consumer) = (memory.producer(), memory.consumer());
    let supervisor = memory.supervisor();
    assert!(consumer.request_doorbell() && consumer.request_doorbell());
    assert_eq!(supervisor.wake(End::Consumer), 2 << 32 | 1);
    while producer.send(b"x").is_ok() {}
    assert!(producer.request_doorbell());
    assert_eq!(supervisor.wake(End::Producer), 1 << 32 | 1);
    let _ = receive(&mut consumer);
    assert!(!consumer.request_doorbell(), "more messages");
    assert_eq!(supervisor.wake(End::Consumer), 3 << 32 | 2);
    // On behalf of a consumer that is not there.
    assert!(supervisor.request_doorbell(), "there are messages");
    assert_eq!(supervisor.wake(End::Consumer), 4 << 32 | 2);
    while receive(&mut consumer).is_ok() {}
    assert!(!supervisor.request_doorbell());
    assert_eq!(supervisor.wake(End::Consumer), 5 << 32 | 5);
}

#[test]
fn no_end_waits_for_a_peer_that_came_or_went() {
    let memory = Memory::small();
    let (mut producer, mut consumer) = (memory.producer(), memory.consumer());
    let supervisor = memory.supervisor();
    while producer.send(b"x").is_ok() {}
    assert!(producer.request_doorbell());
    assert!(supervisor.connect(End::Consumer));
    assert!(!producer.request_doorbell());
    assert_eq!(producer.poll(), Err(Error::Full));
    assert!(producer.request_doorbell(), "the new epoch is known");
    while receive(&mut consumer).is_ok() {}
    assert!(!producer.request_doorbell(), "there is room");
    assert!(consumer.request_doorbell());
    assert!(supervisor.connect(End::Producer));
    assert!(!consumer.request_doorbell());
    assert_eq!(consumer.poll(), Err(Error::Empty));
    assert!(consumer.request_doorbell());
}

#[test]
fn an_index_out_of_bounds_is_reported_to_the_consumer_once() {
    let memory = Memory::small();
    let (mut producer, mut consumer) = (memory.producer(), memory.consumer());
    let _ = producer.send(b"discarded").unwrap();
    let parts = memory.parts();
    let beyond = u64::from(SLOTS_HERE) + 1;
    parts.producer.store(INDEX, beyond, Ordering::Relaxed);
    assert_eq!(consumer.poll(), Err(Error::Corrupt));
    assert_eq!(consumer.poll(), Err(Error::Empty));
    assert_eq!(parts.consumer.load(INDEX, Ordering::Relaxed), beyond);
    parts
        .producer
        .store(INDEX, beyond + u64::from(SLOTS_HERE), Ordering::Relaxed);
    assert_eq!(consumer.poll(), Ok(()), "a full queue");
}

#[test]
fn an_index_out_of_bounds_frees_no_slot_of_the_producer() {
    let memory = Memory::small();
    let mut producer = memory.producer();
    while producer.send(b"x").is_ok() {}
    let part = memory.parts().consumer;
    let head = u64::from(SLOTS_HERE);
    for tail in [head + 1, u64::MAX, head - u64::from(SLOTS_HERE)] {
        part.store(INDEX, tail, Ordering::Relaxed);
        assert_eq!(producer.poll(), Err(Error::Full), "{tail}");
    }
    part.store(INDEX, 1, Ordering::Relaxed);
    assert_eq!(producer.poll(), Ok(()));
    assert_eq!(producer.send(b"x"), Ok(Doorbell::Quiet));
    assert_eq!(producer.poll(), Err(Error::Full));
}

#[test]
fn a_message_may_be_empty_or_longer_than_the_buffer() {
    let memory = Memory::small();
    let (mut producer, mut consumer) = (memory.producer(), memory.consumer());
    let _ = producer.send(b"").unwrap();
    let _ = producer.send(b"0123456789").unwrap();
    let message = consumer.receive().unwrap();
    assert_eq!((message.len(), message.is_empty()), (0, true));
    let _ = message.done();
    let mut buffer = *b"abcde";
    let message = consumer.receive().unwrap();
    assert_eq!((message.len(), message.is_empty()), (10, false));
    assert_eq!(message.copy(&mut buffer[..3]), 10);
    assert_eq!(buffer, *b"012de");
}
