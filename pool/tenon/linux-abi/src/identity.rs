//! System calls for numbers of a process.

use tenon_process::{Caller, Errno, with_state};

/// `getpid`.
pub fn getpid(caller: &Caller) -> Result<u64, Errno> {
    Ok(caller.process().into())
}

/// `gettid`.
pub fn gettid(caller: &Caller) -> Result<u64, Errno> {
    Ok(caller.number().into())
}

/// `getppid`.
pub fn getppid(caller: &Caller) -> Result<u64, Errno> {
    Ok(caller.parent().into())
}

/// `umask`.
pub fn umask(caller: &Caller) -> Result<u64, Errno> {
    let mask = caller.argument(0) as u32 & 0o777;
    with_state(|state| {
        let (process, ..) = caller.parts(state)?;
        Ok(core::mem::replace(&mut process.mask, mask).into())
    })
}

/// Calls that libraries of programs try first and do without: `rseq`.
pub fn absent(_: &Caller) -> Result<u64, Errno> {
    Err(Errno::ENOSYS)
}
