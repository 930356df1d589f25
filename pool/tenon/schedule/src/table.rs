//! [`Schedules`]: the level of each thread, by its own urgency and what locks donate.

pub mod lock;

use crate::policy::DEADLINE;
use crate::{Policy, Rows, Schedule};

/// The schedule of a thread, with `K` for the names of locks.
#[derive(Clone, Copy, Debug)]
pub struct Entry<K> {
    /// Its number.
    pub(crate) number: u32,
    /// As its process has set it.
    pub(crate) schedule: Schedule,
    /// The highest urgency of its own and those that locks donate to it.
    pub(crate) urgency: u8,
    level: u8,
    /// The lock for which it waits.
    pub(crate) wait: Option<Wait<K>>,
}

/// A wait for a lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait<K> {
    pub(crate) lock: K,
    /// The address of its word for the thread.
    pub(crate) address: usize,
    /// The number of the thread that owns it.
    pub(crate) owner: u32,
    /// Its place among all waits.
    pub(crate) order: u64,
}

/// The priorities of the kernel that threads of processes have.
#[derive(Clone, Copy, Debug)]
pub struct Levels {
    lowest: u8,
    reserved: u8,
    inherited: u8,
}

impl Levels {
    /// That of fair policies, the lowest one of reservations, below which those of real-time priorities
    /// lie, and that of what inherits from a reservation.
    #[must_use]
    pub const fn new(lowest: u8, reserved: u8, inherited: u8) -> Self {
        Self {
            lowest,
            reserved,
            inherited,
        }
    }

    /// The level of an urgency, where those of the bits of `used` are in use: the next one to that
    /// of the urgency below, or a proportion where there are more than levels.
    fn of(self, urgency: u8, used: u128) -> u8 {
        match urgency {
            0 => self.lowest,
            DEADLINE => self.inherited,
            _ => {
                let count = used.count_ones();
                let below = (used & ((1 << urgency) - 1)).count_ones();
                let room = u32::from(self.reserved.saturating_sub(self.lowest + 1)).max(1);
                let rank = below * room.min(count) / count.max(1);
                self.lowest + 1 + rank as u8
            }
        }
    }
}

/// The schedules of all threads, each at its place.
#[derive(Debug)]
pub struct Schedules<'a, K> {
    pub(crate) entries: Rows<'a, Entry<K>>,
    /// Threads that wait for locks.
    pub(crate) blocked: usize,
    /// Counts waits.
    pub(crate) waits: u64,
}

impl<'a, K: Copy + PartialEq> Schedules<'a, K> {
    /// Begins without threads.
    #[must_use]
    pub fn new(entries: &'a mut [Option<Entry<K>>]) -> Self {
        Self {
            entries: Rows::new(entries),
            blocked: 0,
            waits: 0,
        }
    }

    /// Adds a thread at a free place.
    pub fn add(&mut self, place: usize, number: u32, schedule: Schedule) {
        let entry = Entry {
            number,
            schedule,
            urgency: schedule.urgency(),
            level: 0,
            wait: None,
        };
        self.entries.put(place, entry);
    }

    /// Removes a thread, which owns no lock for which others wait.
    pub fn remove(&mut self, place: usize) {
        self.leave(place);
        if let Some(entry) = self.entries.get_mut(place) {
            *entry = None;
        }
    }

    pub(crate) fn at(&self, place: usize) -> Option<&Entry<K>> {
        self.entries.get(place)?.as_ref()
    }

    /// The place of a thread.
    #[must_use]
    pub fn place(&self, number: u32) -> Option<usize> {
        let is = |entry: &Option<Entry<K>>| entry.as_ref().is_some_and(|e| e.number == number);
        self.entries.iter().position(is)
    }

    /// The schedule of a thread.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<Schedule> {
        Some(self.at(place)?.schedule)
    }

    /// Changes the schedule of a thread; [`assign`](Self::assign) follows.
    pub fn set(&mut self, place: usize, schedule: Schedule) {
        if let Some(Some(entry)) = self.entries.get_mut(place) {
            entry.schedule = schedule;
            self.propagate(place);
        }
    }

    /// The highest urgency of a thread's own and what it inherits: 0, a priority from 1 to 99, or
    /// more.
    #[must_use]
    pub fn urgency(&self, place: usize) -> u8 {
        self.at(place).map_or(0, |entry| entry.urgency)
    }

    /// The level of a thread as of the last [`assign`](Self::assign).
    #[must_use]
    pub fn level(&self, place: usize) -> u8 {
        self.at(place).map_or(0, |entry| entry.level)
    }

    /// The places of threads with their levels, but of those with reservations of their own: their
    /// levels follow from their deadlines.
    pub fn levels(&self) -> impl Iterator<Item = (usize, u8)> {
        let all = self.entries.iter().enumerate();
        all.filter_map(|(place, entry)| {
            let entry = entry.as_ref()?;
            (entry.schedule.policy != Policy::Deadline).then_some((place, entry.level))
        })
    }

    /// Assigns levels anew.
    pub fn assign(&mut self, levels: Levels) {
        let used = self.entries.iter().flatten();
        let used = used.map(|entry| entry.urgency);
        let used = used.filter(|urgency| (1..DEADLINE).contains(urgency));
        let used = used.fold(0u128, |used, urgency| used | 1 << urgency);
        for entry in self.entries.iter_mut().flatten() {
            entry.level = levels.of(entry.urgency, used);
        }
    }

    /// Recomputes the urgency of a thread, and of the owners along the chain of locks from it on.
    pub(crate) fn propagate(&mut self, mut place: usize) {
        // A circle does not come about; the bound is that of a chain.
        for _ in 0..self.entries.len() {
            let Some(entry) = self.at(place) else { return };
            let number = entry.number;
            let donors = match self.blocked {
                0 => &[],
                _ => &*self.entries,
            };
            let donors = donors.iter().flatten();
            let donated = donors
                .filter(|donor| donor.wait.is_some_and(|wait| wait.owner == number))
                .map(|donor| donor.urgency);
            let urgency = donated.fold(entry.schedule.urgency(), u8::max);
            let Some(Some(entry)) = self.entries.get_mut(place) else {
                return;
            };
            if core::mem::replace(&mut entry.urgency, urgency) == urgency {
                return;
            }
            let Some(next) = entry.wait.and_then(|wait| self.place(wait.owner)) else {
                return;
            };
            place = next;
        }
    }
}
