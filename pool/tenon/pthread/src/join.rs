//! Joining, detaching and comparing threads (POSIX.1-2017, `pthread_join`).

use crate::table::{LOCK, SlotState, ThreadId, current, find};
use crate::wait;
use core::ffi::{c_int, c_void};
use core::ptr;
use tenon_libc::Errno;
use tenon_libc::errno::number;

/// Waits for the termination of a thread.
///
/// # Safety
///
/// `result` is null or valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_join(name: ThreadId, result: *mut *mut c_void) -> c_int {
    let joined = join(name);
    if let (Ok(value), false) = (joined, result.is_null()) {
        // SAFETY: `result` is valid for a write, as the caller ensures.
        unsafe { result.write(value) };
    }
    number(joined.map(|_| ()))
}

fn join(name: ThreadId) -> Result<*mut c_void, Errno> {
    if ptr::eq(LOCK.masked(|(), _| find(name))?, current()) {
        return Err(Errno::EDEADLK);
    }
    loop {
        wait::act_on_pending();
        let joined = LOCK.waiting(|(), waiting| {
            let slot = find(name)?;
            match slot.state.get() {
                SlotState::Ended => {
                    slot.state.set(SlotState::Free);
                    let memory = slot.memory.take();
                    return Ok(Some((memory, slot.result.get())));
                }
                SlotState::Joinable => {}
                _ => return Err(Errno::EINVAL),
            }
            // After a wake-up the slot is examined again: another thread may have joined this one,
            // and the slot may be reused.
            let _ = wait::interruptible(waiting, |()| &slot.joiners, None);
            Ok(None)
        })?;
        if let Some((memory, result)) = joined {
            if let Some(memory) = memory {
                // SAFETY: the slot was in the state `Ended`, so that its thread has ended.
                unsafe { memory.release() };
            }
            return Ok(result);
        }
    }
}

/// Detaches a thread: its memory is reclaimed after its termination.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_detach(name: ThreadId) -> c_int {
    number(LOCK.masked(|(), _| {
        let slot = find(name)?;
        let next = match slot.state.get() {
            SlotState::Joinable => SlotState::Detached,
            SlotState::Ended => SlotState::Reclaimable,
            _ => return Err(Errno::EINVAL),
        };
        slot.state.set(next);
        Ok(())
    }))
}

/// The ID of the calling thread.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_self() -> ThreadId {
    current().id()
}

/// Whether two IDs name the same thread.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_equal(one: ThreadId, other: ThreadId) -> c_int {
    c_int::from(one == other)
}
