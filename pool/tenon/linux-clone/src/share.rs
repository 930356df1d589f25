//! Shared resources of processes: [`unshare`] and [`setns`].

use crate::flag;
use tenon_process::{Caller, Errno, State, capability, with_state};

/// Whether the caller is privileged, as the creation of namespaces asks.
pub(crate) fn is_privileged(state: &mut State, caller: &Caller) -> Result<bool, Errno> {
    let (process, ..) = caller.parts(state)?;
    Ok(process.credentials.has(capability::SYS_ADMIN))
}

/// `unshare`: a process shares nothing with another one, so that what has no threads has all of it
/// alone. A namespace of mounts would be the same as the present one, which no call changes.
pub fn unshare(caller: &Caller) -> Result<u64, Errno> {
    /// What the threads of a process share.
    const OF_THREADS: u64 = flag::SHARED;
    const KNOWN: u64 = OF_THREADS | flag::SEMAPHORES | flag::NAMESPACES;
    let flags = caller.argument(0);
    if flags & !KNOWN != 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let alone = state.threads_of(caller.process()) == 1;
        if !alone && flags & (OF_THREADS | flag::USERS) != 0 {
            return Err(Errno::EINVAL);
        }
        let privileged = is_privileged(state, caller)?;
        if flags & flag::PRIVILEGED != 0 && flags & flag::USERS == 0 && !privileged {
            return Err(Errno::EPERM);
        }
        let served = flags & flag::NAMESPACES & !flag::MOUNTS == 0;
        served.then_some(0).ok_or(Errno::EINVAL)
    })
}

/// `setns`: no descriptor is one of a namespace.
pub fn setns(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        caller.parts(state)?.0.descriptor(caller.int(0))?;
        Err(Errno::EINVAL)
    })
}
