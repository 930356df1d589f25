//! [`Account`]: the looks at the timers of a process.

use super::service::{PROCESSES, TIMERS, WINDOW};

/// The looks at the timers of a process in a window, and its timers that are due and have none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Account {
    pub process: u32,
    /// The user of the process as it got its first timer.
    pub user: u32,
    /// How many timers the process has.
    pub timers: u32,
    /// The number of the window.
    window: u64,
    looks: u32,
    /// Timers that are due and wait for a look: a bit for each.
    deferred: [u64; (TIMERS / 64) as usize],
    /// From which timer on they have the next look.
    turn: u32,
}

/// The word and the bit of a timer.
fn place(timer: u32) -> (usize, u64) {
    (timer as usize / 64, 1 << (timer % 64))
}

impl Account {
    pub fn of(process: u32, user: u32) -> Self {
        Self {
            process,
            user,
            ..Self::default()
        }
    }

    /// Takes a look, of `most` in a window; returns whether one was left.
    pub fn take(&mut self, now: u64, most: u32) -> bool {
        let window = now / WINDOW;
        if self.window != window {
            (self.window, self.looks) = (window, 0);
        }
        let is_left = self.looks < most;
        self.looks += u32::from(is_left);
        is_left
    }

    /// When the account of a number has looks again: in the next window, at an instant of its own.
    pub fn next(now: u64, number: u32) -> u64 {
        let start = (now / WINDOW + 1) * WINDOW;
        start + WINDOW / u64::from(PROCESSES) * u64::from(number % PROCESSES)
    }

    /// Defers the look at a timer; returns whether it is the only one.
    pub fn defer(&mut self, timer: u32) -> bool {
        let first = !self.has_deferred();
        let (word, bit) = place(timer);
        if let Some(word) = self.deferred.get_mut(word) {
            *word |= bit;
        }
        first
    }

    /// Has a timer wait for no look.
    pub fn forget(&mut self, timer: u32) {
        let (word, bit) = place(timer);
        if let Some(word) = self.deferred.get_mut(word) {
            *word &= !bit;
        }
    }

    /// Whether a timer waits for a look.
    pub fn is_deferred(&self, timer: u32) -> bool {
        let (word, bit) = place(timer);
        self.deferred.get(word).is_some_and(|word| word & bit != 0)
    }

    pub fn has_deferred(&self) -> bool {
        self.deferred.iter().any(|word| *word != 0)
    }

    /// The timer that has the next look: each in turn.
    pub fn next_deferred(&self) -> Option<u32> {
        let from = |first: u32| {
            let (word, bit) = place(first);
            let rest = self.deferred.iter().enumerate().skip(word);
            rest.map(|(index, bits)| {
                let passed = if index == word { bit - 1 } else { 0 };
                (index as u32, bits & !passed)
            })
            .find(|(_, bits)| *bits != 0)
            .map(|(index, bits)| index * 64 + bits.trailing_zeros())
        };
        from(self.turn).or_else(|| from(0))
    }

    /// Takes a timer, after which the others have their turns.
    pub fn take_deferred(&mut self, timer: u32) {
        self.forget(timer);
        self.turn = (timer + 1) % TIMERS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_of_a_window_are_bounded() {
        let mut account = Account::of(1, 0);
        let start = 7 * WINDOW;
        assert!(account.take(start, 2));
        assert!(account.take(start + 5, 2));
        assert!(!account.take(start + WINDOW - 1, 2));
        assert!(account.take(start + WINDOW, 1));
        assert!(!account.take(start + WINDOW, 1));
    }

    #[test]
    fn deferred_looks_are_taken_in_turn() {
        let mut account = Account::of(1, 0);
        assert_eq!(account.next_deferred(), None);
        assert!(account.defer(70));
        for timer in [3, 1023, 64] {
            assert!(!account.defer(timer));
        }
        let mut taken = Vec::new();
        while let Some(timer) = account.next_deferred() {
            account.take_deferred(timer);
            taken.push(timer);
            // One that is due again at once is behind the others.
            if timer == 64 && taken.len() == 2 {
                account.defer(64);
            }
            if timer == 70 {
                account.forget(1023);
            }
        }
        assert_eq!(taken, [3, 64, 70, 64]);
        assert!(!account.has_deferred());
    }

    #[test]
    fn accounts_have_looks_again_at_instants_of_their_own() {
        let now = 7 * WINDOW + 5;
        let all: Vec<u64> = (0..PROCESSES)
            .map(|number| Account::next(now, number))
            .collect();
        assert!(all.is_sorted_by(|one, other| one < other));
        assert!(all.iter().all(|instant| instant / WINDOW == 8));
    }
}
