//! Locks with priority inheritance, by words that have the number of their owner.

use crate::wait::Words;
use tenon_process::schedule::{OWNER, Outcome};
use tenon_process::{Caller, Errno, Key, State, with_state};
use tenon_thread::time::Instant;

/// Attempts a lock for the thread at a place; the caller reaches its word at `address`. Returns
/// whether it owns it, else it is to wait for the thread of the number.
fn attempt(
    state: &mut State,
    caller: &Caller,
    place: usize,
    address: usize,
) -> Result<Outcome, Errno> {
    let (slot, _) = caller.slot();
    let key = state.key(slot, address)?;
    loop {
        let word = state.word(slot, address)?;
        let attempt = state.scheduler.schedules.attempt(place, key, word);
        let write = |now: u32| (now == word).then_some(attempt.word);
        // Other threads of the process change the word at any time.
        if state.change_word(slot, address, write)? == word {
            return attempt.outcome;
        }
    }
}

/// Has the thread at a place wait for a lock, and its owner inherit.
fn begin(state: &mut State, place: usize, lock: (Key, usize), owner: u32) {
    state.scheduler.schedules.wait(place, lock, owner);
    state.scheduler.assign();
}

/// `FUTEX_LOCK_PI`, `FUTEX_LOCK_PI2`.
pub(crate) fn lock(
    caller: &Caller,
    address: usize,
    deadline: Option<Instant>,
) -> Result<u64, Errno> {
    let (_, place) = caller.slot();
    let mut begun = false;
    let owned = caller.wait_event(deadline, |state| {
        if begun {
            return Ok((!state.scheduler.schedules.waits(place)).then_some(()));
        }
        match attempt(state, caller, place, address)? {
            Outcome::Owns => Ok(Some(())),
            Outcome::Waits(owner) => {
                begun = true;
                let key = state.key(caller.slot().0, address)?;
                begin(state, place, (key, address), owner);
                Ok(None)
            }
        }
    });
    if !begun {
        return owned.map(|_| 0);
    }
    end(place, owned)
}

/// The result of a wait for a lock: a lock that was handed over at the end of the wait counts.
fn end(place: usize, owned: Result<Option<()>, Errno>) -> Result<u64, Errno> {
    with_state(|state| {
        if !state.scheduler.schedules.leave(place) {
            return Ok(0);
        }
        state.scheduler.assign();
        owned.and(Err(Errno::ETIMEDOUT))
    })
}

/// `FUTEX_TRYLOCK_PI`.
pub(crate) fn try_lock(caller: &Caller, address: usize) -> Result<u64, Errno> {
    with_state(
        |state| match attempt(state, caller, caller.slot().1, address)? {
            Outcome::Owns => Ok(0),
            Outcome::Waits(_) => Err(Errno::EAGAIN),
        },
    )
}

/// `FUTEX_UNLOCK_PI`: the first waiter owns the lock then.
pub(crate) fn unlock(caller: &Caller, address: usize) -> Result<u64, Errno> {
    let own = caller.number();
    with_state(|state| {
        let (slot, _) = caller.slot();
        let key = state.key(slot, address)?;
        if state.word(slot, address)? & OWNER != own {
            return Err(Errno::EPERM);
        }
        let schedules = &state.scheduler.schedules;
        let heir = schedules.heir(key, false);
        if heir.is_some_and(|(heir, _)| schedules.owner(heir) != Some(own))
            || heir.is_none() && state.first_waiter(key, u32::MAX).is_some()
        {
            return Err(Errno::EINVAL);
        }
        let new = heir.map_or(0, |(_, word)| word);
        let write = |word: u32| (word & OWNER == own).then_some(new);
        if state.change_word(slot, address, write)? & OWNER != own {
            return Err(Errno::EINVAL);
        }
        if let Some((heir, _)) = heir {
            state.scheduler.schedules.hand_over(heir);
            state.wake_thread(heir);
            state.scheduler.assign();
        }
        Ok(0)
    })
}

/// `FUTEX_WAIT_REQUEUE_PI`: waits for the first word until another thread has this one wait for the
/// lock, and for that.
pub(crate) fn wait_requeue(
    caller: &Caller,
    (address, value): (usize, u32),
    lock: usize,
    deadline: Option<Instant>,
) -> Result<u64, Errno> {
    let (slot, place) = caller.slot();
    if address == lock {
        return Err(Errno::EINVAL);
    }
    let mut begun = false;
    let owned = caller.wait_event(deadline, |state| {
        if begun {
            let waits = state.scheduler.schedules.waits(place);
            return Ok((state.is_futex_woken(slot)? && !waits).then_some(()));
        }
        let (key, to) = (state.key(slot, address)?, state.key(slot, lock)?);
        if key == to {
            return Err(Errno::EINVAL);
        }
        if state.word(slot, address)? != value {
            return Err(Errno::EAGAIN);
        }
        begun = true;
        state.begin_futex_wait(slot, (key, u32::MAX), Some((to, lock)))?;
        Ok(None)
    });
    if !begun {
        return owned.map(|_| 0);
    }
    // It still waits for the word, or for the lock, or has it.
    match with_state(|state| state.end_futex_wait(slot))? {
        true => end(place, owned),
        false => owned.and(Err(Errno::ETIMEDOUT)),
    }
}

/// `FUTEX_CMP_REQUEUE_PI`: the first waiter for a word gets the lock if that is free, and others wait
/// for it. Returns how many that were.
pub(crate) fn requeue(caller: &Caller, (from, to): Words, value: u32) -> Result<u64, Errno> {
    with_state(|state| {
        let (slot, _) = caller.slot();
        let (key, lock) = (state.key(slot, from.0)?, state.key(slot, to.0)?);
        if key == lock {
            return Err(Errno::EINVAL);
        }
        if state.word(slot, from.0)? != value {
            return Err(Errno::EAGAIN);
        }
        let mut moved = 0;
        // One thread that gets the lock, beside those that wait for it.
        while moved <= to.1
            && let Some(place) = state.first_waiter(key, u32::MAX)
        {
            let wanted = state.futex_wait(place).and_then(|wait| wait.lock);
            let Some(wanted) = wanted.filter(|(key, _)| *key == lock) else {
                return Err(Errno::EINVAL);
            };
            match attempt(state, caller, place, to.0) {
                Ok(Outcome::Owns) => {
                    state.leave_futex(place);
                    state.wake_thread(place);
                }
                Ok(Outcome::Waits(_)) if moved == to.1 && moved > 0 => break,
                Ok(Outcome::Waits(owner)) => {
                    state.leave_futex(place);
                    begin(state, place, wanted, owner);
                }
                Err(error) if moved == 0 => return Err(error),
                Err(_) => break,
            }
            moved += 1;
        }
        Ok(moved.into())
    })
}
