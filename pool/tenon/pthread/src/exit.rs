//! Thread termination (POSIX.1-2017, `pthread_exit`).

use crate::table::{LOCK, Slot, SlotState, current, slots};
use crate::{cleanup, key};
use core::ffi::c_void;
use tenon_libc::process::end_program;

/// `PTHREAD_CANCELED`: the exit value of a cancelled thread.
const CANCELED: *mut c_void = usize::MAX as *mut c_void;

/// Terminates the calling thread with an exit value.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_exit(result: *mut c_void) -> ! {
    exit_thread(result)
}

/// Terminates the calling thread, and the program if it is the last thread.
pub(crate) fn exit_thread(result: *mut c_void) -> ! {
    let slot = current();
    cleanup::run_all(slot);
    key::run_destructors(slot);
    let last = LOCK.masked(|(), _| {
        slot.ending.set(true);
        !slots().iter().any(is_alive)
    });
    if last {
        end_program(0);
    }
    LOCK.waiting(|(), waiting| {
        slot.result.set(result);
        slot.thread.set(None);
        let detached = slot.state.get() == SlotState::Detached;
        slot.state.set(if detached {
            SlotState::Reclaimable
        } else {
            SlotState::Ended
        });
        waiting.end(|waking| while slot.joiners.wake(waking).is_some() {})
    })
}

fn is_alive(slot: &Slot) -> bool {
    !slot.ending.get() && matches!(slot.state.get(), SlotState::Joinable | SlotState::Detached)
}

/// Terminates the calling thread because of a cancellation request.
pub(crate) fn exit_cancelled() -> ! {
    exit_thread(CANCELED)
}
