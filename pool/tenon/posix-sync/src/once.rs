//! One-time initialisation (POSIX.1-2017, `pthread_once`).

use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr;
use tenon_libc::Errno;
use tenon_pthread::cleanup::{__pthread_cleanup_pop, __pthread_cleanup_push, Cleanup};
use tenon_thread::wait::{Guarded, WaitQueue};

/// `PTHREAD_ONCE_INIT`.
const INITIAL: u32 = 0;
/// The routine is running.
const RUNNING: u32 = 1;
const DONE: u32 = 2;

/// `pthread_once_t` (`<sys/types.h>`).
#[repr(transparent)]
pub struct Once(Cell<u32>);

/// Threads that wait for any routine to return. They are few, and each checks its own object.
static WAITERS: Guarded<WaitQueue> = Guarded::new(WaitQueue::new());

/// Stores the state of the routine, and wakes all waiters to check it.
fn set_state(once: &Once, state: u32) {
    WAITERS.waking(|waiters, waking| {
        once.0.set(state);
        while waiters.wake(waking).is_some() {}
    });
}

/// Cleanup handler of a thread that was cancelled in the routine: the next caller runs it again.
unsafe extern "C" fn reset_after_cancel(once: *mut c_void) {
    // SAFETY: it was pushed with a pointer to a `Once`.
    set_state(unsafe { &*once.cast::<Once>() }, INITIAL);
}

/// Runs the routine once; returns when it has returned.
///
/// # Safety
///
/// `once` is null or points to a `pthread_once_t`; `routine` is null or a function.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_once(
    once: *const Once,
    routine: Option<unsafe extern "C" fn()>,
) -> c_int {
    // SAFETY: `once` is null or points to a value of its type, as the caller ensures.
    let (Some(once), Some(routine)) = (unsafe { once.as_ref() }, routine) else {
        return Errno::EINVAL.0;
    };
    let mine = WAITERS.waiting(|_, waiting| {
        loop {
            match once.0.get() {
                INITIAL => {
                    once.0.set(RUNNING);
                    return Ok(true);
                }
                // Without a deadline the wait cannot time out.
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
            // SAFETY: `cleanup` stays in this frame until it is popped; the program passes the
            // routine.
            unsafe {
                __pthread_cleanup_push(cleanup.as_mut_ptr(), Some(reset_after_cancel), argument);
                routine();
                __pthread_cleanup_pop(cleanup.as_mut_ptr(), 0);
            }
            set_state(once, DONE);
            0
        }
        Ok(false) => 0,
        Err(error) => error.0,
    }
}
