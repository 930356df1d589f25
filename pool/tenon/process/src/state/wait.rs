//! Waits of threads for a change of the state, for an event, or for a time.

use super::{State, index_of, with_state};
use tenon_files::Side;
use tenon_process_slot::Waiting;
use tenon_process_slot::{Slot, slots};
use tenon_program::Errno;
use tenon_thread::time::Instant;

/// Calls `attempt` until it has a result; in between, waits for what `waiting` states, at the latest until
/// `deadline`. `None` if nothing was there at the deadline, `ERESTARTSYS` once the thread has a signal to
/// deliver.
pub fn wait_until<R>(
    slot: &'static Slot,
    deadline: Option<Instant>,
    waiting: Waiting,
    mut attempt: impl FnMut(&mut State) -> Result<Option<R>, Errno>,
) -> Result<Option<R>, Errno> {
    let first = with_state(|state| state.attempt(slot, (waiting, false), &mut attempt))?;
    match first {
        None => wait_on(slot, deadline, waiting, &mut attempt),
        result => Ok(result),
    }
}

/// As [`wait_until`], after a first [attempt](State::attempt) without a result.
pub fn wait_on<R>(
    slot: &'static Slot,
    deadline: Option<Instant>,
    waiting: Waiting,
    attempt: &mut impl FnMut(&mut State) -> Result<Option<R>, Errno>,
) -> Result<Option<R>, Errno> {
    let enlisted = waiting == Waiting::Source;
    while slot.block(deadline) {
        let result = with_state(|state| state.attempt(slot, (waiting, enlisted), &mut *attempt))?;
        if result.is_some() {
            return Ok(result);
        }
    }
    with_state(|state| {
        state.thread(slot)?.waiting = Waiting::No;
        // A wake-up at the moment of the deadline.
        slot.forget_wake();
        if enlisted {
            state.delist(slot)?;
        }
        let result = attempt(state);
        if !matches!(result, Ok(Some(_))) {
            state.leave_source(slot);
        }
        result
    })
}

impl State {
    /// Calls `attempt` for the calling thread, which waits from then on if there is no result: it goes on by
    /// [`wait_on`]. States whether it is enlisted at a source.
    #[inline]
    pub fn attempt<R>(
        &mut self,
        slot: &Slot,
        (waiting, enlisted): (Waiting, bool),
        mut attempt: impl FnMut(&mut Self) -> Result<Option<R>, Errno>,
    ) -> Result<Option<R>, Errno> {
        if slot.is_ended() {
            self.leave_source(slot);
            return Err(Errno::EINTR);
        }
        if enlisted {
            self.delist(slot)?;
        }
        let result = attempt(self);
        match result {
            Ok(Some(_)) => {}
            Ok(None) => self.begin_wait(slot, waiting)?,
            Err(_) if waiting == Waiting::Source => self.delist(slot)?,
            Err(_) => {}
        }
        result
    }

    #[inline]
    fn begin_wait(&mut self, slot: &Slot, waiting: Waiting) -> Result<(), Errno> {
        let (index, place) = self.indices(slot)?;
        if waiting != Waiting::Killable && self.signals.is_interrupted(index, place) {
            self.leave_source(slot);
            return Err(Errno::ERESTARTSYS);
        }
        self.thread(slot)?.waiting = waiting;
        Ok(())
    }

    /// Has the calling thread wait at a source, if its attempt has no result.
    pub fn enlist(&mut self, slot: &Slot, source: u32, side: Side) -> Result<(), Errno> {
        if side != Side::Poll {
            self.thread(slot)?.enlisted = Some((source, side));
        }
        self.files.enlist(source, side, index_of(slot));
        Ok(())
    }

    /// Ends the wait at a source, for the next attempt.
    fn delist(&mut self, slot: &Slot) -> Result<(), Errno> {
        if let Some((source, side)) = self.thread(slot)?.enlisted.take() {
            self.files.delist(source, side, index_of(slot));
        }
        Ok(())
    }

    /// Ends the wait at a source without a further attempt: the event that may have woken this thread
    /// wakes the next one.
    fn leave_source(&mut self, slot: &Slot) {
        let left = self.thread(slot).ok();
        if let Some((source, side)) = left.and_then(|thread| thread.enlisted.take()) {
            self.files.delist(source, side, index_of(slot));
            self.files.wake_next(source, side);
        }
    }

    /// Wakes the threads of these bits that wait at sources.
    #[cold]
    pub(super) fn wake_enlisted(&mut self, mut bits: u64) {
        while bits != 0 {
            let mut index = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            while let Some(thread) = self.threads.get_mut(index) {
                let waiting = thread.iter_mut();
                let waiting = waiting.filter(|thread| thread.waiting == Waiting::Source);
                waiting.for_each(|thread| thread.wake(index));
                index += u64::BITS as usize;
            }
        }
    }

    /// Wakes all threads that wait for a change.
    pub fn wake(&mut self) {
        for (thread, slot) in self.threads.iter_mut().zip(slots()) {
            if let Some(thread) = thread
                && matches!(thread.waiting, Waiting::Change | Waiting::Killable)
            {
                thread.waiting = Waiting::No;
                slot.wake();
            }
        }
    }

    /// Wakes the thread in a slot, whatever it waits for.
    pub fn wake_thread(&mut self, index: usize) {
        if let Some(thread) = self.threads.get_mut(index).and_then(Option::as_mut) {
            thread.wake(index);
        }
    }

    /// Wakes the thread in a slot, which waits for a futex no more.
    #[inline]
    pub fn wake_waiter(&mut self, index: usize) {
        if let Some(thread) = self.threads.get_mut(index).and_then(Option::as_mut) {
            thread.futex = None;
            thread.wake(index);
        }
    }
}
