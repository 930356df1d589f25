//! [`Source`]: an object that has events, with the threads that wait for them.

use super::Files;
use tenon_frames::{Frames, Table};
use tenon_program::Errno;

/// Events of `poll`: what an object is ready for.
pub mod ready {
    /// Bytes, a connection or a state can be read.
    pub const READABLE: u16 = 0x1;
    /// Bytes can be written.
    pub const WRITABLE: u16 = 0x4;
    /// The object has an error, a pipe no reader.
    pub const ERROR: u16 = 0x8;
    /// The other end is closed.
    pub const HANGUP: u16 = 0x10;
    /// There is no such descriptor.
    pub const INVALID: u16 = 0x20;
    /// `POLLRDNORM`.
    pub const READABLE_NORMAL: u16 = 0x40;
    /// `POLLWRNORM`.
    pub const WRITABLE_NORMAL: u16 = 0x100;
    /// `POLLWRBAND`.
    pub const WRITABLE_BAND: u16 = 0x200;
    /// The other end writes no more.
    pub const PEER_HANGUP: u16 = 0x2000;
}

/// Sources at a time.
const SOURCES: u32 = 16384;

/// What a thread waits for at a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// To read: one thread is woken by an event.
    Read,
    /// To write: one thread is woken by an event.
    Write,
    /// Any event, which wakes all of these.
    Poll,
}

/// An object that has events. Waiting threads are sets of bits: thread `n` has bit `n % 64`, so that no
/// wait needs memory; a thread that is woken for another one waits again.
#[derive(Debug, Default)]
struct Source {
    readers: u64,
    writers: u64,
    polls: u64,
    /// The observer is told of events.
    watched: bool,
    /// A library notes events for owners of descriptions: the first one, by its number plus one.
    owned: u32,
}

impl Source {
    fn waiters(&mut self, side: Side) -> &mut u64 {
        match side {
            Side::Read => &mut self.readers,
            Side::Write => &mut self.writers,
            Side::Poll => &mut self.polls,
        }
    }

    /// Wakes the next thread that waits to read or to write, if there is one.
    #[inline(always)]
    fn wake_next(&mut self, side: Side, wakes: &mut Wakes) {
        let waiters = self.waiters(side);
        if *waiters != 0 {
            let bit = next_bit(*waiters, wakes.turn);
            *waiters &= !bit;
            wakes.turn = (bit.trailing_zeros() + 1) % 64;
            wakes.woken |= bit;
        }
    }
}

/// Threads that events wake.
#[derive(Debug)]
struct Wakes {
    woken: u64,
    /// The bit after that of the thread which was woken last.
    turn: u32,
}

/// Functions that are told of the events of watched sources.
#[derive(Debug)]
pub struct Observer {
    /// A source has events.
    pub notify: fn(&mut Files, source: u32, events: u16),
    /// A description is closed.
    pub forget: fn(&mut Files, &mut Frames, description: u32),
}

/// All sources, and the threads that their events wake.
#[derive(Debug)]
pub(super) struct Sources {
    table: Table<Source>,
    wakes: Wakes,
    pub(super) observer: Option<&'static Observer>,
    /// Notes events for owners, by the first one of a source; whether any is to be told.
    note: Option<fn(first: u32, events: u16) -> bool>,
    /// Events were noted.
    noted: bool,
}

impl Sources {
    pub(super) const fn new() -> Self {
        Self {
            table: Table::new(SOURCES),
            wakes: Wakes { woken: 0, turn: 0 },
            observer: None,
            note: None,
            noted: false,
        }
    }
}

/// The first bit of a set from a place on, and then from the start.
fn next_bit(set: u64, from: u32) -> u64 {
    let rotated = set.rotate_right(from);
    (rotated & rotated.wrapping_neg()).rotate_left(from)
}

impl Files {
    /// A new source.
    pub fn new_source(&mut self, frames: &mut Frames) -> Result<u32, Errno> {
        let inserted = self.sources.table.insert(Source::default(), 0, frames);
        inserted.map_err(|_| Errno::ENFILE)
    }

    /// The source of a kind of objects, which is created on first use.
    pub fn source_in(
        &mut self,
        source: &mut Option<u32>,
        frames: &mut Frames,
    ) -> Result<u32, Errno> {
        match *source {
            Some(source) => Ok(source),
            None => Ok(*source.insert(self.new_source(frames)?)),
        }
    }

    /// Ends a source. Threads that wait for it are woken.
    pub fn remove_source(&mut self, source: u32, frames: &mut Frames) {
        if let Some(source) = self.sources.table.remove(source, frames) {
            self.sources.wakes.woken |= source.readers | source.writers | source.polls;
        }
    }

    /// Has a thread wait at a source.
    pub fn enlist(&mut self, source: u32, side: Side, thread: usize) {
        if let Some(source) = self.sources.table.get_mut(source) {
            *source.waiters(side) |= 1 << (thread % 64);
        }
    }

    /// Ends the wait of a thread at a source. Others with its bit look again.
    pub fn delist(&mut self, source: u32, side: Side, thread: usize) {
        if let Some(source) = self.sources.table.get_mut(source) {
            let bit = 1 << (thread % 64);
            let waiters = source.waiters(side);
            if *waiters & bit != 0 {
                *waiters &= !bit;
                self.sources.wakes.woken |= bit;
            }
        }
    }

    /// Wakes the next thread that waits at a source to read or to write.
    pub fn wake_next(&mut self, source: u32, side: Side) {
        let sources = &mut self.sources;
        if let Some(source) = sources.table.get_mut(source) {
            source.wake_next(side, &mut sources.wakes);
        }
    }

    /// Whether a thread waits at a source to read.
    #[must_use]
    pub fn has_readers(&self, source: u32) -> bool {
        let source = self.sources.table.get(source);
        source.is_some_and(|source| source.readers != 0)
    }

    /// States events of a source: wakes one thread that can read and one that can write, or all of
    /// them at an end, and those that wait for any event; then tells the observer.
    pub fn notify(&mut self, number: u32, events: u16) {
        self.notify_and_wake(number, events, None);
    }

    /// As [`notify`](Self::notify), and wakes the next thread that waits for a side if one is stated.
    pub fn notify_and_wake(&mut self, number: u32, events: u16, side: Option<Side>) {
        let watched = self.signal_and_wake(number, events, side);
        if watched && let Some(observer) = self.sources.observer {
            (observer.notify)(self, number, events);
        }
    }

    /// As [`notify`](Self::notify), without telling the observer; returns whether it watches.
    pub fn signal(&mut self, number: u32, events: u16) -> bool {
        self.signal_and_wake(number, events, None)
    }

    #[inline(always)]
    fn signal_and_wake(&mut self, number: u32, events: u16, side: Option<Side>) -> bool {
        let sources = &mut self.sources;
        let Some(source) = sources.table.get_mut(number) else {
            return false;
        };
        let wakes = &mut sources.wakes;
        wakes.woken |= core::mem::take(&mut source.polls);
        if events & (ready::ERROR | ready::HANGUP | ready::PEER_HANGUP) != 0 {
            let (readers, writers) = (&mut source.readers, &mut source.writers);
            wakes.woken |= core::mem::take(readers) | core::mem::take(writers);
        } else {
            if events & ready::READABLE != 0 {
                source.wake_next(Side::Read, wakes);
            }
            if events & ready::WRITABLE != 0 {
                source.wake_next(Side::Write, wakes);
            }
            if let Some(side) = side {
                source.wake_next(side, wakes);
            }
        }
        if source.owned != 0
            && let Some(note) = sources.note
        {
            sources.noted |= note(source.owned, events);
        }
        source.watched
    }

    /// The first owner of descriptions of a source, by its number plus one.
    #[must_use]
    pub fn owned(&self, source: u32) -> u32 {
        let source = self.sources.table.get(source);
        source.map_or(0, |source| source.owned)
    }

    /// Has a function note events of a source for owners of its descriptions, which begin with `first`.
    pub fn set_owned(&mut self, source: u32, first: u32, note: fn(u32, u16) -> bool) {
        self.sources.note = Some(note);
        if let Some(source) = self.sources.table.get_mut(source) {
            source.owned = first;
        }
    }

    /// States that an event was noted for an owner.
    pub fn set_noted(&mut self) {
        self.sources.noted = true;
    }

    /// Whether events were noted since the last call.
    pub fn take_noted(&mut self) -> bool {
        core::mem::take(&mut self.sources.noted)
    }

    /// Has the observer told of a source's events, or no longer.
    pub fn watch(&mut self, source: u32, observer: &'static Observer, watched: bool) {
        self.sources.observer = Some(observer);
        if let Some(source) = self.sources.table.get_mut(source) {
            source.watched = watched;
        }
    }

    /// Has the events of watched inodes that have ended wake threads.
    #[cold]
    fn end_watches(&mut self) {
        self.tree.files.watched_ended = false;
        for watcher in self.watchers.into_iter().flatten() {
            (watcher.ended)(self);
        }
    }

    /// Whether events have woken threads or were noted.
    #[inline(always)]
    #[must_use]
    pub fn has_news(&self) -> bool {
        let sources = &self.sources;
        let flags = self.tree.files.watched_ended | sources.noted;
        u64::from(flags) | sources.wakes.woken != 0
    }

    /// The bits of threads that events have woken since the last call.
    pub fn take_woken(&mut self) -> u64 {
        if self.tree.files.watched_ended {
            self.end_watches();
        }
        core::mem::take(&mut self.sources.wakes.woken)
    }
}
