//! Signals that are pending, for a thread or for the program.

use core::cell::Cell;
use core::ffi::c_int;
use core_list::{Link, Linked, List};

/// A set of signals: bit *n* is signal *n* (`sigset_t`).
pub type Set = u64;

/// What a handler is told of its signal: `siginfo_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Information {
    /// `si_signo`.
    pub signal: c_int,
    /// `si_code`: where it is from.
    pub code: c_int,
    /// `si_errno`: none.
    pub errno: c_int,
    /// `si_pid`: who sent it.
    pub process: c_int,
    /// `si_value`: what its sender gave it along.
    pub value: usize,
}

/// A signal that waits in line with what it carries.
pub struct Entry {
    link: Link<&'static Entry>,
    information: Cell<Information>,
    /// Called when it has been taken, or is not wanted any more.
    taken: Cell<fn(&'static Entry)>,
}

// SAFETY: touched behind `LOCK` alone.
unsafe impl Sync for Entry {}

impl Entry {
    /// An entry that calls `taken` whenever it has been taken, behind `LOCK`.
    pub const fn new(taken: fn(&'static Entry)) -> Self {
        Self {
            link: Link::new(),
            information: Cell::new(Information {
                signal: 0,
                code: 0,
                errno: 0,
                process: 0,
                value: 0,
            }),
            taken: Cell::new(taken),
        }
    }

    /// What it carries, while it waits for nobody.
    pub fn set(&self, information: Information) {
        self.information.set(information);
    }

    /// What it carries.
    pub fn information(&self) -> Information {
        self.information.get()
    }

    /// Whether it waits in line.
    pub fn is_pending(&'static self) -> bool {
        self.is_linked()
    }

    /// Says that nobody will take it any more, or that somebody has.
    pub fn release(&'static self) {
        (self.taken.get())(self);
    }
}

impl Linked for &'static Entry {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

/// What is pending. A signal without anything to carry is a bit, the others wait in line.
pub struct Pending {
    plain: Cell<Set>,
    line: List<&'static Entry>,
    /// All that is pending.
    set: Cell<Set>,
}

impl Pending {
    /// Nothing.
    pub const fn new() -> Self {
        Self {
            plain: Cell::new(0),
            line: List::new(),
            set: Cell::new(0),
        }
    }

    /// All that is pending.
    pub fn set(&self) -> Set {
        self.set.get()
    }

    /// Adds a signal that carries nothing, once.
    pub fn add(&self, signal: u32) {
        self.plain.set(self.plain.get() | 1 << signal);
        self.set.set(self.set.get() | 1 << signal);
    }

    /// Adds a signal behind the others of its number.
    pub fn queue(&self, entry: &'static Entry) {
        self.line.push(entry);
        let bit = 1 << entry.information().signal;
        self.set.set(self.set.get() | bit);
    }

    /// Takes the one of the lowest number among those, the oldest of its number.
    pub fn take(&self, among: Set) -> Option<Information> {
        let ready = self.set.get() & among;
        if ready == 0 {
            return None;
        }
        let signal = ready.trailing_zeros() as c_int;
        let bit = 1 << signal;
        let is_it = |entry: &&'static Entry| entry.information().signal == signal;
        let entry = self.line.iter().find(is_it);
        let information = match entry {
            Some(entry) => {
                self.line.remove(entry);
                let information = entry.information();
                entry.release();
                information
            }
            None => {
                self.plain.set(self.plain.get() & !bit);
                Information {
                    signal,
                    code: USER,
                    process: PROCESS,
                    ..Information::default()
                }
            }
        };
        let more = self.plain.get() & bit != 0 || self.line.iter().any(|entry| is_it(&entry));
        if !more {
            self.set.set(self.set.get() & !bit);
        }
        Some(information)
    }

    /// Forgets those signals.
    pub fn forget(&self, set: Set) {
        while self.take(set).is_some() {}
    }
}

impl Default for Pending {
    fn default() -> Self {
        Self::new()
    }
}

/// `SI_USER`: sent by `kill` and the like.
pub const USER: c_int = 1;
/// The only process there is.
pub const PROCESS: c_int = 1;

/// What a thread has to do with signals.
pub struct Signals {
    /// Those that are not for it at present.
    pub blocked: Cell<Set>,
    /// Those it waits for, in `sigwait` and the like.
    pub accepted: Cell<Set>,
    /// Those that are for it alone.
    pub pending: Pending,
    /// A handler ran since the thread set out to wait for one, wherever that was.
    pub handled: Cell<bool>,
}

impl Signals {
    /// A thread's that blocks nothing.
    pub const fn new() -> Self {
        Self {
            blocked: Cell::new(0),
            accepted: Cell::new(0),
            pending: Pending::new(),
            handled: Cell::new(false),
        }
    }

    /// Those of a new thread, which blocks what its maker does. To be called behind `LOCK`.
    pub(crate) fn reset(&self, blocked: Set) {
        self.blocked.set(blocked);
        self.accepted.set(0);
        self.pending.forget(Set::MAX);
    }
}

impl Default for Signals {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::boxed::Box;
    use std::vec::Vec;

    fn entry(signal: c_int, value: usize) -> &'static Entry {
        let entry = Box::leak(Box::new(Entry::new(|_| {})));
        entry.set(Information {
            signal,
            value,
            ..Information::default()
        });
        entry
    }

    proptest! {
        #[test]
        fn signals_are_taken_by_number_then_age(
            operations in prop::collection::vec((0..3u8, 1..6i32, any::<u8>()), 1..80),
        ) {
            let pending = Pending::new();
            let mut line: Vec<(c_int, usize)> = Vec::new();
            let mut plain: Set = 0;
            for (value, (operation, signal, mask)) in operations.into_iter().enumerate() {
                match operation {
                    0 => {
                        pending.queue(entry(signal, value + 1));
                        line.push((signal, value + 1));
                    }
                    1 => {
                        pending.add(signal as u32);
                        plain |= 1 << signal;
                    }
                    _ => {
                        let among = Set::from(mask);
                        let first = (1..6).find(|&signal| {
                            among & 1 << signal != 0
                                && (plain & 1 << signal != 0
                                    || line.iter().any(|one| one.0 == signal))
                        });
                        let expected = first.map(|signal| {
                            match line.iter().position(|one| one.0 == signal) {
                                Some(place) => line.remove(place),
                                None => {
                                    plain &= !(1 << signal);
                                    (signal, 0)
                                }
                            }
                        });
                        let taken = pending.take(among).map(|one| (one.signal, one.value));
                        prop_assert_eq!(taken, expected);
                    }
                }
                let set = line.iter().fold(plain, |set, one| set | 1 << one.0);
                prop_assert_eq!(pending.set(), set);
            }
        }
    }
}
