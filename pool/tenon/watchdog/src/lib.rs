//! A watchdog for threads.
//!
//! A thread that must not hang takes a [`Watch`] and checks in at least once per period. If it does
//! not, the image ends: the console names the thread, and under Mortise the VM faults, so that it
//! is stopped or restarted as its system says (`on_fault`).
//!
//! Guarantees: no allocation; at most [`WATCHES`] watches at a time. Checking in stores the time
//! and does nothing else. One timer serves all watches: its handler examines each of them, so that
//! its time is bounded, and expires no more often than once per shortest period. A missed check-in
//! is detected at the end of its period, unless interrupts are masked. A core that never takes an
//! interrupt is not detected.
//!
//! ```no_run
//! use tenon_thread::time::Duration;
//! use tenon_watchdog::Watch;
//!
//! let watch = Watch::start(Duration::from_millis(5))?;
//! loop {
//!     /* one step */
//!     watch.check_in();
//! }
//! # Ok::<(), tenon_watchdog::Error>(())
//! ```

#![no_std]
#![forbid(unsafe_code)]

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use tenon_thread::thread::{self, Thread};
use tenon_thread::time::{Duration, Instant, Timer};
use tenon_thread::wait::Guarded;

/// Maximum number of watches, of all threads.
pub const WATCHES: usize = 16;

/// Error of [`Watch::start`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// [`WATCHES`] watches are in use.
    TooMany,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooMany => "all watches of the watchdog are taken",
        })
    }
}

impl core::error::Error for Error {}

/// A watched thread.
struct Entry {
    thread: Cell<Option<&'static Thread>>,
    period: Cell<Duration>,
    /// Deadline of its next check-in.
    deadline: Cell<Instant>,
}

impl Entry {
    const fn new() -> Self {
        Self {
            thread: Cell::new(None),
            period: Cell::new(Duration::ZERO),
            deadline: Cell::new(Instant::from_nanoseconds(0)),
        }
    }

    fn check_in(&self, now: Instant) {
        self.deadline.set(now + self.period.get());
    }
}

/// Result of examining all watches.
#[derive(Debug, PartialEq, Eq)]
enum Look<T> {
    /// This thread has missed its deadline.
    Missed(T),
    /// The earliest deadline, if any.
    Next(Option<Instant>),
}

/// The watched threads and their deadlines.
fn look<T>(watched: impl Iterator<Item = (T, Instant)>, now: Instant) -> Look<T> {
    let mut next = None;
    for (thread, deadline) in watched {
        if deadline < now {
            return Look::Missed(thread);
        }
        next = Some(next.map_or(deadline, |next: Instant| next.min(deadline)));
    }
    Look::Next(next)
}

static ENTRIES: Guarded<[Entry; WATCHES]> = Guarded::new([const { Entry::new() }; WATCHES]);
static TIMER: Timer = Timer::new(look_at_all);

/// Ends the image if a thread has missed its deadline; otherwise arms the timer for the earliest
/// one.
fn look_at_all() {
    let found = ENTRIES.masked(|entries, _| {
        let watched = entries.iter();
        let watched = watched.filter_map(|entry| Some((entry.thread.get()?, entry.deadline.get())));
        look(watched, Instant::now())
    });
    match found {
        Look::Missed(thread) => tenon_thread::abort("no check-in with the watchdog", thread),
        Look::Next(Some(instant)) => TIMER.start(instant + TICK),
        Look::Next(None) => {}
    }
}

/// A deadline is missed after its instant, not at it.
const TICK: Duration = Duration::from_micros(1);

/// A watch of a thread; dropping it ends the watch.
#[derive(Debug)]
pub struct Watch {
    index: usize,
    /// It belongs to its thread.
    own: PhantomData<*const ()>,
}

impl Watch {
    /// Watches the current thread, which must check in within `period` from now, and from each
    /// check-in on.
    pub fn start(period: Duration) -> Result<Self, Error> {
        let thread = thread::current();
        let index = ENTRIES.masked(|entries, _| {
            let free = |entry: &Entry| entry.thread.get().is_none();
            let index = entries.iter().position(free)?;
            let entry = entries.get(index)?;
            entry.thread.set(Some(thread));
            entry.period.set(period);
            entry.check_in(Instant::now());
            Some(index)
        });
        let index = index.ok_or(Error::TooMany)?;
        look_at_all();
        Ok(Self {
            index,
            own: PhantomData,
        })
    }

    /// Checks in: the thread makes progress.
    pub fn check_in(&self) {
        let now = Instant::now();
        self.entry(|entry| entry.check_in(now));
    }

    fn entry(&self, action: impl FnOnce(&Entry)) {
        ENTRIES.masked(|entries, _| {
            if let Some(entry) = entries.get(self.index) {
                action(entry);
            }
        });
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.entry(|entry| entry.thread.set(None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_deadline_is_found_and_the_timer_is_armed_for_the_next_one() {
        let at = Instant::from_nanoseconds;
        let watched = [("a", at(50)), ("b", at(30)), ("c", at(40))];
        let look = |now| look(watched.into_iter(), at(now));
        assert_eq!(look(30), Look::Next(Some(at(30))), "in time to the last");
        assert_eq!(look(31), Look::Missed("b"));
        assert_eq!(look(99), Look::Missed("a"));
        let nobody = super::look(core::iter::empty::<((), _)>(), at(7));
        assert_eq!(nobody, Look::Next(None));
    }
}
