//! Thread termination (POSIX.1-2017, `pthread_exit`).

use crate::table::{LOCK, Life, Slot, current, slots};
use crate::{cleanup, key};
use core::ffi::c_void;
use tenon_libc::process::leave;

/// `PTHREAD_CANCELED`: the exit value of a cancelled thread.
const CANCELED: *mut c_void = usize::MAX as *mut c_void;

/// Ends the calling thread with `result`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_exit(result: *mut c_void) -> ! {
    end(result)
}

/// Ends the calling thread, and the program with its last thread.
pub(crate) fn end(result: *mut c_void) -> ! {
    let slot = current();
    cleanup::run_all(slot);
    key::run_destructors(slot);
    let last = LOCK.masked(|(), _| {
        slot.ending.set(true);
        !slots().iter().any(is_alive)
    });
    if last {
        leave(0);
    }
    LOCK.waiting(|(), waiting| {
        slot.result.set(result);
        slot.thread.set(None);
        let detached = slot.life.get() == Life::Detached;
        slot.life.set(if detached {
            Life::Forgotten
        } else {
            Life::Ended
        });
        waiting.end(|waking| while slot.joiners.wake(waking).is_some() {})
    })
}

fn is_alive(slot: &Slot) -> bool {
    !slot.ending.get() && matches!(slot.life.get(), Life::Joinable | Life::Detached)
}

/// Terminates the calling thread because of a cancellation request.
pub(crate) fn act() -> ! {
    end(CANCELED)
}
