//! Synchronous acceptance of signals (POSIX.1-2017, `sigwait`).

use crate::current;
use crate::pending::{Set, SigInfo};
use crate::signal::deliver::take;
use crate::table::LOCK;
use crate::wait::{self, Effect, WaitError};
use core::ffi::c_int;
use tenon_libc::errno::Errno;
use tenon_libc::time::Timespec;
use tenon_thread::time::{Duration, Instant};

/// Waits for a signal of a set, which the caller blocks.
fn accept(set: Set, deadline: Option<Instant>) -> Result<SigInfo, Errno> {
    // A cancellation point.
    wait::act_on_pending();
    loop {
        let signals = &current().signals;
        let look = |accepted| {
            LOCK.masked(|(), _| {
                let taken = take(set);
                signals
                    .accepted
                    .set(if taken.is_some() { 0 } else { accepted });
                taken
            })
        };
        if let Some(information) = look(set) {
            return Ok(information);
        }
        let cut = wait::pause(deadline);
        if let Some(information) = look(0) {
            return Ok(information);
        }
        // Interrupted by another signal or a cancellation request, or woken without cause.
        let attended = wait::act_on_pending();
        match cut {
            WaitError::TimedOut => return Err(Errno::EAGAIN),
            WaitError::Interrupted if attended != Effect::None => return Err(Errno::EINTR),
            WaitError::Interrupted => {}
        }
    }
}

/// Waits for a signal of a set and stores its number. Returns the error number.
///
/// # Safety
///
/// `set` points to a `sigset_t`; `signal` is valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigwait(set: *const Set, signal: *mut c_int) -> c_int {
    // SAFETY: `set` points to a value of its type, as the caller ensures.
    let set = unsafe { *set };
    loop {
        // `sigwait` has no EINTR.
        if let Ok(information) = accept(set, None) {
            // SAFETY: `signal` is valid for a write, as the caller ensures.
            unsafe { signal.write(information.signal) };
            return 0;
        }
    }
}

/// Waits for a signal of a set, stores its information, and returns its number.
///
/// # Safety
///
/// `set` points to a `sigset_t`; `information` is null or valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigwaitinfo(set: *const Set, information: *mut SigInfo) -> c_int {
    // SAFETY: the pointers meet the requirements of `sigtimedwait`, as the caller ensures; the
    // timeout is null.
    unsafe { sigtimedwait(set, information, core::ptr::null()) }
}

/// Waits for a signal of a set with a timeout, stores its information, and returns its number.
///
/// # Safety
///
/// `set` points to a `sigset_t`; `information` is null or valid for a write; `time` is null, for no
/// timeout, or points to a `struct timespec`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigtimedwait(
    set: *const Set,
    information: *mut SigInfo,
    time: *const Timespec,
) -> c_int {
    // SAFETY: `set` points to a `sigset_t`, and `time` is null or points to a `struct timespec`, as
    // the caller ensures.
    let (set, time) = unsafe { (*set, time.as_ref()) };
    let accepted = (|| {
        let deadline = match time {
            None => None,
            Some(time) => Some(after(time)?),
        };
        accept(set, deadline)
    })();
    match accepted {
        Ok(accepted) => {
            if !information.is_null() {
                // SAFETY: `information` is not null, and then valid for a write, as the caller
                // ensures.
                unsafe { information.write(accepted) };
            }
            accepted.signal
        }
        Err(errno) => errno.raise(),
    }
}

/// The end of a timeout that starts now; a negative one has passed.
fn after(time: &Timespec) -> Result<Instant, Errno> {
    let length = time.total()?.clamp(0, i128::from(u64::MAX));
    Ok(Instant::now() + Duration::from_nanos(length as u64))
}
