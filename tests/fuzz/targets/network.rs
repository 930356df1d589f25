//! Received Ethernet frames: the protocols of the network stack.
#![cfg_attr(fuzzing, no_main)]

#[macro_use]
mod any;

use std::cell::RefCell;
use std::collections::VecDeque;
use tenon_inet::{FRAME, Place, Port, Settings, SmallMemory, SmallTables, Stack};

/// A card that receives the input.
#[derive(Default)]
struct Card(VecDeque<Vec<u8>>);

impl Port for Card {
    fn mac(&self) -> [u8; 6] {
        [2, 0, 0, 0, 0, 1]
    }
    fn receive(&mut self, frame: &mut [u8; FRAME]) -> Option<usize> {
        let next = self.0.pop_front()?;
        let length = next.len().min(FRAME);
        frame[..length].copy_from_slice(&next[..length]);
        Some(length)
    }
    fn can_transmit(&mut self) -> bool {
        true
    }
    fn transmit(&mut self, frame: &[u8]) -> bool {
        assert!(frame.len() <= FRAME, "a frame that no card transmits");
        true
    }
    fn frames(&self) -> [u64; 3] {
        [0; 3]
    }
}

fn stack(address: &str) -> Stack<Card> {
    let memory: &SmallMemory = Box::leak(Box::default());
    let tables: &SmallTables = Box::leak(Box::default());
    let memory = (memory, tables).take().expect("no stack has this memory");
    Stack::new(Card::default(), &Settings::new(address, ""), 0, memory)
}

thread_local! {
    // One with an address, one that asks for it; both process all inputs, as their memory is
    // static.
    static STACKS: RefCell<([Stack<Card>; 2], u64)> =
        RefCell::new(([stack("10.0.0.1/24"), stack("")], 0));
}

/// What most frames begin with: to the card, or to all, with a protocol that it has.
const BEGINS: [&[u8]; 4] = [
    &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0, 0x45, 0],
    &[
        2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 6, 0, 1, 8, 0, 6, 4, 0,
    ],
    &[
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 9, 8, 0, 0x45, 0,
    ],
    &[],
];

target!(|frames: Vec<(u8, Vec<u8>)>| {
    STACKS.with_borrow_mut(|(stacks, now_ns)| {
        for (kind, rest) in &frames {
            *now_ns += u64::from(*kind) << 20;
            for stack in &mut *stacks {
                let frame = [BEGINS[usize::from(kind % 4)], rest].concat();
                stack.port().0.push_back(frame);
                assert!(stack.step(*now_ns) || stack.port().0.is_empty());
            }
        }
    });
});
