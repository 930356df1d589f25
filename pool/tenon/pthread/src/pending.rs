//! Pending signals of a thread or of the program.

use core::cell::Cell;
use core::ffi::c_int;
use core_list::{Link, Linked, List};

/// A set of signals: bit *n* is signal *n* (`sigset_t`).
pub type Set = u64;

/// Information about a signal for its handler: `siginfo_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SigInfo {
    /// `si_signo`.
    pub signal: c_int,
    /// `si_code`: the source.
    pub code: c_int,
    /// `si_errno`: always 0.
    pub errno: c_int,
    /// `si_pid`: the sender.
    pub process: c_int,
    /// `si_value`: the value of the sender.
    pub value: usize,
}

/// A queued signal with its information.
pub struct QueuedSignal {
    link: Link<&'static QueuedSignal>,
    information: Cell<SigInfo>,
    /// Called when the signal was taken or is discarded.
    taken: Cell<fn(&'static QueuedSignal)>,
}

// SAFETY: all fields are accessed with `LOCK` held.
unsafe impl Sync for QueuedSignal {}

impl QueuedSignal {
    /// A signal that calls `taken` whenever it was taken or discarded, with `LOCK` held.
    pub const fn new(taken: fn(&'static QueuedSignal)) -> Self {
        Self {
            link: Link::new(),
            information: Cell::new(SigInfo {
                signal: 0,
                code: 0,
                errno: 0,
                process: 0,
                value: 0,
            }),
            taken: Cell::new(taken),
        }
    }

    /// Sets the information of a signal that is not queued.
    pub fn set(&self, information: SigInfo) {
        self.information.set(information);
    }

    /// The information.
    pub fn information(&self) -> SigInfo {
        self.information.get()
    }

    /// Whether it is queued.
    pub fn is_pending(&'static self) -> bool {
        self.is_linked()
    }

    /// Reports that it was taken or discarded.
    pub fn release(&'static self) {
        (self.taken.get())(self);
    }
}

impl Linked for &'static QueuedSignal {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

/// Pending signals. Those without a value are bits, the others are queued.
pub struct Pending {
    plain: Cell<Set>,
    line: List<&'static QueuedSignal>,
    /// The union of both.
    set: Cell<Set>,
}

impl Pending {
    /// No pending signals.
    pub const fn new() -> Self {
        Self {
            plain: Cell::new(0),
            line: List::new(),
            set: Cell::new(0),
        }
    }

    /// The set of pending signals.
    pub fn set(&self) -> Set {
        self.set.get()
    }

    /// Makes a signal without a value pending.
    pub fn add(&self, signal: u32) {
        self.plain.set(self.plain.get() | 1 << signal);
        self.set.set(self.set.get() | 1 << signal);
    }

    /// Queues a signal behind those of the same number.
    pub fn queue(&self, entry: &'static QueuedSignal) {
        self.line.push(entry);
        let bit = 1 << entry.information().signal;
        self.set.set(self.set.get() | bit);
    }

    /// Takes the pending signal with the lowest number in the set `among`, the oldest of its
    /// number.
    pub fn take(&self, among: Set) -> Option<SigInfo> {
        let ready = self.set.get() & among;
        if ready == 0 {
            return None;
        }
        let signal = ready.trailing_zeros() as c_int;
        let bit = 1 << signal;
        let is_it = |entry: &&'static QueuedSignal| entry.information().signal == signal;
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
                SigInfo {
                    signal,
                    code: USER,
                    process: PROCESS,
                    ..SigInfo::default()
                }
            }
        };
        let more = self.plain.get() & bit != 0 || self.line.iter().any(|entry| is_it(&entry));
        if !more {
            self.set.set(self.set.get() & !bit);
        }
        Some(information)
    }

    /// Discards the pending signals of a set.
    pub fn forget(&self, set: Set) {
        while self.take(set).is_some() {}
    }
}

impl Default for Pending {
    fn default() -> Self {
        Self::new()
    }
}

/// `SI_USER`: sent by `kill` or the like.
pub const USER: c_int = 1;
/// The number of the only process.
pub const PROCESS: c_int = 1;

/// Signal state of a thread.
pub struct Signals {
    /// The signal mask.
    pub blocked: Cell<Set>,
    /// Signals that the thread waits for in `sigwait` or the like.
    pub accepted: Cell<Set>,
    /// Signals directed at this thread.
    pub pending: Pending,
    /// A handler has run since the thread began to wait for one.
    pub handled: Cell<bool>,
}

impl Signals {
    /// The state of a thread with an empty mask.
    pub const fn new() -> Self {
        Self {
            blocked: Cell::new(0),
            accepted: Cell::new(0),
            pending: Pending::new(),
            handled: Cell::new(false),
        }
    }

    /// Resets the state for a new thread, which inherits the mask of its creator. The caller holds
    /// `LOCK`.
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

    fn entry(signal: c_int, value: usize) -> &'static QueuedSignal {
        let entry = Box::leak(Box::new(QueuedSignal::new(|_| {})));
        entry.set(SigInfo {
            signal,
            value,
            ..SigInfo::default()
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
