//! [`Generator`]: a key, and what it was expanded to.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use core::fmt;

/// Bytes of a key.
const KEY: usize = 32;
/// Bytes of the blocks that `chacha20` computes at a time.
const BLOCKS: usize = 256;
/// Bytes that an expansion has for output.
const OUTPUT: usize = BLOCKS - KEY;

/// A generator of random numbers.
pub struct Generator {
    key: [u8; KEY],
    /// Output that was not given out is in front, what was given out is zero.
    output: [u8; OUTPUT],
    /// Bytes of output that were not given out.
    left: usize,
    seeded: bool,
}

impl fmt::Debug for Generator {
    /// Keys are not written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.seeded { "seeded" } else { "unseeded" };
        write!(f, "{kind} generator")
    }
}

impl Generator {
    /// A generator without a seed: each has the same bytes.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            key: [0; KEY],
            output: [0; OUTPUT],
            left: 0,
            seeded: false,
        }
    }

    /// Whether it has a seed, so that its bytes are fit for keys.
    #[must_use]
    pub fn is_seeded(&self) -> bool {
        self.seeded
    }

    /// Adds 32 bytes that are secret.
    pub fn seed(&mut self, seed: &[u8; KEY]) {
        self.add(seed);
        self.seeded = true;
    }

    /// Adds bytes that may be known: they count as no seed.
    pub fn add(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(KEY) {
            for (key, byte) in self.key.iter_mut().zip(part) {
                *key ^= byte;
            }
            // The next part meets a key that does not follow from this one.
            self.expand();
        }
        // Output of the key before is not given out any more.
        self.output.fill(0);
        self.left = 0;
    }

    /// Fills a slice.
    pub fn fill(&mut self, mut to: &mut [u8]) {
        while !to.is_empty() {
            if self.left == 0 {
                self.expand();
            }
            let count = to.len().min(self.left);
            let (part, rest) = to.split_at_mut(count);
            let from = &mut self.output[self.left - count..self.left];
            part.copy_from_slice(from);
            from.fill(0);
            self.left -= count;
            to = rest;
        }
    }

    /// An array of random bytes.
    #[must_use]
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    /// Expands the key into the next one and new output.
    fn expand(&mut self) {
        let mut blocks = ChaCha20Rng::from_seed(self.key);
        blocks.fill_bytes(&mut self.key);
        blocks.fill_bytes(&mut self.output);
        self.left = OUTPUT;
    }
}

impl Default for Generator {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_blocks_are_those_of_the_standard() {
        // RFC 8439, A.1, test vectors 1 and 2: the key stream of a key of zeros.
        let mut generator = Generator::new();
        let mut output = [0; OUTPUT];
        generator.fill(&mut output);
        output.reverse();
        let begin = [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90];
        assert_eq!(generator.key[..8], begin);
        let mut output = [0; OUTPUT];
        Generator::new().fill(&mut output);
        let second = [0xda, 0x41, 0x59, 0x7c, 0x51, 0x57, 0x48, 0x8d];
        assert_eq!(output[..8], second);
    }

    #[test]
    fn what_was_given_out_is_gone() {
        let mut generator = Generator::new();
        generator.seed(&[5; KEY]);
        let given: [u8; 32] = generator.bytes();
        let state = [&generator.key[..], &generator.output[..]].concat();
        assert!(
            !state
                .windows(8)
                .any(|bytes| given.windows(8).any(|g| g == bytes))
        );
        let key = generator.key;
        let _: [u8; OUTPUT] = generator.bytes();
        assert_ne!(generator.key, key);
    }

    #[test]
    fn known_bytes_are_no_seed_and_change_all() {
        let (mut one, mut other) = (Generator::new(), Generator::new());
        for generator in [&mut one, &mut other] {
            generator.seed(&[9; KEY]);
        }
        other.add(b"known");
        assert_ne!(one.bytes::<16>(), other.bytes::<16>());
        let mut unseeded = Generator::new();
        unseeded.add(&[1; 100]);
        assert!(!unseeded.is_seeded());
        assert_eq!(format!("{unseeded:?}"), "unseeded generator");
    }

    proptest! {
        #[test]
        fn no_bytes_are_given_out_twice(sizes in prop::collection::vec(0..600usize, 1..20)) {
            let mut generator = Generator::new();
            generator.seed(&[1; KEY]);
            let mut all = Vec::new();
            for size in sizes {
                let mut bytes = vec![0; size];
                generator.fill(&mut bytes);
                all.extend(bytes);
            }
            let mut words: Vec<_> = all.chunks_exact(8).collect();
            let count = words.len();
            words.sort_unstable();
            words.dedup();
            prop_assert_eq!(words.len(), count);
        }
    }
}
