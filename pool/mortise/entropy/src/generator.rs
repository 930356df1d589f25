//! Random numbers of one core: the output of an Ascon-XOF128 over the seed and the core's number.

use ascon_hash::{
    AsconXof128,
    digest::{ExtendableOutput, Update, XofReader},
};

/// Bytes of a seed: four of 128 bits, for as many sources.
pub const SEED: usize = 64;

/// Words that the TRNG returns at most.
pub const MOST: usize = 3;

/// Generator of one core.
pub struct Generator {
    reader: <AsconXof128 as ExtendableOutput>::Reader,
    /// Words that a call has prepared; those of an unfinished call serve the next one.
    ready: [u64; MOST],
    count: usize,
}

impl Generator {
    /// The generator of core `cpu` over `seed`.
    pub fn new(seed: &[u8; SEED], cpu: usize) -> Self {
        let mut xof = AsconXof128::default();
        xof.update(seed);
        xof.update(&(cpu as u64).to_le_bytes());
        Self {
            reader: xof.finalize_xof(),
            ready: [0; MOST],
            count: 0,
        }
    }

    /// The next word: one permutation.
    pub fn word(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.reader.read(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// Takes `count` words, at most [`MOST`], the last ones of the array. `None` if `stop` returned true
    /// before they were there; words that are ready stay.
    pub fn take(&mut self, count: usize, stop: impl Fn() -> bool) -> Option<[u64; MOST]> {
        let count = count.min(MOST);
        let mut first = true;
        while self.count < count {
            // Each call makes progress.
            if !first && stop() {
                return None;
            }
            first = false;
            let word = self.word();
            if let Some(place) = self.ready.get_mut(self.count) {
                *place = word;
            }
            self.count += 1;
        }
        let mut taken = [0; MOST];
        for place in taken.iter_mut().rev().take(count) {
            self.count -= 1;
            if let Some(word) = self.ready.get_mut(self.count) {
                *place = core::mem::take(word);
            }
        }
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;
    use std::collections::HashSet;

    #[test]
    fn no_word_is_given_out_twice_on_any_core() {
        let mut seen = HashSet::new();
        for cpu in 0..8 {
            let mut generator = Generator::new(&[7; SEED], cpu);
            for round in 0..300 {
                let count = 1 + round % MOST;
                let words = generator.take(count, || false).unwrap();
                assert_eq!(words[..MOST - count], [0, 0][..MOST - count]);
                for word in &words[MOST - count..] {
                    assert!(seen.insert(*word));
                }
            }
        }
    }

    #[test]
    fn it_follows_from_the_seed_and_from_each_bit_of_it() {
        let word = |seed: &[u8; SEED]| Generator::new(seed, 1).word();
        assert_eq!(word(&[3; SEED]), word(&[3; SEED]));
        for bit in 0..SEED * 8 {
            let mut other = [3; SEED];
            other[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(word(&other), word(&[3; SEED]), "bit {bit}");
        }
    }

    #[test]
    fn an_interrupted_call_goes_on_with_what_is_ready() {
        let mut generator = Generator::new(&[1; SEED], 0);
        let mut same = Generator::new(&[1; SEED], 0);
        let looks = Cell::new(0);
        let stop = || looks.replace(looks.get() + 1) == 0;
        assert_eq!(generator.take(3, stop), None, "at the first look");
        let words = generator.take(3, || false).unwrap();
        let mut expected = [same.word(), same.word(), same.word()];
        assert_eq!(words, expected);
        expected.fill(0);
        assert_eq!(generator.ready, expected, "nothing is kept");
        // With an interrupt at each look, each call still makes progress.
        assert_eq!(generator.take(3, || true), None);
        assert_eq!(generator.take(3, || true), None);
        assert!(generator.take(3, || true).is_some());
    }
}
