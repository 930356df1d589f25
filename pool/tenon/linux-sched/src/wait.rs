//! Waits of threads for words.

use tenon_process::{Caller, Errno, Key, State, with_state};
use tenon_thread::time::Instant;

/// Two words, each with how many waits it concerns.
pub(crate) type Words = ((usize, u32), (usize, u32));

/// Waits while a word has a value, until the thread is woken with one of `bits`. `EAGAIN` if the word
/// has another value, `ETIMEDOUT` at the deadline.
pub(crate) fn wait(
    caller: &Caller,
    (address, value): (usize, u32),
    bits: u32,
    deadline: Option<Instant>,
) -> Result<u64, Errno> {
    let (slot, _) = caller.slot();
    let mut begun = false;
    let woken = caller.wait_event(deadline, |state| {
        if begun {
            return Ok(state.is_futex_woken(slot)?.then_some(()));
        }
        let (key, word) = state.key_and_word(slot, address)?;
        if word != value {
            return Err(Errno::EAGAIN);
        }
        begun = true;
        state.begin_futex_wait(slot, (key, bits), None)?;
        Ok(None)
    });
    if matches!(woken, Ok(Some(()))) || !begun {
        return woken.map(|_| 0);
    }
    // A wake-up that came with the end of the wait counts.
    match with_state(|state| state.end_futex_wait(slot))? {
        true => Ok(0),
        false => woken.and(Err(Errno::ETIMEDOUT)),
    }
}

/// Wakes threads that wait for a word with one of `bits`; returns how many. `EINVAL` for a word that is
/// a lock with priority inheritance.
pub(crate) fn wake(
    state: &mut State,
    caller: &Caller,
    (address, most): (usize, u32),
    bits: u32,
) -> Result<u32, Errno> {
    let key = state.key(caller.slot().0, address)?;
    if state.scheduler.schedules.first(key).is_some() {
        return Err(Errno::EINVAL);
    }
    let Some(first) = state.first_waiter(key, u32::MAX) else {
        return Ok(state.wake_vectors(key, most));
    };
    if state
        .futex_wait(first)
        .is_some_and(|wait| wait.lock.is_some())
    {
        return Err(Errno::EINVAL);
    }
    if (most, bits) == (1, u32::MAX) {
        state.wake_waiter(first);
        return Ok(1);
    }
    Ok(state.wake_futex(key, most, bits))
}

/// Wakes threads that wait for the first word, and has others wait for the second one; returns how
/// many it woke, and how many it moved. `EAGAIN` if the first word has not the value stated.
pub(crate) fn requeue(
    state: &mut State,
    caller: &Caller,
    (first, second): Words,
    value: Option<u32>,
) -> Result<(u32, u32), Errno> {
    let (slot, _) = caller.slot();
    let (from, to) = (state.key(slot, first.0)?, state.key(slot, second.0)?);
    if let Some(value) = value
        && state.word(slot, first.0)? != value
    {
        return Err(Errno::EAGAIN);
    }
    if first_is_for_lock(state, from) {
        return Err(Errno::EINVAL);
    }
    let woken = state.wake_futex(from, first.1, u32::MAX);
    Ok((woken, state.requeue_futex(from, to, second.1)))
}

/// Whether the first thread that waits for a word is to have a lock then.
fn first_is_for_lock(state: &State, key: Key) -> bool {
    let first = state.first_waiter(key, u32::MAX);
    let wait = first.and_then(|place| state.futex_wait(place));
    wait.is_some_and(|wait| wait.lock.is_some())
}
