//! Random numbers of one core: a sponge over the permutation of Ascon, which is keyed anew by its own
//! output.
//!
//! The permutation is done round by round, so that interrupts are not masked for long.

use ascon_core::State;
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

/// Rounds of the permutation between two outputs (NIST SP 800-232, 3).
const ROUNDS: usize = 12;

/// Words of the state that are output between two permutations, as in Ascon-PRF.
const RATE: usize = 2;

/// The constant of the last round, which [`State::permute_1`] adds to the third word.
const LAST: u64 = 0x4b;

/// First word of a state that is made of a key: no function of Ascon's begins with it.
const KEYED: u64 = u64::from_be_bytes(*b"mortise1");

/// Generator of one core.
///
/// The permutation of Ascon can be inverted, so that earlier output would follow from a later state.
/// Therefore the words that were given out are followed by a key, which is all that the next state is
/// made of ([`refresh`](Self::refresh)): after each start of a VM, and in a call after [`LIFETIME`] words.
pub struct Generator {
    state: State,
    /// Rounds of the permutation that are left, and words of its output that are left after it.
    rounds: usize,
    output: usize,
    /// The key of the next state, as far as it is drawn.
    key: [u64; KEY],
    drawn: usize,
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
        let mut reader = xof.finalize_xof();
        let mut key = [0; KEY];
        for word in &mut key {
            let mut bytes = [0; 8];
            reader.read(&mut bytes);
            *word = u64::from_le_bytes(bytes);
        }
        Self {
            state: keyed(key),
            rounds: ROUNDS,
            output: RATE,
            key: [0; KEY],
            drawn: 0,
            spent: 0,
            ready: [0; MOST],
            count: 0,
        }
    }

    /// A step towards the next word: a round, or the word. Once all that are needed are drawn, the
    /// generator must be [refreshed](Self::refresh).
    pub fn word(&mut self) -> Option<u64> {
        let word = self.draw();
        self.spent += usize::from(word.is_some());
        word
    }

    /// One step towards a state from which no word that was given out follows. Returns whether more
    /// steps follow.
    pub fn refresh(&mut self) -> bool {
        if self.spent == 0 {
            return false;
        }
        if self.drawn == KEY {
            self.state = keyed(core::mem::take(&mut self.key));
            (self.rounds, self.output) = (ROUNDS, RATE);
            (self.drawn, self.spent) = (0, 0);
        } else if let Some(word) = self.draw() {
            if let Some(place) = self.key.get_mut(self.drawn) {
                *place = word;
            }
            self.drawn += 1;
        }
        self.spent > 0
    }

    /// Takes `count` words, at most [`MOST`], the last ones of the array, and refreshes the generator at the
    /// end of a key's lifetime. `None` if `stop` returned true before that; what is done stays done.
    pub fn take(&mut self, count: usize, stop: impl Fn() -> bool) -> Option<[u64; MOST]> {
        let count = count.min(MOST);
        while self.count < count || self.spent >= LIFETIME {
            if stop() {
                return None;
            }
            if self.count >= count {
                self.refresh();
            } else if let Some(word) = self.word() {
                if let Some(place) = self.ready.get_mut(self.count) {
                    *place = word;
                }
                self.count += 1;
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

    /// A step towards the next word, which is taken out of the state.
    fn draw(&mut self) -> Option<u64> {
        if self.rounds > 0 {
            let round = (ROUNDS - self.rounds) as u64;
            let constant = (0xf - round) << 4 | round;
            self.state[2] ^= constant ^ LAST;
            self.state.permute_1();
            self.rounds -= 1;
            return None;
        }
        self.output -= 1;
        let word = self.state[self.output % RATE];
        if self.output == 0 {
            (self.rounds, self.output) = (ROUNDS, RATE);
        }
        Some(word)
    }
}

/// The state that is made of a key, before its permutation.
fn keyed(key: [u64; KEY]) -> State {
    let [first, second] = key;
    State::new(KEYED, first, second, 0, 0)
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

    /// The next word, after all its steps.
    fn next(generator: &mut Generator) -> u64 {
        loop {
            if let Some(word) = generator.word() {
                return word;
            }
        }
    }

    #[test]
    fn steps_are_the_permutation() {
        let mut ours = generator(3, 0);
        let mut whole = ours.state.clone();
        for _ in 0..10 {
            whole.permute_12();
            assert_eq!(next(&mut ours), whole[1]);
            assert_eq!(next(&mut ours), whole[0]);
        }
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
            next(&mut Generator::new(&seed, 1))
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
        let stop = || looks.replace(looks.get() + 1) == 14;
        assert_eq!(ours.take(3, stop), None, "after the first word");
        let words = ours.take(3, || false).unwrap();
        assert_eq!(words, [0; 3].map(|_| next(&mut same)));
        assert_eq!(ours.ready, [0; MOST], "nothing is kept");
        // With an interrupt at every other look, each call does a step.
        ours.spent = LIFETIME - 1;
        let stop = || looks.replace(looks.get() + 1) % 2 == 1;
        let calls = (1..).find(|_| ours.take(3, stop).is_some());
        assert!(calls.is_some_and(|calls| calls < 90), "{calls:?}");
        assert_eq!(ours.spent, 0);
    }

    /// The key is the words that follow those that were given out, and the state is made of it alone.
    #[test]
    fn the_state_after_a_refresh_is_that_of_the_key() {
        let (mut ours, mut same) = (generator(1, 0), generator(1, 0));
        for _ in 0..5 {
            assert_eq!(next(&mut ours), next(&mut same));
        }
        while ours.refresh() {}
        let mut expected = keyed([next(&mut same), next(&mut same)]);
        assert!(ours.spent == 0 && ours.drawn == 0 && ours.key == [0; KEY]);
        expected.permute_12();
        assert_eq!(next(&mut ours), expected[1]);
    }

    /// Another VM of the core draws in the midst of a refresh: its words are gone with the same state.
    #[test]
    fn a_refresh_covers_all_words_that_were_drawn_before_its_end() {
        for between in 0..=2 + ROUNDS {
            let mut ours = generator(1, 0);
            next(&mut ours);
            for _ in 0..between {
                assert!(ours.refresh());
            }
            let word = next(&mut ours);
            while ours.refresh() {}
            assert!(!ours.refresh(), "there is nothing to do");
            assert_ne!(next(&mut ours), word);
        }
    }
}
