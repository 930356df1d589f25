//! Waits of threads for a change of the state, for an event, or for a time.

use super::{State, with_state};
use crate::slot::Slot;
use crate::thread::Waiting;
use tenon_program::Errno;
use tenon_thread::time::Instant;

/// Calls `attempt` until it has a result; in between, waits for a change of the state. `EINTR` once
/// the thread is to end.
pub fn wait<R>(
    slot: &'static Slot,
    attempt: impl FnMut(&mut State) -> Result<Option<R>, Errno>,
) -> Result<R, Errno> {
    wait_until(slot, None, Waiting::Change, attempt)?.ok_or(Errno::EINTR)
}

/// As [`wait`], at the latest until `deadline`, and woken by what `waiting` states. `None` if nothing
/// was there at the deadline.
pub fn wait_until<R>(
    slot: &'static Slot,
    deadline: Option<Instant>,
    waiting: Waiting,
    mut attempt: impl FnMut(&mut State) -> Result<Option<R>, Errno>,
) -> Result<Option<R>, Errno> {
    loop {
        let result = with_state(|state| {
            let result = attempt(state);
            if matches!(result, Ok(None)) {
                if slot.is_ended() {
                    return Err(Errno::EINTR);
                }
                state.thread(slot)?.waiting = waiting;
            }
            result
        })?;
        if result.is_some() {
            return Ok(result);
        }
        if !slot.block(deadline) {
            return with_state(|state| {
                state.thread(slot)?.waiting = Waiting::No;
                // A wake-up at the moment of the deadline.
                slot.forget_wake();
                attempt(state)
            });
        }
    }
}

impl State {
    /// Wakes all threads that wait for a change.
    pub fn wake(&mut self) {
        for (thread, slot) in self.threads.iter_mut().zip(super::slots()) {
            if let Some(thread) = thread
                && thread.waiting == Waiting::Change
            {
                thread.waiting = Waiting::No;
                slot.wake();
            }
        }
    }

    /// Wakes the thread in a slot, whatever it waits for.
    pub fn wake_thread(&mut self, index: usize) {
        if let Some(thread) = self.threads.get_mut(index).and_then(Option::as_mut)
            && core::mem::take(&mut thread.waiting) != Waiting::No
            && let Some(slot) = super::slots().get(index)
        {
            slot.wake();
        }
    }
}
