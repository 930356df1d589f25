//! Random numbers of one core: the output of an Ascon-XOF128 over the seed and the core's number, which
//! is keyed anew by its own output.

use ascon_hash::{
    AsconXof128,
    digest::{ExtendableOutput, Update, XofReader},
};

/// What all generators are made of: the output of all sources, absorbed.
#[derive(Default)]
pub struct Seed(AsconXof128);

impl Seed {
    /// Adds the output of a source.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}

/// Words that the TRNG returns at most.
pub const MOST: usize = 3;

/// Words of a key: 128 bits, the strength of Ascon.
const KEY: usize = 2;

/// Words that calls draw from one key at most, but for those of the last call.
const LIFETIME: usize = 16;

/// Generator of one core.
///
/// The permutation of Ascon can be inverted, so that earlier output would follow from a later state.
/// Therefore the words that were given out are followed by a key, which is all that the next state is
/// made of ([`refresh`](Self::refresh)): after each start of a VM, and in a call after [`LIFETIME`] words.
pub struct Generator {
    reader: <AsconXof128 as ExtendableOutput>::Reader,
    /// The next state, which absorbs the key.
    next: AsconXof128,
    /// Words of the key that it has absorbed, and one that is drawn.
    absorbed: usize,
    drawn: Option<u64>,
    /// Words drawn from this key that are or will be given out.
    spent: usize,
    /// Words that a call has prepared; those of an unfinished call serve the next one.
    ready: [u64; MOST],
    count: usize,
}

impl Generator {
    /// The generator of core `cpu` over `seed`.
    pub fn new(seed: &Seed, cpu: usize) -> Self {
        let mut xof = seed.0.clone();
        xof.update(&(cpu as u64).to_le_bytes());
        Self {
            reader: xof.finalize_xof(),
            next: AsconXof128::default(),
            absorbed: 0,
            drawn: None,
            spent: 0,
            ready: [0; MOST],
            count: 0,
        }
    }

    /// The next word: one permutation. Once all that are needed are drawn, the generator must be
    /// [refreshed](Self::refresh).
    pub fn word(&mut self) -> u64 {
        self.spent += 1;
        self.draw()
    }

    /// One step towards a state from which no word that was given out follows: one permutation. Returns
    /// whether more steps follow.
    pub fn refresh(&mut self) -> bool {
        if self.spent == 0 {
            return false;
        }
        if let Some(word) = self.drawn.take() {
            self.next.update(&word.to_le_bytes());
            self.absorbed += 1;
        } else if self.absorbed < KEY {
            self.drawn = Some(self.draw());
        } else {
            self.reader = core::mem::take(&mut self.next).finalize_xof();
            self.absorbed = 0;
            self.spent = 0;
        }
        self.spent > 0
    }

    /// Takes `count` words, at most [`MOST`], the last ones of the array, and refreshes the generator at the
    /// end of a key's lifetime. `None` if `stop` returned true before that; what is done stays done.
    pub fn take(&mut self, count: usize, stop: impl Fn() -> bool) -> Option<[u64; MOST]> {
        let count = count.min(MOST);
        let mut first = true;
        while self.count < count || self.spent >= LIFETIME {
            // Each call makes progress.
            if !first && stop() {
                return None;
            }
            first = false;
            if self.count < count {
                let word = self.word();
                if let Some(place) = self.ready.get_mut(self.count) {
                    *place = word;
                }
                self.count += 1;
            } else {
                self.refresh();
            }
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

    fn draw(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.reader.read(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;
    use std::collections::HashSet;

    fn generator(byte: u8, cpu: usize) -> Generator {
        let mut seed = Seed::default();
        seed.add(&[byte; 64]);
        Generator::new(&seed, cpu)
    }

    #[test]
    fn no_word_is_given_out_twice_on_any_core() {
        let mut seen = HashSet::new();
        for cpu in 0..8 {
            let mut generator = generator(7, cpu);
            for round in 0..300 {
                let count = 1 + round % MOST;
                let words = generator.take(count, || false).unwrap();
                assert_eq!(words[..MOST - count], [0, 0][..MOST - count]);
                for word in &words[MOST - count..] {
                    assert!(seen.insert(*word));
                }
                assert!(generator.spent < LIFETIME);
            }
        }
    }

    #[test]
    fn it_follows_from_the_seed_and_from_each_bit_of_it() {
        let word = |bytes: &[u8; 64]| {
            let mut seed = Seed::default();
            seed.add(bytes);
            Generator::new(&seed, 1).word()
        };
        assert_eq!(word(&[3; 64]), word(&[3; 64]));
        for bit in 0..512 {
            let mut other = [3; 64];
            other[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(word(&other), word(&[3; 64]), "bit {bit}");
        }
    }

    #[test]
    fn an_interrupted_call_goes_on_with_what_is_ready() {
        let (mut ours, mut same) = (generator(1, 0), generator(1, 0));
        let looks = Cell::new(0);
        let stop = || looks.replace(looks.get() + 1) == 0;
        assert_eq!(ours.take(3, stop), None, "at the first look");
        let words = ours.take(3, || false).unwrap();
        assert_eq!(words, [same.word(), same.word(), same.word()]);
        assert_eq!(ours.ready, [0; MOST], "nothing is kept");
        // With an interrupt at each look, each call still makes progress: a word or a step.
        ours.spent = LIFETIME - 1;
        for _ in 1..MOST + 2 * KEY + 1 {
            assert_eq!(ours.take(3, || true), None);
        }
        assert!(ours.take(3, || true).is_some());
        assert_eq!(ours.spent, 0);
    }

    /// The key is the words that follow those that were given out, and the state is made of it alone.
    #[test]
    fn the_state_after_a_refresh_is_that_of_the_key() {
        let (mut ours, mut same) = (generator(1, 0), generator(1, 0));
        for _ in 0..5 {
            assert_eq!(ours.word(), same.word());
        }
        while ours.refresh() {}
        let mut keyed = AsconXof128::default();
        for _ in 0..KEY {
            keyed.update(&same.word().to_le_bytes());
        }
        let mut expected = [0; 8];
        keyed.finalize_xof().read(&mut expected);
        assert!(ours.spent == 0 && ours.absorbed == 0 && ours.drawn.is_none());
        assert_eq!(ours.word(), u64::from_le_bytes(expected));
    }

    /// Another VM of the core draws in the midst of a refresh: its words are gone with the same state.
    #[test]
    fn a_refresh_covers_all_words_that_were_drawn_before_its_end() {
        for between in 0..=2 * KEY {
            let mut ours = generator(1, 0);
            ours.word();
            for _ in 0..between {
                assert!(ours.refresh());
            }
            let word = ours.word();
            let mut steps = 0;
            while ours.refresh() {
                steps += 1;
            }
            assert_eq!(steps, 2 * KEY - between);
            assert!(!ours.refresh(), "there is nothing to do");
            assert_ne!(ours.word(), word);
        }
    }
}
