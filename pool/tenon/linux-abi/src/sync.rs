//! System calls of futexes, by which threads wait for a word of memory, and of robust lists.

use crate::{time, user};
use tenon_process::{Caller, Errno, WakeOperation, with_state};
use tenon_thread::time::Instant;

/// Operations of `futex`.
mod operation {
    pub const WAIT: u64 = 0;
    pub const WAKE: u64 = 1;
    pub const REQUEUE: u64 = 3;
    pub const COMPARE_REQUEUE: u64 = 4;
    pub const WAKE_OPERATION: u64 = 5;
    pub const WAIT_BITS: u64 = 9;
    pub const WAKE_BITS: u64 = 10;
    /// Without `FUTEX_PRIVATE_FLAG`, which changes nothing where no memory is shared, and
    /// `FUTEX_CLOCK_REALTIME`, as all clocks are one.
    pub const NUMBER: u64 = 0x7f;
}

/// `futex`.
pub fn futex(caller: &Caller) -> Result<u64, Errno> {
    let (word, value) = (caller.address(0), caller.argument(2) as u32);
    let bits = match caller.argument(1) & operation::NUMBER {
        operation::WAIT_BITS | operation::WAKE_BITS => caller.argument(5) as u32,
        _ => u32::MAX,
    };
    if bits == 0 {
        return Err(Errno::EINVAL);
    }
    // A count is signed, and one of zero still wakes a thread.
    let most = |count: u64| (count as i32).max(0) as u32;
    let words = (
        (word, most(caller.argument(2))),
        (caller.address(4), most(caller.argument(3))),
    );
    match caller.argument(1) & operation::NUMBER {
        kind @ (operation::WAIT | operation::WAIT_BITS) => {
            let deadline = deadline(caller, kind == operation::WAIT)?;
            caller.wait_futex((word, value), bits, deadline)?;
            Ok(0)
        }
        operation::WAKE | operation::WAKE_BITS => with_state(|state| {
            let most = words.0.1.max(1);
            Ok(caller.wake_futex(state, (word, most), bits)?.into())
        }),
        operation::REQUEUE => with_state(|state| {
            let (woken, _) = caller.requeue_futex(state, words, None)?;
            Ok(woken.into())
        }),
        operation::COMPARE_REQUEUE => with_state(|state| {
            let value = caller.argument(5) as u32;
            let (woken, moved) = caller.requeue_futex(state, words, Some(value))?;
            Ok((woken + moved).into())
        }),
        operation::WAKE_OPERATION => with_state(|state| {
            let operation = WakeOperation(caller.argument(5) as u32);
            Ok(caller.wake_operation(state, words, operation)?.into())
        }),
        _ => Err(Errno::ENOSYS),
    }
}

/// The deadline of a wait: none, a time from now on, or an instant.
fn deadline(caller: &Caller, relative: bool) -> Result<Option<Instant>, Errno> {
    match caller.address(3) {
        0 => Ok(None),
        from if relative => Ok(Some(Instant::now() + time::duration(caller, from)?)),
        from => Ok(Some(time::instant(caller, from)?)),
    }
}

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

/// `get_robust_list`, of the calling thread.
pub fn get_robust_list(caller: &Caller) -> Result<u64, Errno> {
    const SIZE: u64 = 24;
    if !matches!(caller.int(0), 0) && caller.int(0) as u32 != caller.number() {
        return Err(Errno::EPERM);
    }
    let list = with_state(|state| Ok::<_, Errno>(caller.thread(state)?.robust_list))?;
    user::put_words(caller, caller.address(1), [list as u64])?;
    user::put_words(caller, caller.address(2), [SIZE])?;
    Ok(0)
}
