//! [`ppoll`], [`pselect6`] and [`eventfd2`]: waiting for several descriptors.

use crate::file::{flag, install};
use crate::user;
use tenon_process::{Caller, Errno, Object, State, with_state};
use tenon_thread::time::{self, Duration, Instant};

/// Events of `poll`: what a descriptor is ready for.
mod ready {
    pub const READABLE: u16 = 0x1;
    pub const WRITABLE: u16 = 0x4;
    pub const ERROR: u16 = 0x8;
    pub const HANGUP: u16 = 0x10;
    pub const INVALID: u16 = 0x20;
}

/// Interval at which a wait with a timeout looks for events.
const POLL: Duration = Duration::from_millis(1);
/// Bytes that a pipe has room for when it is writable.
const PIPE_BUF: usize = 4096;

/// The largest value of a counter.
pub(crate) const COUNT_END: u64 = u64::MAX - 1;

/// The events of a descriptor.
fn events(state: &mut State, caller: &Caller, number: i32) -> u16 {
    let object = caller.parts(state).and_then(|(process, _, files)| {
        let description = files.get(&process.descriptor(number)?.file)?;
        Ok(match description.object {
            Object::Pipe(index, writes) => Ok((index, writes)),
            Object::Counter(0, _) => Err(ready::WRITABLE),
            Object::Counter(COUNT_END.., _) => Err(ready::READABLE),
            // Files and devices never let wait; a console does when it is read.
            _ => Err(ready::READABLE | ready::WRITABLE),
        })
    });
    let (index, writes) = match object {
        Err(_) => return ready::INVALID,
        Ok(Err(events)) => return events,
        Ok(Ok(end)) => end,
    };
    let (filled, room) = state.files.fill(index).unwrap_or_default();
    let open = state.files.has_other_end(index, writes);
    match (writes, open) {
        (true, false) => ready::WRITABLE | ready::ERROR,
        (true, true) if room >= PIPE_BUF => ready::WRITABLE,
        (true, true) => 0,
        (false, open) => {
            let readable = if filled > 0 { ready::READABLE } else { 0 };
            readable | if open { 0 } else { ready::HANGUP }
        }
    }
}

/// When a wait ends, by the `struct timespec` at an address; `None` if it has no end.
fn deadline(caller: &Caller, from: usize) -> Result<Option<Instant>, Errno> {
    if from == 0 {
        return Ok(None);
    }
    let duration = crate::time::duration(caller, from)?;
    let duration = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let now = Instant::now().nanoseconds();
    Ok(Some(Instant::from_nanoseconds(
        now.saturating_add(duration),
    )))
}

/// Calls `attempt` until it returns a number other than zero, or until the deadline.
fn wait(
    caller: &Caller,
    deadline: Option<Instant>,
    mut attempt: impl FnMut(&mut State) -> Result<u64, Errno>,
) -> Result<u64, Errno> {
    let Some(deadline) = deadline else {
        return caller.wait(|state| {
            let ready = attempt(state)?;
            Ok((ready > 0).then_some(ready))
        });
    };
    loop {
        let ready = with_state(&mut attempt)?;
        let now = Instant::now().nanoseconds();
        if ready > 0 || now >= deadline.nanoseconds() {
            return Ok(ready);
        }
        let rest = Duration::from_nanos(deadline.nanoseconds() - now);
        time::sleep(rest.min(POLL));
    }
}

/// `ppoll`: the mask of signals is not used.
pub fn ppoll(caller: &Caller) -> Result<u64, Errno> {
    const SIZE: usize = 8;
    let (from, count) = (caller.address(0), caller.address(1));
    let limit = with_state(|state| Ok::<_, Errno>(caller.parts(state)?.0.files.limit()))?;
    if count > limit as usize {
        return Err(Errno::EINVAL);
    }
    let deadline = deadline(caller, caller.address(2))?;
    wait(caller, deadline, |state| {
        let mut ready = 0;
        for index in 0..count {
            let at = from.wrapping_add(index * SIZE);
            let mut bytes = [0; SIZE];
            user::read(state, caller, at, &mut bytes)?;
            let [a, b, c, d, low, high, ..] = bytes;
            let number = i32::from_le_bytes([a, b, c, d]);
            let asked = u16::from_le_bytes([low, high]);
            let always = ready::ERROR | ready::HANGUP | ready::INVALID;
            let found = match number {
                ..0 => 0,
                _ => events(state, caller, number) & (asked | always),
            };
            user::write(state, caller, at.wrapping_add(6), &found.to_le_bytes())?;
            ready += u64::from(found != 0);
        }
        Ok(ready)
    })
}

/// Bytes of a set of `select`, for as many descriptors as there can be.
const SET: usize = 128;

/// `pselect6`: the mask of signals is not used.
pub fn pselect6(caller: &Caller) -> Result<u64, Errno> {
    let count = usize::try_from(caller.int(0)).map_err(|_| Errno::EINVAL)?;
    let count = count.min(SET * 8);
    let size = count.div_ceil(64) * 8;
    let mut asked = [[0; SET]; 3];
    for (index, set) in asked.iter_mut().enumerate() {
        let from = caller.address(1 + index);
        if from != 0 {
            with_state(|state| user::read(state, caller, from, &mut set[..size]))?;
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
            let events = events(state, caller, number as i32);
            if events & ready::INVALID != 0 {
                return Err(Errno::EBADF);
            }
            let kinds = [
                ready::READABLE | ready::HANGUP | ready::ERROR,
                ready::WRITABLE | ready::ERROR,
                0,
            ];
            for ((asked, found), kind) in asked.iter().zip(&mut found).zip(kinds) {
                if asked[byte] & bit != 0 && events & kind != 0 {
                    found[byte] |= bit;
                    ready += 1;
                }
            }
        }
        Ok(ready)
    })?;
    for (index, set) in found.iter().enumerate() {
        let to = caller.address(1 + index);
        if to != 0 {
            with_state(|state| user::write(state, caller, to, &set[..size]))?;
        }
    }
    Ok(ready)
}

/// `eventfd2`: a counter with a descriptor.
pub fn eventfd2(caller: &Caller) -> Result<u64, Errno> {
    const SEMAPHORE: u32 = 1;
    let flags = caller.argument(1) as u32;
    if flags & !(SEMAPHORE | flag::NONBLOCK | flag::CLOSE_ON_EXEC) != 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let object = Object::Counter(u64::from(caller.argument(0) as u32), flags & SEMAPHORE != 0);
        let (_, frames, files) = caller.parts(state)?;
        let opened = files.open(
            object,
            flags & flag::NONBLOCK | flag::READ_AND_WRITE,
            frames,
        )?;
        install(state, caller, opened, (flags & flag::CLOSE_ON_EXEC != 0, 0))
    })
}
