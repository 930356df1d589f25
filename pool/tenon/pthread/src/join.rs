//! Joining, detaching and comparing threads (POSIX.1-2017, `pthread_join`).

use crate::table::{LOCK, Life, Name, current, find};
use crate::wait;
use core::ffi::{c_int, c_void};
use core::ptr;
use tenon_libc::Errno;
use tenon_libc::errno::number;

/// Waits for the end of a thread.
///
/// # Safety
///
/// There is a place for the result, or none is wanted.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_join(name: Name, result: *mut *mut c_void) -> c_int {
    let joined = join(name);
    if let (Ok(value), false) = (joined, result.is_null()) {
        // SAFETY: the caller's contract.
        unsafe { result.write(value) };
    }
    number(joined.map(|_| ()))
}

fn join(name: Name) -> Result<*mut c_void, Errno> {
    if ptr::eq(LOCK.masked(|(), _| find(name))?, current()) {
        return Err(Errno::EDEADLK);
    }
    loop {
        wait::attend();
        let joined = LOCK.waiting(|(), waiting| {
            let slot = find(name)?;
            match slot.life.get() {
                Life::Ended => {
                    slot.life.set(Life::None);
                    let memory = slot.memory.take();
                    return Ok(Some((memory, slot.result.get())));
                }
                Life::Joinable => {}
                _ => return Err(Errno::EINVAL),
            }
            // Woken or interrupted, it is looked at anew: somebody else may have joined it, and
            // another thread have the slot.
            let _ = wait::interruptible(waiting, |()| &slot.joiners, None);
            Ok(None)
        })?;
        if let Some((memory, result)) = joined {
            if let Some(memory) = memory {
                // SAFETY: its thread has ended.
                unsafe { memory.give_back() };
            }
            return Ok(result);
        }
    }
}

/// Lets a thread be forgotten at its end.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_detach(name: Name) -> c_int {
    number(LOCK.masked(|(), _| {
        let slot = find(name)?;
        let next = match slot.life.get() {
            Life::Joinable => Life::Detached,
            Life::Ended => Life::Forgotten,
            _ => return Err(Errno::EINVAL),
        };
        slot.life.set(next);
        Ok(())
    }))
}

/// The calling thread.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_self() -> Name {
    current().name()
}

/// Whether two names are of the same thread.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_equal(one: Name, other: Name) -> c_int {
    c_int::from(one == other)
}
