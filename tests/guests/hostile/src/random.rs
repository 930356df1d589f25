//! Deterministic pseudo-random numbers.

/// Generator of 64-bit numbers: xorshift64* (Vigna, 2016).
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        // SplitMix64's increment and multiplier separate similar seeds.
        let mixed = seed
            .wrapping_add(0x9e37_79b9_7f4a_7c15)
            .wrapping_mul(0xbf58_476d_1ce4_e5b9);
        Self(mixed ^ mixed >> 31 | 1)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `limit`, which is not zero.
    pub const fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 16) % limit
    }

    /// One element of a non-empty slice.
    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_repeats_and_near_seeds_differ() {
        let three = |seed| {
            let mut random = Random::new(seed);
            [random.next(), random.next(), random.next()]
        };
        assert_eq!(three(7), three(7));
        assert_ne!(three(7), three(8));
        assert!(three(0).iter().all(|number| *number != 0));
    }

    #[test]
    fn below_reaches_all() {
        let mut random = Random::new(1);
        let seen = (0..200).fold(0u32, |seen, _| seen | 1 << random.below(10));
        assert_eq!(seen, 0x3ff);
    }
}
