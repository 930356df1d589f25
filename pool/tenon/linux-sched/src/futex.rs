//! Futexes, by which threads wait for words of memory, and lists of robust ones.

use crate::{lock, wait};
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, WakeOperation, real_time_of_start, timespec, with_state};
use tenon_thread::time::{Duration, Instant};

/// Operations of `futex`.
mod operation {
    pub const WAIT: u64 = 0;
    pub const WAKE: u64 = 1;
    pub const REQUEUE: u64 = 3;
    pub const COMPARE_REQUEUE: u64 = 4;
    pub const WAKE_OPERATION: u64 = 5;
    pub const LOCK: u64 = 6;
    pub const UNLOCK: u64 = 7;
    pub const TRY_LOCK: u64 = 8;
    pub const WAIT_BITS: u64 = 9;
    pub const WAKE_BITS: u64 = 10;
    pub const WAIT_REQUEUE_LOCK: u64 = 11;
    pub const COMPARE_REQUEUE_LOCK: u64 = 12;
    pub const LOCK_BY_CLOCK: u64 = 13;
    /// `FUTEX_PRIVATE_FLAG`, without effect, as the key of a word tells whether processes share it.
    pub const PRIVATE: u64 = 0x80;
    pub const NUMBER: u64 = PRIVATE - 1;
    /// `FUTEX_CLOCK_REALTIME`: the deadline is a date.
    pub const DATE: u64 = 0x100;
}

/// `futex`.
pub fn futex(caller: &Caller) -> Result<u64, Errno> {
    let (word, value) = (caller.address(0), caller.argument(2) as u32);
    match caller.argument(1) & !operation::PRIVATE {
        operation::WAIT if caller.argument(3) == 0 => {
            wait::wait(caller, (word, value), u32::MAX, None)
        }
        operation::WAKE => wake(caller, word, most(value).max(1)),
        _ => other(caller),
    }
}

/// Wakes at most so many threads that wait for a word.
#[inline(never)]
fn wake(caller: &Caller, word: usize, most: u32) -> Result<u64, Errno> {
    with_state(|state| Ok(wait::wake(state, caller, (word, most), u32::MAX)?.into()))
}

/// A count of threads is signed, and one of zero still wakes one.
fn most(count: u32) -> u32 {
    (count as i32).max(0) as u32
}

/// The operations that are not the usual ones.
#[inline(never)]
fn other(caller: &Caller) -> Result<u64, Errno> {
    let (word, value) = (caller.address(0), caller.argument(2) as u32);
    let kind = caller.argument(1) & operation::NUMBER;
    let dated = caller.argument(1) & operation::DATE != 0;
    let bits = match kind {
        operation::WAIT_BITS | operation::WAKE_BITS => caller.argument(5) as u32,
        _ => u32::MAX,
    };
    let may_be_dated = matches!(
        kind,
        operation::WAIT_BITS | operation::WAIT_REQUEUE_LOCK | operation::LOCK_BY_CLOCK
    );
    if dated && !may_be_dated {
        return Err(Errno::ENOSYS);
    }
    if bits == 0 {
        return Err(Errno::EINVAL);
    }
    let words = (
        (word, most(value)),
        (caller.address(4), most(caller.argument(3) as u32)),
    );
    match kind {
        operation::WAIT | operation::WAIT_BITS => {
            let relative = kind == operation::WAIT;
            let deadline = deadline(caller, relative, dated)?;
            let woken = wait::wait(caller, (word, value), bits, deadline);
            woken.map_err(|error| resumed(caller, deadline, error))
        }
        operation::WAKE | operation::WAKE_BITS => with_state(|state| {
            let most = words.0.1.max(1);
            Ok(wait::wake(state, caller, (word, most), bits)?.into())
        }),
        operation::REQUEUE | operation::COMPARE_REQUEUE
            if caller.int(2) < 0 || caller.int(3) < 0 =>
        {
            Err(Errno::EINVAL)
        }
        operation::REQUEUE => with_state(|state| {
            let (woken, _) = wait::requeue(state, caller, words, None)?;
            Ok(woken.into())
        }),
        operation::COMPARE_REQUEUE => with_state(|state| {
            let value = caller.argument(5) as u32;
            let (woken, moved) = wait::requeue(state, caller, words, Some(value))?;
            Ok((woken + moved).into())
        }),
        operation::WAKE_OPERATION => with_state(|state| {
            let operation = WakeOperation(caller.argument(5) as u32);
            let (slot, _) = caller.slot();
            Ok(state.wake_operation(slot, words, operation)?.into())
        }),
        operation::LOCK | operation::LOCK_BY_CLOCK => {
            let dated = dated || kind == operation::LOCK;
            let deadline = deadline(caller, false, dated)?;
            lock::lock(caller, word, deadline)
        }
        operation::TRY_LOCK => lock::try_lock(caller, word),
        operation::UNLOCK => lock::unlock(caller, word),
        operation::WAIT_REQUEUE_LOCK => {
            let deadline = deadline(caller, false, dated)?;
            lock::wait_requeue(caller, (word, value), words.1.0, deadline)
        }
        operation::COMPARE_REQUEUE_LOCK => {
            if caller.int(2) != 1 {
                return Err(Errno::EINVAL);
            }
            lock::requeue(caller, words, caller.argument(5) as u32)
        }
        _ => Err(Errno::ENOSYS),
    }
}

/// The error of a wait that a signal may have interrupted.
fn resumed(caller: &Caller, deadline: Option<Instant>, error: Errno) -> Errno {
    match deadline {
        Some(deadline) => caller.resume_until(deadline, error),
        None => error,
    }
}

/// The deadline that an address states: an instant, or a date.
pub(crate) fn deadline_at(from: usize, caller: &Caller, dated: bool) -> Result<Instant, Errno> {
    let duration = timespec(user_memory::words(caller, from)?)?;
    Ok(instant(duration, dated))
}

/// The deadline of a wait: none, a time from now on, an instant, or a date.
fn deadline(caller: &Caller, relative: bool, dated: bool) -> Result<Option<Instant>, Errno> {
    let from = caller.address(3);
    if from == 0 {
        return Ok(None);
    }
    let duration = timespec(user_memory::words(caller, from)?)?;
    if relative {
        return Ok(Some(caller.deadline(duration)));
    }
    Ok(Some(instant(duration, dated)))
}

/// An instant by the time since the start, or by the date.
fn instant(duration: Duration, dated: bool) -> Instant {
    let since = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let start = if dated { real_time_of_start() } else { 0 };
    Instant::from_nanoseconds(since.saturating_sub(start))
}
