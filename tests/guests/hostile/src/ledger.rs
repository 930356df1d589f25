//! Progress and outcomes of the attacks, kept across restarts.
//!
//! A restart writes only the image; the end of this VM's memory is unchanged.

use zerocopy::{Immutable, IntoBytes, TryFromBytes};

/// Size in bytes of the ledger and the attacks' scratch space at the end of memory.
pub const RESERVED: u64 = 0x8_0000;

/// Magic number of a valid ledger.
const MAGIC: u64 = u64::from_le_bytes(*b"HOSTILE1");

/// Whether an attack is in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoBytes, TryFromBytes, Immutable)]
#[repr(u64)]
pub enum Phase {
    /// No attack is in progress.
    Idle,
    /// An attack is in progress.
    Trying,
    /// The attack timed out, and the judge restarts the VM.
    CalledBack,
}

/// Progress through the attacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoBytes, TryFromBytes, Immutable)]
#[repr(C)]
pub struct Progress {
    /// Round, from zero; each has other random numbers.
    pub round: u64,
    /// Index of the attack.
    pub attack: u64,
    /// Index of its case.
    pub case: u64,
    /// Whether it is in progress.
    pub phase: Phase,
    /// Number of restarts of this VM when the attack started.
    pub restarts: u64,
    /// Digest of this VM's last fault when the attack started; a different one afterwards is its result.
    pub fault: u64,
    /// Cases of this round that were contained.
    pub contained: u64,
    /// Cases of this round for which Mortise stopped this VM.
    pub stopped: u64,
    /// Cases of this round that were ended by a restart, or restarted this VM themselves.
    pub restarted: u64,
    /// Cases with an unexpected outcome.
    pub unexpected: u64,
}

/// The ledger as it lies in memory.
#[derive(Clone, Copy, IntoBytes, TryFromBytes, Immutable)]
#[repr(C)]
struct Record {
    magic: u64,
    progress: Progress,
    checksum: u64,
}

const WORDS: usize = size_of::<Record>() / size_of::<u64>();

impl Progress {
    /// The ledger before the first attack.
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

    /// Encodes the ledger as words, the last of which is a checksum.
    #[must_use]
    pub fn to_words(self) -> [u64; WORDS] {
        let mut words: [u64; WORDS] = zerocopy::transmute!(Record {
            magic: MAGIC,
            progress: self,
            checksum: 0,
        });
        words[WORDS - 1] = check(&words);
        words
    }

    /// Decodes words of [`Self::to_words`]; `None` if they are not valid.
    #[must_use]
    pub fn from_words(words: &[u64; WORDS]) -> Option<Self> {
        let record: Record = zerocopy::try_transmute!(*words).ok()?;
        (record.magic == MAGIC && record.checksum == check(words)).then_some(record.progress)
    }
}

fn check(words: &[u64; WORDS]) -> u64 {
    words[..WORDS - 1].iter().fold(0, |sum: u64, word| {
        sum.rotate_left(7).wrapping_add(*word ^ MAGIC)
    })
}

/// A ledger in memory.
#[derive(Debug)]
pub struct Ledger(*mut [u64; WORDS]);

impl Ledger {
    /// The ledger at an address.
    ///
    /// # Safety
    ///
    /// `at` must be mapped, aligned memory of this VM that nothing else uses.
    #[must_use]
    pub const unsafe fn at(address: u64) -> Self {
        Self(address as *mut [u64; WORDS])
    }

    /// The last written ledger, if it is valid.
    #[must_use]
    pub fn read(&self) -> Option<Progress> {
        // SAFETY: the constructor requires that `at` is mapped, aligned and exclusive.
        Progress::from_words(&unsafe { self.0.read_volatile() })
    }

    /// Writes the ledger.
    pub fn write(&self, progress: Progress) {
        // SAFETY: the constructor requires that `at` is mapped, aligned and exclusive.
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
