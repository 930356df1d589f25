//! [`ppoll`] and [`pselect6`]: waiting for several descriptors.

use tenon_process::user_memory;
use tenon_process::{Caller, Errno, Side, State, ready, with_state};
use tenon_signal::Set;
use tenon_thread::time::Instant;

/// Events that are stated without being asked for.
const ALWAYS: u16 = ready::ERROR | ready::HANGUP | ready::INVALID;

/// The events of a descriptor; with none, the caller waits for them.
fn events(state: &mut State, caller: &Caller, number: i32, asked: u16) -> u16 {
    let found = caller.parts(state).and_then(|(process, _, files)| {
        let object = files.get(&process.descriptor(number)?.file)?.object;
        Ok(files.events(&object))
    });
    let Ok((events, source)) = found else {
        return ready::INVALID;
    };
    let events = events & (asked | ALWAYS);
    if events == 0
        && let Some(source) = source
    {
        // The calling thread exists.
        let _ = caller.enlist(state, source, Side::Poll);
    }
    events
}

/// When a wait ends, by the `struct timespec` at an address; `None` if it has no end.
fn deadline(caller: &Caller, from: usize) -> Result<Option<Instant>, Errno> {
    if from == 0 {
        return Ok(None);
    }
    let duration = crate::time::duration(caller, from)?;
    Ok(Some(Instant::now() + duration))
}

/// States how much of a timeout is left, as Linux does; an address that cannot be written is no error.
fn put_rest(caller: &Caller, deadline: Option<Instant>, to: usize) {
    const SECOND: u64 = 1_000_000_000;
    /// `STICKY_TIMEOUTS` of `personality`.
    const STICKY: u32 = 0x400_0000;
    let is_sticky = || with_state(|state| Ok(caller.parts(state)?.0.personality & STICKY != 0));
    if let Some(deadline) = deadline
        && is_sticky() == Ok::<_, Errno>(false)
    {
        let now = Instant::now().nanoseconds();
        let rest = deadline.nanoseconds().saturating_sub(now);
        let _ = user_memory::put_words(caller, to, [rest / SECOND, rest % SECOND]);
    }
}

/// Calls `attempt` until it returns a number other than zero, or until the deadline.
fn wait(
    caller: &Caller,
    deadline: Option<Instant>,
    mut attempt: impl FnMut(&mut State) -> Result<u64, Errno>,
) -> Result<u64, Errno> {
    let over = deadline.is_some_and(|deadline| deadline <= Instant::now());
    if over {
        return with_state(attempt);
    }
    let ready = caller.wait_events(deadline, |state| {
        let ready = attempt(state)?;
        Ok((ready > 0).then_some(ready))
    })?;
    Ok(ready.unwrap_or(0))
}

/// The mask of signals at an address, if it is not null.
fn mask(caller: &Caller, from: usize, size: usize) -> Result<Option<Set>, Errno> {
    if from == 0 {
        return Ok(None);
    }
    if size != size_of::<u64>() {
        return Err(Errno::EINVAL);
    }
    let [bits] = user_memory::words(caller, from)?;
    Ok(Some(Set(bits)))
}

/// `ppoll`.
pub fn ppoll(caller: &Caller) -> Result<u64, Errno> {
    let mask = mask(caller, caller.address(3), caller.address(4))?;
    let ready = caller.with_mask(mask, || poll(caller));
    ready.map_err(|error| error.interrupted(Errno::ERESTARTNOHAND))
}

fn poll(caller: &Caller) -> Result<u64, Errno> {
    const SIZE: usize = 8;
    /// Entries that are copied together.
    const AT_ONCE: usize = 16;
    let (from, count) = (caller.address(0), caller.address(1));
    let limit = with_state(|state| Ok::<_, Errno>(caller.parts(state)?.0.files.limit()))?;
    if count > limit as usize {
        return Err(Errno::EINVAL);
    }
    let deadline = deadline(caller, caller.address(2))?;
    let ready = wait(caller, deadline, |state| {
        let mut ready = 0;
        let mut bytes = [[0; SIZE]; AT_ONCE];
        for start in (0..count).step_by(AT_ONCE) {
            let bytes = &mut bytes[..(count - start).min(AT_ONCE)];
            let at = from.wrapping_add(start * SIZE);
            user_memory::read(state, caller, at, bytes.as_flattened_mut())?;
            for entry in bytes.iter_mut() {
                let [a, b, c, d, low, high, ..] = *entry;
                let number = i32::from_le_bytes([a, b, c, d]);
                let asked = u16::from_le_bytes([low, high]);
                let found = match number {
                    ..0 => 0,
                    _ => events(state, caller, number, asked),
                };
                entry[6..].copy_from_slice(&found.to_le_bytes());
                ready += u64::from(found != 0);
            }
            user_memory::write(state, caller, at, bytes.as_flattened())?;
        }
        Ok(ready)
    });
    put_rest(caller, deadline, caller.address(2));
    ready
}

/// Bytes of a set of `select`, for as many descriptors as there can be.
const SET: usize = 128;

/// `pselect6`.
pub fn pselect6(caller: &Caller) -> Result<u64, Errno> {
    let mask = match caller.address(5) {
        0 => None,
        from => {
            let [from, size] = user_memory::words(caller, from)?;
            mask(caller, from as usize, size as usize)?
        }
    };
    let ready = caller.with_mask(mask, || select(caller));
    ready.map_err(|error| error.interrupted(Errno::ERESTARTNOHAND))
}

fn select(caller: &Caller) -> Result<u64, Errno> {
    let count = usize::try_from(caller.int(0)).map_err(|_| Errno::EINVAL)?;
    let count = count.min(SET * 8);
    let size = count.div_ceil(64) * 8;
    let mut asked = [[0; SET]; 3];
    for (index, set) in asked.iter_mut().enumerate() {
        let from = caller.address(1 + index);
        if from != 0 {
            with_state(|state| user_memory::read(state, caller, from, &mut set[..size]))?;
        }
    }
    let deadline = deadline(caller, caller.address(4))?;
    let mut found = [[0; SET]; 3];
    let ready = wait(caller, deadline, |state| {
        found = [[0; SET]; 3];
        let mut ready = 0;
        for number in 0..count {
            let (byte, bit) = (number / 8, 1 << (number % 8));
            if asked.iter().all(|set| set[byte] & bit == 0) {
                continue;
            }
            let kinds = [
                ready::READABLE | ready::HANGUP | ready::ERROR,
                ready::WRITABLE | ready::ERROR,
                0,
            ];
            let mut wanted = 0;
            for (set, kind) in asked.iter().zip(kinds) {
                wanted |= if set[byte] & bit != 0 { kind } else { 0 };
            }
            let events = events(state, caller, number as i32, wanted);
            if events & ready::INVALID != 0 {
                return Err(Errno::EBADF);
            }
            for ((asked, found), kind) in asked.iter().zip(&mut found).zip(kinds) {
                if asked[byte] & bit != 0 && events & kind != 0 {
                    found[byte] |= bit;
                    ready += 1;
                }
            }
        }
        Ok(ready)
    });
    put_rest(caller, deadline, caller.address(4));
    let ready = ready?;
    for (index, set) in found.iter().enumerate() {
        let to = caller.address(1 + index);
        if to != 0 {
            with_state(|state| user_memory::write(state, caller, to, &set[..size]))?;
        }
    }
    Ok(ready)
}
