//! System calls of lists of robust futexes.

use tenon_process::user_memory;
use tenon_process::{Caller, Errno, with_state};

/// `set_robust_list`: the list of mutexes that the end of the thread gives back.
pub fn set_robust_list(caller: &Caller) -> Result<u64, Errno> {
    const SIZE: usize = 24;
    if caller.address(1) != SIZE {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        caller.thread(state)?.robust_list = caller.address(0);
        Ok(0)
    })
}

/// `get_robust_list`, of a thread that the caller may look at.
pub fn get_robust_list(caller: &Caller) -> Result<u64, Errno> {
    const SIZE: u64 = 24;
    let number = match caller.int(0) {
        0 => caller.number(),
        number => number.cast_unsigned(),
    };
    let list = with_state(|state| {
        let other = state.process_of(number).ok_or(Errno::ESRCH)?;
        let (process, credentials) = (other.number, other.credentials.clone());
        let list = state.robust_list(number).ok_or(Errno::ESRCH)?;
        let own = &caller.parts(state)?.0.credentials;
        let may = process == caller.process() || own.may_look(&credentials);
        may.then_some(list).ok_or(Errno::EPERM)
    })?;
    user_memory::put_words(caller, caller.address(2), [SIZE])?;
    user_memory::put_words(caller, caller.address(1), [list as u64])?;
    Ok(0)
}
