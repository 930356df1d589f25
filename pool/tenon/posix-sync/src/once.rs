//! One-time initialisation (POSIX.1-2017, `pthread_once`).

use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr;
use tenon_libc::Errno;
use tenon_pthread::cleanup::{__pthread_cleanup_pop, __pthread_cleanup_push, Cleanup};
use tenon_thread::wait::{Guarded, WaitQueue};

/// `PTHREAD_ONCE_INIT`.
const NOT_YET: u32 = 0;
/// Somebody calls the routine.
const RUNNING: u32 = 1;
const DONE: u32 = 2;

/// `pthread_once_t` (`<sys/types.h>`).
#[repr(transparent)]
pub struct Once(Cell<u32>);

/// Who waits for a routine to return, whatever routine it is: there are few, and they look again.
static WAITERS: Guarded<WaitQueue> = Guarded::new(WaitQueue::new());

/// Notes what became of the routine, and has all look who wait.
fn settle(once: &Once, state: u32) {
    WAITERS.waking(|waiters, waking| {
        once.0.set(state);
        while waiters.wake(waking).is_some() {}
    });
}

/// The routine's thread was cancelled in it: the next one calls it.
unsafe extern "C" fn give_up(once: *mut c_void) {
    // SAFETY: it was pushed for a `Once`.
    settle(unsafe { &*once.cast::<Once>() }, NOT_YET);
}

/// Calls the routine unless somebody did; returns when it has returned once.
///
/// # Safety
///
/// The first is a `pthread_once_t`, the second a function.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_once(
    once: *const Once,
    routine: Option<unsafe extern "C" fn()>,
) -> c_int {
    // SAFETY: the caller's contract.
    let (Some(once), Some(routine)) = (unsafe { once.as_ref() }, routine) else {
        return Errno::EINVAL.0;
    };
    let mine = WAITERS.waiting(|_, waiting| {
        loop {
            match once.0.get() {
                NOT_YET => {
                    once.0.set(RUNNING);
                    return Ok(true);
                }
                // Without a deadline nothing times out.
                RUNNING => _ = waiting.wait(|waiters| waiters, None),
                DONE => return Ok(false),
                _ => return Err(Errno::EINVAL),
            }
        }
    });
    match mine {
        Ok(true) => {
            let mut cleanup = MaybeUninit::<Cleanup>::uninit();
            let argument = ptr::from_ref(once).cast_mut().cast();
            // SAFETY: it stays here until it is popped; the routine is the program's.
            unsafe {
                __pthread_cleanup_push(cleanup.as_mut_ptr(), Some(give_up), argument);
                routine();
                __pthread_cleanup_pop(cleanup.as_mut_ptr(), 0);
            }
            settle(once, DONE);
            0
        }
        Ok(false) => 0,
        Err(error) => error.0,
    }
}
