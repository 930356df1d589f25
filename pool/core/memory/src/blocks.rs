//! Allocator of runs of equal memory blocks.

use crate::PhysicalRange;

/// Maximum number of blocks: one bit each.
const MOST: u64 = u128::BITS as u64;

/// Memory in equal blocks, allocated and freed in contiguous runs. A run is freed as it was
/// allocated.
///
/// The search for a run examines all blocks at once: its steps grow with the logarithm of the
/// length of the run, not with the number of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    range: PhysicalRange,
    block: u64,
    /// The free blocks, one bit each, the lowest block first.
    free: u128,
    /// The blocks with content of unknown origin, one bit each.
    unscrubbed: u128,
}

impl Blocks {
    /// The memory of `range` in blocks of `block` bytes, all free and none scrubbed. None if the
    /// range does not consist of such blocks, or of more than 128.
    #[must_use]
    pub const fn new(range: PhysicalRange, block: u64) -> Option<Self> {
        if block == 0 || !range.is_aligned(block) || range.size() / block > MOST {
            return None;
        }
        let all = ones(range.size() / block);
        Some(Self {
            range,
            block,
            free: all,
            unscrubbed: all,
        })
    }

    /// The lowest run of free blocks of `bytes`, if there is one.
    #[must_use]
    pub const fn find(&self, bytes: u64) -> Option<PhysicalRange> {
        let count = bytes.div_ceil(self.block);
        if count == 0 || count > MOST {
            return None;
        }
        // Bit i of `starts`: the `length` blocks from i on are free.
        let (mut starts, mut length) = (self.free, 1);
        while length < count {
            let more = if length < count - length {
                length
            } else {
                count - length
            };
            starts &= starts >> more;
            length += more;
        }
        if starts == 0 {
            return None;
        }
        let first = starts.trailing_zeros();
        PhysicalRange::new(
            self.range.start() + first as u64 * self.block,
            count * self.block,
        )
    }

    /// Allocates a run. Returns false, without effect, if it is not a free run of these blocks.
    #[must_use]
    pub const fn take(&mut self, run: PhysicalRange) -> bool {
        let Some(blocks) = self.blocks(run) else {
            return false;
        };
        let free = self.free & blocks == blocks;
        if free {
            self.free &= !blocks;
        }
        free
    }

    /// Frees a run. Returns false, without effect, if it is not an allocated run of these blocks.
    #[must_use]
    pub const fn give_back(&mut self, run: PhysicalRange) -> bool {
        let Some(blocks) = self.blocks(run) else {
            return false;
        };
        let taken = self.free & blocks == 0;
        if taken {
            self.free |= blocks;
        }
        taken
    }

    /// Whether all blocks of a run were [scrubbed](Self::note_scrubbed).
    #[must_use]
    pub const fn is_scrubbed(&self, run: PhysicalRange) -> bool {
        matches!(self.blocks(run), Some(blocks) if self.unscrubbed & blocks == 0)
    }

    /// Notes that a run was filled with zeros.
    pub const fn note_scrubbed(&mut self, run: PhysicalRange) {
        if let Some(blocks) = self.blocks(run) {
            self.unscrubbed &= !blocks;
        }
    }

    /// The blocks of a run, one bit each; none if it does not consist of these blocks.
    const fn blocks(&self, run: PhysicalRange) -> Option<u128> {
        if !self.range.contains(&run) || !run.is_aligned(self.block) {
            return None;
        }
        let first = (run.start() - self.range.start()) / self.block;
        Some(ones(run.size() / self.block) << first)
    }

    /// The number of free bytes.
    #[must_use]
    pub const fn available(&self) -> u64 {
        self.free.count_ones() as u64 * self.block
    }

    /// The whole memory, free or not.
    #[must_use]
    pub const fn range(&self) -> PhysicalRange {
        self.range
    }
}

/// The lowest `count` bits.
const fn ones(count: u64) -> u128 {
    match count {
        0 => 0,
        MOST.. => u128::MAX,
        _ => (1 << count) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BLOCK: u64 = 0x20_0000;
    const START: u64 = 0x6000_0000;

    fn stock(blocks: u64) -> Blocks {
        Blocks::new(PhysicalRange::new(START, blocks * BLOCK).unwrap(), BLOCK).unwrap()
    }

    /// Allocates the lowest run of free blocks of `bytes`.
    fn take(stock: &mut Blocks, bytes: u64) -> Option<PhysicalRange> {
        stock.find(bytes).filter(|run| stock.take(*run))
    }

    #[test]
    fn only_whole_blocks_make_a_stock() {
        let of = |start, size, block| Blocks::new(PhysicalRange::new(start, size).unwrap(), block);
        assert!(of(START, 128 * BLOCK, BLOCK).is_some());
        assert!(of(START, 129 * BLOCK, BLOCK).is_none(), "more than bits");
        assert!(of(START + 0x1000, BLOCK, BLOCK).is_none());
        assert!(of(START, BLOCK / 2, BLOCK).is_none());
        assert!(of(START, BLOCK, 0).is_none());
    }

    #[test]
    fn the_whole_stock_is_one_run() {
        let mut stock = stock(128);
        let all = take(&mut stock, 128 * BLOCK).unwrap();
        assert_eq!((all, stock.available()), (stock.range(), 0));
        assert_eq!(take(&mut stock, 1), None);
        assert!(stock.give_back(all));
        assert_eq!(stock.available(), 128 * BLOCK);
    }

    #[test]
    fn what_is_not_free_is_not_taken() {
        let mut stock = stock(4);
        let run = stock.find(2 * BLOCK).unwrap();
        assert!(stock.take(run) && !stock.take(run), "once");
        let range = |start, blocks| PhysicalRange::new(start, blocks * BLOCK).unwrap();
        assert!(!stock.take(range(START + BLOCK, 2)), "one of them is taken");
        assert!(!stock.take(range(START + 3 * BLOCK, 2)), "not its own");
        assert_eq!(stock.available(), 2 * BLOCK);
    }

    #[test]
    fn what_was_not_taken_does_not_come_back() {
        let mut stock = stock(4);
        let run = take(&mut stock, BLOCK + 1).unwrap();
        assert_eq!(run.size(), 2 * BLOCK, "whole blocks");
        let range = |start, blocks| PhysicalRange::new(start, blocks * BLOCK).unwrap();
        assert!(!stock.give_back(range(START, 3)), "one of them is free");
        assert!(!stock.give_back(range(START + 4 * BLOCK, 1)), "not its own");
        assert!(!stock.give_back(PhysicalRange::new(START, 0x1000).unwrap()));
        assert!(stock.give_back(run) && !stock.give_back(run), "once");
    }

    #[test]
    fn a_run_is_scrubbed_when_all_its_blocks_are() {
        let mut stock = stock(4);
        let range = |start, blocks| PhysicalRange::new(start, blocks * BLOCK).unwrap();
        assert!(
            !stock.is_scrubbed(range(START, 1)),
            "what it has at first is unknown"
        );
        stock.note_scrubbed(range(START + BLOCK, 2));
        assert!(stock.is_scrubbed(range(START + BLOCK, 2)));
        assert!(!stock.is_scrubbed(range(START, 2)));
        assert!(!stock.is_scrubbed(range(START + 2 * BLOCK, 2)));
        let run = take(&mut stock, 3 * BLOCK).unwrap();
        assert!(
            stock.give_back(run) && !stock.is_scrubbed(run),
            "only zeros count"
        );
    }

    proptest! {
        #[test]
        fn runs_are_the_lowest_that_are_free(
            size in 1u64..=128, steps in prop::collection::vec((any::<bool>(), 0u64..40), 1..200),
        ) {
            let mut stock = stock(size);
            let mut model = vec![false; size as usize];
            let mut held: Vec<PhysicalRange> = Vec::new();
            let index = |at: u64| ((at - START) / BLOCK) as usize;
            for (takes, number) in steps {
                if takes {
                    let count = number as usize;
                    let expected = (count > 0)
                        .then(|| model.windows(count).position(|run| !run.contains(&true)))
                        .flatten();
                    let run = take(&mut stock, number * BLOCK);
                    prop_assert_eq!(run.map(|run| index(run.start())), expected);
                    if let Some(run) = run {
                        model[index(run.start())..index(run.end())].fill(true);
                        held.push(run);
                    }
                } else if !held.is_empty() {
                    let run = held.swap_remove(number as usize % held.len());
                    model[index(run.start())..index(run.end())].fill(false);
                    prop_assert!(stock.give_back(run));
                }
                let free = model.iter().filter(|taken| !**taken).count() as u64;
                prop_assert_eq!(stock.available(), free * BLOCK);
            }
        }
    }
}
