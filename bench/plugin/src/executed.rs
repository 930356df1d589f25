//! Coverage: the set of executed instructions.
//!
//! One bit per instruction of the counted code, set at its first execution. Translation is not enough, as
//! an exception may leave a block early.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Size of an A64 instruction in bytes.
const INSTRUCTION: u64 = 4;

/// Coverage of the instructions of some ranges.
#[derive(Debug)]
pub struct Executed {
    ranges: Vec<(Range<u64>, Vec<AtomicU64>)>,
}

impl Executed {
    /// Coverage with no executed instruction.
    pub fn new(ranges: &[Range<u64>]) -> Self {
        let none = |range: &Range<u64>| {
            let instructions = (range.end - range.start).div_ceil(INSTRUCTION);
            let words = (0..instructions.div_ceil(64)).map(|_| AtomicU64::new(0));
            (range.clone(), words.collect())
        };
        Self {
            ranges: ranges.iter().map(none).collect(),
        }
    }

    /// Records an execution of the instruction at `address`; returns whether it is the first.
    pub fn first(&self, address: u64) -> bool {
        let within = |(range, _): &&(Range<u64>, _)| range.contains(&address);
        let Some((range, words)) = self.ranges.iter().find(within) else {
            return false;
        };
        let instruction = (address - range.start) / INSTRUCTION;
        let (word, bit) = (&words[(instruction / 64) as usize], 1 << (instruction % 64));
        // Reads first: a write would take the cache line from other cores, and is needed only once.
        word.load(Relaxed) & bit == 0 && word.fetch_or(bit, Relaxed) & bit == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_instruction_is_executed_first_once() {
        let executed = Executed::new(&[0x1000..0x1404, 0x8000..0x8004]);
        let all: Vec<u64> = (0x1000..0x1404).step_by(4).chain([0x8000]).collect();
        assert!(all.iter().all(|&address| executed.first(address)));
        assert!(!all.iter().any(|&address| executed.first(address)));
    }

    #[test]
    fn what_is_not_counted_is_never_first() {
        let executed = Executed::new(&[0x1000..0x1100, 0x1200..0x1204]);
        assert_eq!([0xffc, 0x1100].map(|at| executed.first(at)), [false; 2]);
    }
}
