//! [`mq_timedsend`] and [`mq_timedreceive`]: messages of queues.

use crate::notify;
use crate::table::{Queue, READABLE, WRITABLE, description, notify as state_events, with};
use core::time::Duration;
use tenon_linux_files::content::{copy_in, copy_out};
use tenon_linux_files::flag::{ACCESS, NONBLOCK};
use tenon_process::{
    Caller, Errno, Side, Special, State, real_time_of_start, timespec, user_memory,
};
use tenon_thread::time::Instant;

/// Bytes that are read at a time.
const PIECE: usize = 512;
/// Priorities lie below.
const PRIORITIES: u64 = 32_768;
/// Access modes of descriptors that cannot be read, and written.
const WRITE_ONLY: u32 = 1;
const READ_ONLY: u32 = 0;
const NEITHER: u32 = 3;

/// The instant of the argument that states a date.
fn deadline(caller: &Caller) -> Result<Option<Instant>, Errno> {
    let from = caller.address(4);
    if from == 0 {
        return Ok(None);
    }
    let date = timespec(user_memory::words(caller, from)?)?;
    let since = date.saturating_sub(Duration::from_nanos(real_time_of_start()));
    let since = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
    Ok(Some(Instant::from_nanoseconds(since)))
}

/// The queue's object of the descriptor, unless it has the access mode `without`, and whether a call
/// waits.
fn find(state: &mut State, caller: &Caller, without: u32) -> Result<(Special, bool), Errno> {
    let (special, flags) = description(state, caller)?;
    match flags & ACCESS {
        access if access == without || access == NEITHER => Err(Errno::EBADF),
        _ => Ok((special, flags & NONBLOCK == 0)),
    }
}

/// Waits at a side of a queue until an attempt has a result.
fn wait<R>(
    caller: &Caller,
    (side, without): (Side, u32),
    mut attempt: impl FnMut(&mut State, Special) -> Result<Option<R>, Errno>,
) -> Result<R, Errno> {
    let deadline = deadline(caller)?;
    let done = caller.wait_events(deadline, |state| {
        let (special, waits) = find(state, caller, without)?;
        if let Some(result) = attempt(state, special)? {
            return Ok(Some(result));
        }
        if !waits {
            return Err(Errno::EAGAIN);
        }
        caller.enlist(state, special.source, side)?;
        Ok(None)
    })?;
    done.ok_or(Errno::ETIMEDOUT)
}

/// Fails with `EFAULT` unless the caller has the bytes of a message.
fn check(state: &mut State, caller: &Caller, length: usize) -> Result<(), Errno> {
    for done in (0..length).step_by(PIECE) {
        let mut piece = [0; PIECE];
        let piece = &mut piece[..(length - done).min(PIECE)];
        user_memory::read(state, caller, caller.address(1).wrapping_add(done), piece)?;
    }
    Ok(())
}

/// Where the bytes of the message at a place lie.
fn bytes_of(queue: &Queue, place: u16) -> (u32, u64) {
    (queue.file, u64::from(place) * u64::from(queue.size))
}

/// `mq_timedsend`.
pub fn mq_timedsend(caller: &Caller) -> Result<u64, Errno> {
    let (length, priority) = (caller.address(2), u64::from(caller.argument(3) as u32));
    if priority >= PRIORITIES {
        deadline(caller)?;
        return Err(Errno::EINVAL);
    }
    let mut checked = false;
    wait(caller, (Side::Write, READ_ONLY), |state, special| {
        let place = with(|table| {
            let queue = table.of(special.number)?;
            if length > queue.size as usize {
                return Err(Errno::EMSGSIZE);
            }
            let full = queue.order.len() >= queue.most as usize;
            let place = queue.order.free_place().filter(|_| !full);
            Ok(place.map(|place| bytes_of(queue, place)))
        })?;
        let Some(place) = place else {
            // As in Linux, before it waits.
            if !core::mem::replace(&mut checked, true) {
                check(state, caller, length)?;
            }
            return Ok(None);
        };
        copy_in(state, caller, caller.address(1), place, length)?;
        let first = with(|table| {
            let waited = table.has_readers(special.number, &state.files);
            let queue = table.of(special.number)?;
            let first = queue.order.len() == 0 && !waited;
            queue.order.add(priority as u32, length as u32);
            Ok(if first { queue.notice.take() } else { None })
        })?;
        if let Some(notice) = first {
            notify::send(state, caller, &notice)?;
        }
        state_events(&mut state.files, special.number, READABLE);
        Ok(Some(0))
    })
}

/// `mq_timedreceive`.
pub fn mq_timedreceive(caller: &Caller) -> Result<u64, Errno> {
    let room = caller.address(2);
    wait(caller, (Side::Read, WRITE_ONLY), |state, special| {
        let next = with(|table| {
            let queue = table.of(special.number)?;
            if room < queue.size as usize {
                return Err(Errno::EMSGSIZE);
            }
            let next = queue.order.next();
            if next.is_some() {
                queue.order.remove_next();
            }
            Ok(next.map(|next| (next, bytes_of(queue, next.place))))
        })?;
        let Some((next, place)) = next else {
            return Ok(None);
        };
        state_events(&mut state.files, special.number, WRITABLE);
        // As in Linux, a message is lost for which the caller has no place.
        if caller.address(3) != 0 {
            let bytes = next.priority.to_le_bytes();
            user_memory::write(state, caller, caller.address(3), &bytes)?;
        }
        copy_out(
            state,
            caller,
            place,
            caller.address(1),
            next.length as usize,
        )?;
        Ok(Some(u64::from(next.length)))
    })
}
