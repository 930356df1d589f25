//! Event flags.

use crate::Error;
use core::cell::Cell;
use core::ptr;
use tenon_thread::time::Instant;
use tenon_thread::wait::{Guarded, WaitQueue, WaitValue};

/// The flags that a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    flags: u32,
    all: bool,
    taking: bool,
}

impl Wanted {
    /// Any of `flags`.
    pub const fn any(flags: u32) -> Self {
        Self {
            flags,
            all: false,
            taking: false,
        }
    }

    /// All of `flags` at once.
    pub const fn all(flags: u32) -> Self {
        Self {
            flags,
            all: true,
            taking: false,
        }
    }

    /// Clears those flags that end the wait.
    #[must_use]
    pub const fn clearing(self) -> Self {
        Self {
            taking: true,
            ..self
        }
    }

    /// The former name of [`clearing`](Wanted::clearing).
    #[deprecated(note = "renamed to `clearing`")]
    #[must_use]
    pub const fn taking(self) -> Self {
        self.clearing()
    }

    /// The wanted flags in the set `set`, if they satisfy the wait.
    fn among(self, set: u32) -> Option<u32> {
        let found = set & self.flags;
        let enough = if self.all {
            found == self.flags
        } else {
            found != 0
        };
        enough.then_some(found)
    }

    /// Encoding in one word: 32 flags and two bits above.
    fn note(self) -> WaitValue {
        let modes = usize::from(self.all) << 32 | usize::from(self.taking) << 33;
        ptr::without_provenance(self.flags as usize | modes)
    }

    fn of_note(note: WaitValue) -> Self {
        let word = note.addr();
        Self {
            flags: word as u32,
            all: word >> 32 & 1 != 0,
            taking: word >> 33 & 1 != 0,
        }
    }
}

struct State {
    set: Cell<u32>,
    waiters: WaitQueue,
}

impl State {
    /// The flags found, cleared if requested.
    #[inline(always)]
    fn find(&self, wanted: Wanted) -> Option<u32> {
        let found = wanted.among(self.set.get())?;
        if wanted.taking {
            self.set.set(self.set.get() & !found);
        }
        Some(found)
    }
}

/// Thirty-two event flags; threads wait for any or all of a subset.
///
/// Setting flags wakes all threads with a satisfied wait, the most urgent first; flags that one of
/// them clears are not seen by those behind it. This takes one step for each waiting thread, with
/// interrupts masked.
///
/// ```no_run
/// use tenon_sync::{EventFlags, Wanted};
///
/// const RECEIVED: u32 = 1 << 0;
/// const STOPPED: u32 = 1 << 1;
/// static EVENTS: EventFlags = EventFlags::new();
///
/// // In an interrupt handler:
/// EVENTS.set(RECEIVED);
/// // In a thread:
/// let events = EVENTS.wait(Wanted::any(RECEIVED | STOPPED).clearing());
/// if events & STOPPED != 0 { /* ... */ }
/// ```
pub struct EventFlags(Guarded<State>);

impl EventFlags {
    /// No flags set.
    pub const fn new() -> Self {
        Self(Guarded::new(State {
            set: Cell::new(0),
            waiters: WaitQueue::new(),
        }))
    }

    /// Sets `flags` in addition to those that are set; also from an interrupt handler.
    #[inline(always)]
    pub fn set(&self, flags: u32) {
        let waited_for = self.0.masked(|state, _| {
            state.set.set(state.set.get() | flags);
            !state.waiters.is_empty()
        });
        if waited_for {
            self.give_turns();
        }
    }

    /// Clears `flags`; also from an interrupt handler.
    #[inline(always)]
    pub fn clear(&self, flags: u32) {
        self.0
            .masked(|state, _| state.set.set(state.set.get() & !flags));
    }

    /// The flags that are set.
    #[inline(always)]
    pub fn get(&self) -> u32 {
        self.0.masked(|state, _| state.set.get())
    }

    /// The wanted flags, if they satisfy the wait; also from an interrupt handler.
    #[inline(always)]
    pub fn try_wait(&self, wanted: Wanted) -> Option<u32> {
        self.0.masked(|state, _| state.find(wanted))
    }

    /// Waits for the wanted flags; returns those of them that are set.
    #[inline(always)]
    pub fn wait(&'static self, wanted: Wanted) -> u32 {
        match self.try_wait(wanted) {
            Some(found) => found,
            // Without a deadline the wait cannot time out.
            None => self.wait_in_turn(wanted, None).unwrap_or_default(),
        }
    }

    /// Waits for the wanted flags until `deadline`.
    #[inline(always)]
    pub fn wait_until(&'static self, wanted: Wanted, deadline: Instant) -> Result<u32, Error> {
        match self.try_wait(wanted) {
            Some(found) => Ok(found),
            None => self.wait_in_turn(wanted, Some(deadline)),
        }
    }

    #[cold]
    fn give_turns(&self) {
        self.0.waking(|state, waking| {
            state.waiters.wake_each(waking, |note| {
                let found = state.find(Wanted::of_note(note))?;
                Some(ptr::without_provenance(found as usize))
            });
        });
    }

    #[cold]
    fn wait_in_turn(
        &'static self,
        wanted: Wanted,
        deadline: Option<Instant>,
    ) -> Result<u32, Error> {
        self.0.waiting(|state, waiting| {
            if let Some(found) = state.find(wanted) {
                return Ok(found);
            }
            let note = waiting.wait_with(|state| &state.waiters, deadline, wanted.note());
            note.map(|note| note.addr() as u32)
                .map_err(|_| Error::TimedOut)
        })
    }
}

impl Default for EventFlags {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wanted() -> impl Strategy<Value = Wanted> {
        (1..64u32, any::<bool>(), any::<bool>()).prop_map(|(flags, all, taking)| Wanted {
            flags,
            all,
            taking,
        })
    }

    proptest! {
        #[test]
        fn what_is_wanted_survives_as_a_note(wanted in wanted()) {
            prop_assert_eq!(Wanted::of_note(wanted.note()), wanted);
        }

        #[test]
        fn finds_what_a_set_of_flags_has(set in 0..64u32, wanted in wanted()) {
            let flags = EventFlags::new();
            flags.set(set);
            let is_set = |bit: &u32| set >> bit & 1 != 0;
            let mut bits = (0..6u32).filter(|bit| wanted.flags >> bit & 1 != 0);
            let enough = if wanted.all { bits.all(|bit| is_set(&bit)) } else { bits.any(|bit| is_set(&bit)) };
            let found = flags.try_wait(wanted);
            prop_assert_eq!(found, enough.then_some(set & wanted.flags));
            let left = if enough && wanted.taking { set & !wanted.flags } else { set };
            prop_assert_eq!(flags.get(), left);
            flags.clear(left);
            prop_assert_eq!(flags.get(), 0);
        }
    }
}
