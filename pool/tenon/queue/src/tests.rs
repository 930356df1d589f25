//! Tests of queues against a reference model, without blocking, which is tested on the target.

extern crate std;

use crate::{Error, Queue, Received, Reservation};
use proptest::prelude::*;
use std::boxed::Box;
use std::collections::VecDeque;
use std::string::{String, ToString};
use std::sync::Arc;
use std::vec::Vec;

const CAPACITY: usize = 4;

#[derive(Clone, Debug)]
enum Operation {
    Put(u16),
    Get,
    Reserve,
    /// Uses the reservation of this index.
    Send(usize, u16),
    Cancel(usize),
    Receive,
    /// Returns the borrowed slot of this index.
    Return(usize),
}

fn operation() -> impl Strategy<Value = Operation> {
    let place = 0..CAPACITY;
    prop_oneof![
        any::<u16>().prop_map(Operation::Put),
        Just(Operation::Get),
        Just(Operation::Reserve),
        (place.clone(), any::<u16>()).prop_map(|(place, value)| Operation::Send(place, value)),
        place.clone().prop_map(Operation::Cancel),
        Just(Operation::Receive),
        place.prop_map(Operation::Return),
    ]
}

proptest! {
    #[test]
    fn first_in_first_out_whatever_order_slots_come_back_in(
        operations in prop::collection::vec(operation(), 0..80),
    ) {
        let queue: &'static Queue<String, CAPACITY> = Box::leak(Box::new(Queue::new()));
        let mut model: VecDeque<String> = VecDeque::new();
        let mut reserved: Vec<Reservation<String>> = Vec::new();
        let mut received: Vec<(Received<String>, String)> = Vec::new();
        for operation in operations {
            let room = model.len() + reserved.len() + received.len() < CAPACITY;
            match operation {
                Operation::Put(value) => {
                    let expected = if room { Ok(()) } else { Err(Error::Full) };
                    prop_assert_eq!(queue.try_put(value.to_string()), expected);
                    if room {
                        model.push_back(value.to_string());
                    }
                }
                Operation::Get => {
                    prop_assert_eq!(queue.try_get(), model.pop_front().ok_or(Error::Empty));
                }
                Operation::Reserve => match queue.try_reserve() {
                    Ok(slot) => {
                        prop_assert!(room);
                        reserved.push(slot);
                    }
                    Err(error) => prop_assert!(!room && error == Error::Full),
                },
                Operation::Send(place, value) if place < reserved.len() => {
                    reserved.remove(place).send(value.to_string());
                    model.push_back(value.to_string());
                }
                Operation::Cancel(place) if place < reserved.len() => drop(reserved.remove(place)),
                Operation::Receive => match queue.try_receive() {
                    Ok(slot) => {
                        let expected = model.pop_front();
                        prop_assert_eq!(Some(&*slot), expected.as_ref());
                        let message = slot.clone();
                        received.push((slot, message));
                    }
                    Err(error) => prop_assert!(model.is_empty() && error == Error::Empty),
                },
                Operation::Return(place) if place < received.len() => drop(received.remove(place)),
                _ => {}
            }
            for (slot, message) in &received {
                prop_assert_eq!(&**slot, message, "a borrowed message stays as it is");
            }
        }
    }
}

#[test]
fn a_message_is_dropped_once() {
    let message = Arc::new(());
    let queue: &'static Queue<Arc<()>, 2> = Box::leak(Box::new(Queue::new()));
    for _ in 0..3 {
        assert!(queue.try_put(message.clone()).is_ok());
        assert!(queue.try_put(message.clone()).is_ok());
        assert!(queue.try_put(message.clone()).is_err());
        assert_eq!(Arc::strong_count(&message), 3);
        drop(queue.try_get());
        drop(queue.try_receive());
        assert_eq!(Arc::strong_count(&message), 1);
    }
}
