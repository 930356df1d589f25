//! [`Attempt`] at a lock with priority inheritance, by the word that its users share.

use crate::table::Wait;
use crate::{Errno, Schedules};

/// Bits of a word: the number of the owner.
pub const OWNER: u32 = 0x3fff_ffff;
/// The owner died.
pub const OWNER_DIED: u32 = 0x4000_0000;
/// Threads wait.
pub const WAITERS: u32 = 0x8000_0000;

/// What becomes of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The thread owns the lock.
    Owns,
    /// It has to wait for the thread of this number.
    Waits(u32),
}

/// An attempt to lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// What the word becomes.
    pub word: u32,
    /// What becomes of the attempt.
    pub outcome: Result<Outcome, Errno>,
}

impl<K: Copy + PartialEq> Schedules<'_, K> {
    /// What an attempt of a thread at a lock with this word becomes. Changes nothing.
    #[must_use]
    pub fn attempt(&self, place: usize, lock: K, word: u32) -> Attempt {
        let Some(entry) = self.at(place) else {
            let outcome = Err(Errno::ESRCH);
            return Attempt { word, outcome };
        };
        let (own, owner) = (entry.number, word & OWNER);
        if owner == own {
            let outcome = Err(Errno::EDEADLK);
            return Attempt { word, outcome };
        }
        // Those that wait already know the owner.
        if let Some(first) = self.first(lock)
            && self.owner(first) != Some(owner)
        {
            let outcome = Err(Errno::EINVAL);
            return Attempt { word, outcome };
        }
        if owner == 0 {
            let word = word & OWNER_DIED | own;
            let outcome = Ok(Outcome::Owns);
            return Attempt { word, outcome };
        }
        let outcome = match self.place(owner) {
            None => Err(Errno::ESRCH),
            Some(owner) if self.leads_to(owner, own) => Err(Errno::EDEADLK),
            Some(_) => Ok(Outcome::Waits(owner)),
        };
        let word = word | WAITERS;
        Attempt { word, outcome }
    }

    /// Whether the chain of owners from the thread at `place` on leads to the one of a number.
    fn leads_to(&self, mut place: usize, number: u32) -> bool {
        for _ in 0..self.entries.len() {
            let Some(wait) = self.at(place).and_then(|entry| entry.wait) else {
                return false;
            };
            if wait.owner == number {
                return true;
            }
            let Some(next) = self.place(wait.owner) else {
                return false;
            };
            place = next;
        }
        true
    }

    /// Has a thread wait for a lock; the owner inherits its urgency.
    pub fn wait(&mut self, place: usize, (lock, address): (K, usize), owner: u32) {
        self.waits += 1;
        let order = self.waits;
        if let Some(Some(entry)) = self.entries.get_mut(place) {
            let before = entry.wait.replace(Wait {
                lock,
                address,
                owner,
                order,
            });
            self.blocked += usize::from(before.is_none());
        }
        if let Some(owner) = self.place(owner) {
            self.propagate(owner);
        }
    }

    /// Ends the wait of a thread, if it waits. Returns whether it did.
    pub fn leave(&mut self, place: usize) -> bool {
        let entry = self.entries.get_mut(place).and_then(Option::as_mut);
        let Some(wait) = entry.and_then(|entry| entry.wait.take()) else {
            return false;
        };
        self.blocked -= 1;
        if let Some(owner) = self.place(wait.owner) {
            self.propagate(owner);
        }
        true
    }

    /// Whether a thread waits for a lock.
    #[must_use]
    pub fn waits(&self, place: usize) -> bool {
        self.at(place).is_some_and(|entry| entry.wait.is_some())
    }

    /// The place of the most urgent thread that waits for a lock, of equal ones the first.
    #[inline]
    #[must_use]
    pub fn first(&self, lock: K) -> Option<usize> {
        match self.blocked {
            0 => None,
            _ => self.first_of(lock),
        }
    }

    fn first_of(&self, lock: K) -> Option<usize> {
        let waits = self
            .entries
            .iter()
            .enumerate()
            .filter_map(|(place, entry)| {
                let entry = entry.as_ref()?;
                let wait = entry.wait.filter(|wait| wait.lock == lock)?;
                Some((u8::MAX - entry.urgency, wait.order, place))
            });
        waits.min().map(|(.., place)| place)
    }

    /// The first waiter of a lock, and the word with which that owns it.
    #[must_use]
    pub fn heir(&self, lock: K, owner_died: bool) -> Option<(usize, u32)> {
        let place = self.first(lock)?;
        let died = if owner_died { OWNER_DIED } else { 0 };
        Some((place, self.at(place)?.number | WAITERS | died))
    }

    /// Makes a waiter the owner of its lock; returns the address of the word.
    pub fn hand_over(&mut self, place: usize) -> usize {
        let entry = self.entries.get_mut(place).and_then(Option::as_mut);
        let Some((number, wait)) = entry.and_then(|e| Some((e.number, e.wait.take()?))) else {
            return 0;
        };
        self.blocked -= 1;
        for entry in self.entries.iter_mut().flatten() {
            if let Some(other) = &mut entry.wait
                && other.lock == wait.lock
            {
                other.owner = number;
            }
        }
        self.propagate(place);
        if let Some(before) = self.place(wait.owner) {
            self.propagate(before);
        }
        wait.address
    }

    /// The number of the owner of the lock for which a thread waits.
    #[must_use]
    pub fn owner(&self, place: usize) -> Option<u32> {
        Some(self.at(place)?.wait?.owner)
    }

    /// A lock that a thread owns and for which others wait.
    #[must_use]
    pub fn owned(&self, place: usize) -> Option<K> {
        let number = self.at(place).filter(|_| self.blocked > 0)?.number;
        let mut waits = self.entries.iter().flatten().filter_map(|entry| entry.wait);
        Some(waits.find(|wait| wait.owner == number)?.lock)
    }
}
