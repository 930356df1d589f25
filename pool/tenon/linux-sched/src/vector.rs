//! [`futex_waitv`]: a wait for several words.

use crate::futex::deadline_at;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, State, with_state};

/// Words of a call at most.
const WORDS: usize = 128;
/// Bytes of `struct futex_waitv`.
const SIZE: usize = 24;

/// Has the caller wait for all words of a vector. `EAGAIN` if one has another value.
fn begin(state: &mut State, caller: &Caller, vector: usize, count: usize) -> Result<(), Errno> {
    /// `FUTEX2_SIZE_U32` and `FUTEX2_PRIVATE`.
    const SIZE_OF_WORD: u32 = 2;
    const PRIVATE: u32 = 128;
    let (slot, place) = caller.slot();
    for index in 0..count {
        let mut bytes = [[0; 8]; 3];
        let from = vector.wrapping_add(index * SIZE);
        user_memory::read(state, caller, from, bytes.as_flattened_mut())?;
        let [value, address, flags] = bytes.map(u64::from_le_bytes);
        if flags >> 32 != 0 || flags as u32 & !PRIVATE != SIZE_OF_WORD {
            return Err(Errno::EINVAL);
        }
        let key = state.key(slot, address as usize)?;
        if u64::from(state.word(slot, address as usize)?) != value {
            return Err(Errno::EAGAIN);
        }
        let word = (key, index as u32);
        state.vectors.add(place, word, &mut state.frames)?;
    }
    Ok(())
}

/// `futex_waitv`: the index of the word by which the caller was woken.
pub fn futex_waitv(caller: &Caller) -> Result<u64, Errno> {
    /// `CLOCK_REALTIME` and `CLOCK_MONOTONIC`.
    const DATE: i32 = 0;
    const START: i32 = 1;
    let (vector, count) = (caller.address(0), caller.argument(1) as u32 as usize);
    if caller.argument(2) as u32 != 0 || !(1..=WORDS).contains(&count) || vector == 0 {
        return Err(Errno::EINVAL);
    }
    let deadline = match (caller.address(3), caller.int(4)) {
        (0, _) => None,
        (from, clock @ (DATE | START)) => Some(deadline_at(from, caller, clock == DATE)?),
        _ => return Err(Errno::EINVAL),
    };
    let (slot, place) = caller.slot();
    let mut begun = false;
    let woken = caller.wait_event(deadline, |state| {
        if begun {
            return Ok(state.is_futex_woken(slot)?.then_some(()));
        }
        if let Err(error) = begin(state, caller, vector, count) {
            state.vectors.end(place, &mut state.frames);
            return Err(error);
        }
        begun = true;
        state.begin_vector_wait(slot)?;
        Ok(None)
    });
    if !begun {
        return woken.map(|_| 0);
    }
    with_state(|state| {
        state.vectors.end(place, &mut state.frames);
        // A wake-up that came with the end of the wait counts.
        if state.end_futex_wait(slot)? {
            return Ok(caller.thread(state)?.woken_by.into());
        }
        woken.and(Err(Errno::ETIMEDOUT))
    })
}
