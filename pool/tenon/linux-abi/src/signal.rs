//! Signals: what programs set is accepted, and no signal is delivered.

use crate::user;
use tenon_process::{Caller, Errno, with_state};

/// `rt_sigaction`: the former action is the default one.
pub fn rt_sigaction(caller: &Caller) -> Result<u64, Errno> {
    if !(1..=64).contains(&caller.int(0)) {
        return Err(Errno::EINVAL);
    }
    zeros::<32>(caller, caller.address(2))
}

/// `rt_sigprocmask`: the former mask is empty.
pub fn rt_sigprocmask(caller: &Caller) -> Result<u64, Errno> {
    zeros::<8>(caller, caller.address(2))
}

/// `sigaltstack`.
pub fn sigaltstack(caller: &Caller) -> Result<u64, Errno> {
    zeros::<24>(caller, caller.address(1))
}

fn zeros<const N: usize>(caller: &Caller, to: usize) -> Result<u64, Errno> {
    if to != 0 {
        with_state(|state| user::write(state, caller, to, &[0; N]))?;
    }
    Ok(0)
}
