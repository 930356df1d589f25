//! Futexes of the thread that calls.

use super::Caller;
use crate::state::{State, WakeOperation, wait_until};
use crate::thread::Waiting;
use tenon_program::Errno;
use tenon_thread::time::Instant;

/// Two words, each with how many waits it concerns.
pub type Words = ((usize, u32), (usize, u32));

impl Caller {
    /// Waits while a word has a value, until the thread is woken with one of `bits`. `EAGAIN` if the
    /// word has another value, `ETIMEDOUT` at the deadline.
    pub fn wait_futex(
        &self,
        (address, value): (usize, u32),
        bits: u32,
        deadline: Option<Instant>,
    ) -> Result<(), Errno> {
        let mut begun = false;
        let woken = wait_until(self.slot, deadline, Waiting::Event, |state| {
            if begun {
                return Ok(state.is_futex_woken(self.slot)?.then_some(()));
            }
            let key = state.key(self.slot, address)?;
            if state.word(self.slot, address)? != value {
                return Err(Errno::EAGAIN);
            }
            begun = true;
            state.begin_futex_wait(self.slot, key, bits)?;
            Ok(None)
        });
        if matches!(woken, Ok(Some(()))) || !begun {
            return woken.map(drop);
        }
        // A wake-up that came with the end of the wait counts.
        match super::with_state(|state| state.end_futex_wait(self.slot))? {
            true => Ok(()),
            false => woken.and(Err(Errno::ETIMEDOUT)),
        }
    }

    /// Wakes threads that wait for a word with one of `bits`; returns how many.
    pub fn wake_futex(
        &self,
        state: &mut State,
        (address, most): (usize, u32),
        bits: u32,
    ) -> Result<u32, Errno> {
        let key = state.key(self.slot, address)?;
        Ok(state.wake_futex(key, most, bits))
    }

    /// Wakes threads that wait for the first word, and has others wait for the second one; returns
    /// how many it woke, and how many it moved. `EAGAIN` if the first word has not the value stated.
    pub fn requeue_futex(
        &self,
        state: &mut State,
        (first, second): Words,
        value: Option<u32>,
    ) -> Result<(u32, u32), Errno> {
        let (from, to) = (
            state.key(self.slot, first.0)?,
            state.key(self.slot, second.0)?,
        );
        if let Some(value) = value
            && state.word(self.slot, first.0)? != value
        {
            return Err(Errno::EAGAIN);
        }
        let woken = state.wake_futex(from, first.1, u32::MAX);
        Ok((woken, state.requeue_futex(from, to, second.1)))
    }

    /// [Changes](State::wake_operation) a word, and wakes threads.
    pub fn wake_operation(
        &self,
        state: &mut State,
        words: Words,
        operation: WakeOperation,
    ) -> Result<u32, Errno> {
        state.wake_operation(self.slot, words, operation)
    }
}
