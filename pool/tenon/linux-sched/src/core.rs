//! Cores of threads: all run on one.

use crate::target;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, with_state};

/// Bytes of a set of cores.
const SET: usize = 8;

/// `sched_getaffinity`: the one core.
pub fn sched_getaffinity(caller: &Caller) -> Result<u64, Errno> {
    let size = caller.argument(1) as u32 as usize;
    if size < SET || !size.is_multiple_of(SET) {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        target::of_argument(state, caller)?;
        user_memory::write(state, caller, caller.address(2), &1u64.to_le_bytes())?;
        Ok(SET as u64)
    })
}

/// `sched_setaffinity`: sets with that core.
pub fn sched_setaffinity(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let mut bytes = [0; SET];
        let size = caller.argument(1) as u32 as usize;
        let part = &mut bytes[..size.min(SET)];
        user_memory::read(state, caller, caller.address(2), part)?;
        let target = target::of_argument(state, caller)?;
        if !target.same_user && !target.privileged {
            return Err(Errno::EPERM);
        }
        if bytes[0] & 1 == 0 {
            return Err(Errno::EINVAL);
        }
        Ok(0)
    })
}

/// `getcpu`.
pub fn getcpu(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        for index in 0..2 {
            let to = caller.address(index);
            if to != 0 {
                user_memory::write(state, caller, to, &[0; 4])?;
            }
        }
        Ok(0)
    })
}
