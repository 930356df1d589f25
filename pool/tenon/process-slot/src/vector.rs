//! [`Vectors`]: threads that wait for several words at once.

use crate::Key;
use tenon_frames::{Frames, Table};
use tenon_program::Errno;

/// Words for which threads wait so, in all.
const WORDS: u32 = 4096;

/// A word of a wait.
#[derive(Clone, Copy, Debug)]
struct Word {
    /// The place of the thread.
    place: usize,
    key: Key,
    /// Its index in the wait.
    index: u32,
}

/// The words of all such waits, in the order in which they began.
#[derive(Debug)]
pub struct Vectors {
    words: Table<Word>,
    count: usize,
}

impl Vectors {
    /// No wait.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            words: Table::new(WORDS),
            count: 0,
        }
    }

    /// Adds a word to the wait of the thread at a place.
    pub fn add(
        &mut self,
        place: usize,
        (key, index): (Key, u32),
        frames: &mut Frames,
    ) -> Result<(), Errno> {
        let word = Word { place, key, index };
        self.words
            .insert(word, 0, frames)
            .map_err(|_| Errno::ENOMEM)?;
        self.count += 1;
        Ok(())
    }

    /// Ends the wait of the thread at a place.
    pub fn end(&mut self, place: usize, frames: &mut Frames) {
        let mut from = 0;
        while self.count > 0
            && let Some(number) = self.words.next(from)
        {
            from = number + 1;
            if self
                .words
                .get(number)
                .is_some_and(|word| word.place == place)
            {
                self.words.remove(number, frames);
                self.count -= 1;
            }
        }
    }

    /// A thread that waits for a word, with its index in the wait.
    #[must_use]
    pub fn find(&self, key: Key) -> Option<(usize, u32)> {
        if self.count == 0 {
            return None;
        }
        let words = self
            .words
            .numbers(0)
            .filter_map(|number| self.words.get(number));
        let mut of_key = words.filter(|word| word.key == key);
        of_key.next().map(|word| (word.place, word.index))
    }
}

impl Default for Vectors {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_has_its_words_until_its_end() {
        let mut frames = Frames::of_host(16);
        let total = frames.available();
        let mut vectors = Vectors::new();
        let key = |address| Key {
            process: 1,
            address,
        };
        for index in 0..5 {
            let word = (key(8 * index), index as u32);
            vectors.add(3, word, &mut frames).unwrap();
            vectors.add(4, word, &mut frames).unwrap();
        }
        assert_eq!(vectors.find(key(16)), Some((3, 2)));
        vectors.end(3, &mut frames);
        assert_eq!(vectors.find(key(16)), Some((4, 2)));
        vectors.end(4, &mut frames);
        assert_eq!(vectors.find(key(16)), None);
        assert_eq!(frames.available(), total);
    }
}
