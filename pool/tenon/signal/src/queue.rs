//! [`Pending`]: pending signals, in the order in which they are delivered.

use crate::info::{Info, code};
use crate::set::{Set, number};
use tenon_frames::{Frames, Table};

/// Queued signals of all processes at most.
const ENTRIES: u32 = 1 << 16;
/// No entry.
const NONE: u32 = u32::MAX;

/// A queued signal.
#[derive(Debug)]
struct Entry {
    info: Info,
    next: u32,
}

/// The queued signals of all processes, in page frames.
#[derive(Debug)]
pub struct Entries(Table<Entry>);

impl Entries {
    /// No signal.
    #[must_use]
    pub const fn new() -> Self {
        Self(Table::lasting(ENTRIES))
    }

    /// The first entry of a signal from one on, and the one before it; [`NONE`] if there is none.
    fn find(&self, signal: u8, (mut at, mut before): (u32, u32)) -> (u32, u32) {
        while let Some(entry) = self.0.get(at) {
            if entry.info.signal == signal {
                return (at, before);
            }
            (before, at) = (at, entry.next);
        }
        (NONE, before)
    }
}

impl Default for Entries {
    fn default() -> Self {
        Self::new()
    }
}

/// A real-time signal with a value finds no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// Pending signals of a process or a thread.
#[derive(Debug)]
pub struct Pending {
    set: Set,
    first: u32,
    last: u32,
}

impl Default for Pending {
    fn default() -> Self {
        Self::new()
    }
}

impl Pending {
    /// None.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            set: Set::EMPTY,
            // Zero is "none" while the set is empty, so that memory of zeros has no signal.
            first: 0,
            last: 0,
        }
    }

    /// The signals that are pending.
    #[must_use]
    pub fn set(&self) -> Set {
        self.set
    }

    /// Makes a signal pending; `queued` counts those of the process in `entries`, of which there are
    /// at most `most`. A signal below 32 that is pending stays as it is.
    pub fn push(
        &mut self,
        info: &Info,
        (queued, most): (&mut u32, u32),
        entries: &mut Entries,
        frames: &mut Frames,
    ) -> Result<(), Full> {
        let signal = info.signal;
        if signal < number::REAL_TIME && self.set.has(signal) {
            return Ok(());
        }
        let entry = Entry {
            info: *info,
            next: NONE,
        };
        let place = if *queued < most {
            entries.0.insert(entry, 0, frames).ok()
        } else {
            None
        };
        let Some(place) = place else {
            let needed = signal >= number::REAL_TIME && info.code != code::USER;
            if needed {
                return Err(Full);
            }
            self.mark(signal);
            return Ok(());
        };
        *queued += 1;
        if self.has_entries() {
            if let Some(last) = entries.0.get_mut(self.last) {
                last.next = place;
            }
        } else {
            self.first = place;
        }
        self.last = place;
        self.set.insert(signal);
        Ok(())
    }

    /// Makes a signal pending without information.
    fn mark(&mut self, signal: u8) {
        if !self.has_entries() {
            (self.first, self.last) = (NONE, NONE);
        }
        self.set.insert(signal);
    }

    fn has_entries(&self) -> bool {
        !self.set.is_empty() && self.first != NONE
    }

    /// Counts further expiries of a timer with a pending signal; returns how many it has missed by
    /// now, or `None` if it is not pending.
    pub fn count_overrun(&self, timer: u32, missed: u32, entries: &mut Entries) -> Option<u32> {
        let mut at = if self.has_entries() { self.first } else { NONE };
        while let Some(entry) = entries.0.get_mut(at) {
            if entry.info.timer == timer {
                let before = (entry.info.words[0] >> 32) as u32;
                let after = before.saturating_add(missed).min(u32::MAX >> 1);
                if entry.info.code == code::TIMER {
                    let low = entry.info.words[0] & u64::from(u32::MAX);
                    entry.info.words[0] = low | u64::from(after) << 32;
                }
                return Some(after);
            }
            at = entry.next;
        }
        None
    }

    /// Takes the signal of a set that is delivered first.
    #[inline]
    pub fn take(
        &mut self,
        from: Set,
        queued: &mut u32,
        entries: &mut Entries,
        frames: &mut Frames,
    ) -> Option<Info> {
        let signal = (self.set & from).first()?;
        Some(self.take_signal(signal, queued, entries, frames))
    }

    /// Takes a signal that is pending.
    fn take_signal(
        &mut self,
        signal: u8,
        queued: &mut u32,
        entries: &mut Entries,
        frames: &mut Frames,
    ) -> Info {
        let first = if self.has_entries() { self.first } else { NONE };
        let (at, before) = entries.find(signal, (first, NONE));
        let Some(&Entry { info, next }) = entries.0.get(at) else {
            self.set.remove(Set::of(&[signal]));
            return Info {
                signal,
                ..Info::default()
            };
        };
        entries.0.remove(at, frames);
        *queued = queued.saturating_sub(1);
        if before == NONE {
            self.first = next;
        } else if let Some(entry) = entries.0.get_mut(before) {
            entry.next = next;
        }
        if self.last == at {
            self.last = before;
        }
        // One below is queued once at most.
        if signal < number::REAL_TIME || entries.find(signal, (next, at)).0 == NONE {
            self.set.remove(Set::of(&[signal]));
        }
        info
    }

    /// Removes all signals of a set.
    pub fn discard(
        &mut self,
        signals: Set,
        queued: &mut u32,
        entries: &mut Entries,
        frames: &mut Frames,
    ) {
        while self.take(signals, queued, entries, frames).is_some() {}
    }
}
