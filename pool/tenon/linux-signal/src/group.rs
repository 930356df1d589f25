//! System calls of process groups and sessions.

use tenon_process::{Caller, Errno, with_state};

/// The number that an argument states, which is that of the caller if zero.
fn number(caller: &Caller, index: usize) -> Result<u32, Errno> {
    match caller.int(index) {
        0 => Ok(caller.process()),
        number => u32::try_from(number).map_err(|_| Errno::ESRCH),
    }
}

/// `setpgid`.
pub fn setpgid(caller: &Caller) -> Result<u64, Errno> {
    let group = caller.int(1);
    if group < 0 {
        return Err(Errno::EINVAL);
    }
    let number = number(caller, 0)?;
    let group = if group == 0 { number } else { group as u32 };
    with_state(|state| state.set_group(caller.slot().0, number, group))?;
    Ok(0)
}

/// `getpgid`.
pub fn getpgid(caller: &Caller) -> Result<u64, Errno> {
    let number = number(caller, 0)?;
    Ok(with_state(|state| state.group_and_session(number))?
        .0
        .into())
}

/// `getsid`.
pub fn getsid(caller: &Caller) -> Result<u64, Errno> {
    let number = number(caller, 0)?;
    Ok(with_state(|state| state.group_and_session(number))?
        .1
        .into())
}

/// `setsid`.
pub fn setsid(caller: &Caller) -> Result<u64, Errno> {
    Ok(with_state(|state| state.begin_session(caller.slot().0))?.into())
}
