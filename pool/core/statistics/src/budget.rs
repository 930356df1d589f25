//! Counters of a budget: how much of it was used in each period.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The use of one budget, one cache line. Times are in ticks of the writer's counter.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct BudgetCounters {
    /// Execution time per period; 0 if there is no budget.
    pub budget: u64,
    /// Time between two replenishments.
    pub period: u64,
    /// Number of periods that have ended in which the whole budget was used.
    pub exhausted: u64,
    /// Number of the others that have ended.
    pub partial: u64,
    /// Part of the budget that was used in all of these others.
    pub used: u64,
    /// Part of the budget that was used in the one of these others with the most.
    pub used_most: u64,
    reserved: [u64; 2],
}

const WORDS: usize = size_of::<BudgetCounters>() / 8;

// Indices of the words.
const BUDGET: usize = 0;
const PERIOD: usize = 1;
const EXHAUSTED: usize = 2;
const PARTIAL: usize = 3;
const USED: usize = 4;
const USED_MOST: usize = 5;

/// Writer of the counters of one budget.
///
/// ```
/// use core::sync::atomic::AtomicU64;
/// use core_statistics::BudgetCount;
///
/// let memory = [const { AtomicU64::new(0) }; 8];
/// let count = BudgetCount::new(&memory);
/// count.begin(2_000, 10_000);
/// count.add(1, 2_000);
/// count.add(3, 500);
/// let counters = count.snapshot();
/// assert_eq!((counters.exhausted, counters.partial), (1, 3));
/// assert_eq!((counters.used, counters.used_most), (1_500, 500));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BudgetCount<'a>(&'a [AtomicU64; WORDS]);

impl<'a> BudgetCount<'a> {
    /// Counters in this memory.
    #[must_use]
    #[inline]
    pub const fn new(words: &'a [AtomicU64; WORDS]) -> Self {
        Self(words)
    }

    /// Starts to count the use of a budget, or states that there is none if it is 0.
    #[inline]
    pub fn begin(&self, budget: u64, period: u64) {
        self.0.iter().for_each(|word| word.store(0, Relaxed));
        self.store(PERIOD, period);
        self.store(BUDGET, budget);
    }

    /// Counts periods that ended, in each of which so much of the budget was used. An exhausted
    /// budget takes one counter.
    #[inline(always)]
    pub fn add(&self, periods: u64, used: u64) {
        if used >= self.load(BUDGET) {
            return self.increase(EXHAUSTED, periods);
        }
        self.increase(PARTIAL, periods);
        self.increase(USED, periods.wrapping_mul(used));
        self.store(USED_MOST, self.load(USED_MOST).max(used));
    }

    /// The counters so far.
    #[must_use]
    #[inline]
    pub fn snapshot(&self) -> BudgetCounters {
        BudgetCounters {
            budget: self.load(BUDGET),
            period: self.load(PERIOD),
            exhausted: self.load(EXHAUSTED),
            partial: self.load(PARTIAL),
            used: self.load(USED),
            used_most: self.load(USED_MOST),
            reserved: [0; 2],
        }
    }

    #[inline(always)]
    fn increase(&self, word: usize, more: u64) {
        self.store(word, self.load(word).wrapping_add(more));
    }

    #[inline(always)]
    fn load(&self, word: usize) -> u64 {
        self.0.get(word).map_or(0, |word| word.load(Relaxed))
    }

    #[inline(always)]
    fn store(&self, word: usize, value: u64) {
        if let Some(word) = self.0.get(word) {
            word.store(value, Relaxed);
        }
    }
}
