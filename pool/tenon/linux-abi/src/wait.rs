//! [`Caller`]s that wait for a read or a write of an object.

use crate::transfer::{Target, target};
use tenon_linux_files::flag;
use tenon_process::{Caller, Errno, Memory, Side, Special, State, Transfer, Waiting, with_state};
use tenon_thread::time::Instant;
use tenon_vfs::Device;

/// An attempt has to wait, at the longest as the object states: no call returns this.
pub const LIMITED: Errno = Errno(u16::MAX);

/// Has the caller wait for events of an object to read or to write, or fails if it does not wait.
pub fn wait_for(
    state: &mut State,
    caller: &Caller,
    (source, side): (Option<u32>, Side),
    flags: u32,
) -> Result<(), Errno> {
    if flags & flag::NONBLOCK != 0 {
        return Err(Errno::EAGAIN);
    }
    caller.enlist(state, source.ok_or(Errno::EBADF)?, side)
}

/// Has an object of another library read or write up to `length` bytes at an address of the caller,
/// or of the kernel.
#[inline(always)]
pub(crate) fn transfer_special(
    state: &mut State,
    caller: &Caller,
    (special, flags): (Special, u32),
    memory: Result<&mut [u8], (usize, usize)>,
    writes: bool,
) -> Result<Option<usize>, Errno> {
    let (slot, place) = caller.slot();
    let (process, frames, files, signals) = state.parts_with_signals(slot)?;
    let number = process.number;
    let user = (
        process.credentials.user().real,
        process.credentials.group().real,
    );
    let (memory, length) = match memory {
        Ok(bytes) => {
            let length = bytes.len();
            (Memory::Kernel(bytes), length)
        }
        Err((address, length)) => (Memory::Process(process.space()?, address), length),
    };
    let mut transfer = Transfer {
        files,
        frames,
        memory,
        length,
        flags,
        process: number,
        user,
        signals,
        thread: (slot.home(), place),
    };
    let (action, side) = if writes {
        (special.operations.write, Side::Write)
    } else {
        (special.operations.read, Side::Read)
    };
    let count = action(&mut transfer, special.number)?;
    if count.is_none() {
        let timeout = special.operations.timeout;
        let limited = timeout(files, special.number, writes).is_some();
        wait_for(state, caller, (Some(special.source), side), flags)?;
        if limited {
            return Err(LIMITED);
        }
    }
    Ok(count)
}

/// When a wait of a read or a write ends, by the object's longest one.
fn deadline(caller: &Caller, number: i32, writes: bool) -> Option<Instant> {
    with_state(|state| {
        let target = target(state, caller, number, writes).ok()?;
        let timeout = match target.0 {
            Target::Special(special) => {
                (special.operations.timeout)(&state.files, special.number, writes)?
            }
            Target::Device(Device::Console) => tenon_linux_tty::timeout()?,
            _ => return None,
        };
        Some(Instant::now() + timeout)
    })
}

/// The result of an attempt, if it need not wait.
pub type Attempted<R> = Result<Option<R>, Errno>;

/// Calls `attempt` for a caller, which waits from then on if there is no result.
#[inline(always)]
pub(crate) fn attempt<R>(
    caller: &Caller,
    attempt: impl FnMut(&mut State) -> Attempted<R>,
) -> Attempted<R> {
    let (slot, _) = caller.slot();
    with_state(|state| state.attempt(slot, (Waiting::Source, false), attempt))
}

/// Calls `attempt` until it has a result; in between, waits for the source that it has enlisted at, as
/// long as the object of a descriptor has it.
pub fn wait<R>(
    caller: &Caller,
    number: (i32, bool),
    mut attempt: impl FnMut(&mut State) -> Attempted<R>,
) -> Result<R, Errno> {
    let first = self::attempt(caller, &mut attempt);
    wait_on(caller, number, first, attempt)
}

/// As [`wait`], behind a first [`attempt`].
pub(crate) fn wait_on<R>(
    caller: &Caller,
    (number, writes): (i32, bool),
    first: Attempted<R>,
    mut attempt: impl FnMut(&mut State) -> Attempted<R>,
) -> Result<R, Errno> {
    let (slot, _) = caller.slot();
    let first = match first {
        Ok(None) => tenon_process::wait_on(slot, None, Waiting::Source, &mut attempt),
        first => first,
    };
    if !matches!(first, Err(LIMITED)) {
        return first?.ok_or(Errno::EINTR);
    }
    let deadline = deadline(caller, number, writes);
    let result = caller.wait_events(deadline, |state| match attempt(state) {
        Err(LIMITED) => Ok(None),
        result => result,
    })?;
    let terminal = |state: &mut State| {
        let target = target(state, caller, number, writes);
        matches!(target, Ok((Target::Device(_), ..)))
    };
    match result {
        Some(result) => Ok(result),
        // A terminal has no bytes then, which is no error.
        None if with_state(terminal) => Err(Errno::ETIMEDOUT),
        None => Err(Errno::EAGAIN),
    }
}
