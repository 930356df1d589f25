//! What outlives a restart: how far the attacks got, and what came of them.
//!
//! A restart writes only what the image holds; the end of this VM's memory stays as it was.

/// Bytes at the end of memory that the ledger and the attacks' scratch space take.
pub const RESERVED: u64 = 0x8_0000;

/// First word of a ledger that was written.
const MAGIC: u64 = u64::from_le_bytes(*b"HOSTILE1");

/// Whether an attack is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// None is.
    Idle,
    /// One is being tried.
    Trying,
    /// The judge lost patience and restarts the VM.
    CalledBack,
}

/// Progress through the attacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Round, from zero; each has other numbers.
    pub round: u64,
    /// Number of the attack.
    pub attack: u64,
    /// Its case.
    pub case: u64,
    /// Whether it is under way.
    pub phase: Phase,
    /// Restarts of this VM that Mortise had counted when it began.
    pub restarts: u64,
    /// Digest of this VM's last fault when it began: another one after a restart caused it.
    pub fault: u64,
    /// Cases of this round that were contained.
    pub contained: u64,
    /// Cases of this round for which Mortise stopped this VM.
    pub stopped: u64,
    /// Cases of this round that were called back, or restarted this VM themselves.
    pub restarted: u64,
    /// Cases that ended otherwise than they must.
    pub unexpected: u64,
}

const WORDS: usize = 12;

impl Progress {
    /// Before the first attack.
    pub const START: Self = Self {
        round: 0,
        attack: 0,
        case: 0,
        phase: Phase::Idle,
        restarts: 0,
        fault: 0,
        contained: 0,
        stopped: 0,
        restarted: 0,
        unexpected: 0,
    };

    /// As words, the last of which checks the others.
    #[must_use]
    pub fn to_words(self) -> [u64; WORDS] {
        let mut words = [
            MAGIC,
            self.round,
            self.attack,
            self.case,
            self.phase as u64,
            self.restarts,
            self.fault,
            self.contained,
            self.stopped,
            self.restarted,
            self.unexpected,
            0,
        ];
        words[WORDS - 1] = check(&words);
        words
    }

    /// From words, if they were written by [`Self::to_words`].
    #[must_use]
    pub fn from_words(words: &[u64; WORDS]) -> Option<Self> {
        let [
            magic,
            round,
            attack,
            case,
            phase,
            restarts,
            fault,
            contained,
            stopped,
            restarted,
            unexpected,
            sum,
        ] = *words;
        (magic == MAGIC && sum == check(words)).then_some(Self {
            round,
            attack,
            case,
            phase: match phase {
                0 => Phase::Idle,
                1 => Phase::Trying,
                _ => Phase::CalledBack,
            },
            restarts,
            fault,
            contained,
            stopped,
            restarted,
            unexpected,
        })
    }
}

fn check(words: &[u64; WORDS]) -> u64 {
    words[..WORDS - 1].iter().fold(0, |sum: u64, word| {
        sum.rotate_left(7).wrapping_add(*word ^ MAGIC)
    })
}

/// The ledger in memory.
#[derive(Debug)]
pub struct Ledger(*mut [u64; WORDS]);

impl Ledger {
    /// The ledger at an address.
    ///
    /// # Safety
    ///
    /// Memory of this VM, mapped, aligned, and used by nothing else.
    #[must_use]
    pub const unsafe fn at(address: u64) -> Self {
        Self(address as *mut [u64; WORDS])
    }

    /// What was written last, if it is whole.
    #[must_use]
    pub fn read(&self) -> Option<Progress> {
        // SAFETY: `at` was promised the memory.
        Progress::from_words(&unsafe { self.0.read_volatile() })
    }

    /// Writes what is to outlive a restart.
    pub fn write(&self, progress: Progress) {
        // SAFETY: `at` was promised the memory.
        unsafe { self.0.write_volatile(progress.to_words()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_comes_back_and_garbage_does_not() {
        let progress = Progress {
            round: 3,
            phase: Phase::CalledBack,
            unexpected: 1,
            ..Progress::START
        };
        let mut words = progress.to_words();
        assert_eq!(Progress::from_words(&words), Some(progress));
        words[2] ^= 1;
        assert_eq!(Progress::from_words(&words), None);
        assert_eq!(Progress::from_words(&[0; WORDS]), None);
    }
}
