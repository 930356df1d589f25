//! Waiting for signals.

use crate::current;
use crate::pending::{Information, Set};
use crate::signal::deliver::take;
use crate::table::LOCK;
use crate::wait::{self, Attended, Cut};
use core::ffi::c_int;
use tenon_libc::errno::Errno;
use tenon_libc::time::Timespec;
use tenon_thread::time::{Duration, Instant};

/// Waits for one of those signals, which the caller blocks.
fn accept(set: Set, deadline: Option<Instant>) -> Result<Information, Errno> {
    // A cancellation point.
    wait::attend();
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
        // Interrupted by another signal, a cancel, or for nothing.
        let attended = wait::attend();
        match cut {
            Cut::TimedOut => return Err(Errno::EAGAIN),
            Cut::Interrupted if attended != Attended::Nothing => return Err(Errno::EINTR),
            Cut::Interrupted => {}
        }
    }
}

/// Waits for a signal of a set, and says which. Returns the error number.
///
/// # Safety
///
/// The set is one; there is a place for the number.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigwait(set: *const Set, signal: *mut c_int) -> c_int {
    // SAFETY: the caller's contract.
    let set = unsafe { *set };
    loop {
        // It has no EINTR.
        if let Ok(information) = accept(set, None) {
            // SAFETY: the caller's contract.
            unsafe { signal.write(information.signal) };
            return 0;
        }
    }
}

/// Waits for a signal of a set, says all of it, and returns its number.
///
/// # Safety
///
/// The set is one; there is a place for what is said, unless it is null.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigwaitinfo(set: *const Set, information: *mut Information) -> c_int {
    // SAFETY: the caller's contract.
    unsafe { sigtimedwait(set, information, core::ptr::null()) }
}

/// Waits for a signal of a set for a while, says all of it, and returns its number.
///
/// # Safety
///
/// As for [`sigwaitinfo`]; the time is null, for no limit, or a `struct timespec`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigtimedwait(
    set: *const Set,
    information: *mut Information,
    time: *const Timespec,
) -> c_int {
    // SAFETY: the caller's contract.
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
                // SAFETY: the caller's contract.
                unsafe { information.write(accepted) };
            }
            accepted.signal
        }
        Err(errno) => errno.raise(),
    }
}

/// The instant after that time; less than none is none.
fn after(time: &Timespec) -> Result<Instant, Errno> {
    let length = time.total()?.clamp(0, i128::from(u64::MAX));
    Ok(Instant::now() + Duration::from_nanos(length as u64))
}
