//! System calls that wait for signals.

use crate::action::{SET, set};
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, timespec, with_state};
use tenon_signal::{Info, Set};
use tenon_thread::time::Instant;

/// `rt_sigpending`.
pub fn rt_sigpending(caller: &Caller) -> Result<u64, Errno> {
    let size = caller.address(1);
    if size > SET {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let (process, thread) = caller.indices(state)?;
        let pending = state.signals.pending(process, thread) & state.signals.own(thread).mask;
        let bytes = pending.0.to_le_bytes();
        user_memory::write(state, caller, caller.address(0), &bytes[..size])?;
        Ok(0)
    })
}

/// `rt_sigsuspend`: waits with a mask until a handler is called.
pub fn rt_sigsuspend(caller: &Caller) -> Result<u64, Errno> {
    let mask = set(caller, caller.address(0), caller.address(1))?;
    caller.with_mask(Some(mask), || {
        let waited = caller.wait_event(None, |_| Ok(None::<u64>));
        let waited = waited.map_err(|error| error.interrupted(Errno::ERESTARTNOHAND));
        waited.map(|_| 0)
    })
}

/// `rt_sigtimedwait`: takes a pending signal of a set.
pub fn rt_sigtimedwait(caller: &Caller) -> Result<u64, Errno> {
    let wanted = set(caller, caller.address(0), caller.address(3))? & !Set::UNBLOCKABLE;
    let (to, from) = (caller.address(1), caller.address(2));
    let deadline = match from {
        0 => None,
        from => Some(Instant::now() + timespec(user_memory::words(caller, from)?)?),
    };
    let taken = caller.wait_event(deadline, |state| {
        let (process, thread) = caller.indices(state)?;
        state.signals.own(thread).awaited = wanted;
        let frames = &mut state.frames;
        Ok(state.signals.take(process, thread, wanted, frames))
    });
    with_state(|state| {
        let (_, thread) = caller.indices(state)?;
        state.signals.own(thread).awaited = Set::EMPTY;
        Ok::<_, Errno>(())
    })?;
    let taken = taken.map_err(|error| error.interrupted(Errno::EINTR))?;
    let info = taken.ok_or(Errno::EAGAIN)?;
    if to != 0 {
        let mut bytes = [0; Info::SIZE];
        bytes[..Info::USED].copy_from_slice(&info.encode());
        with_state(|state| user_memory::write(state, caller, to, &bytes))?;
    }
    Ok(info.signal.into())
}
