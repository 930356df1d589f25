//! Sleeping of threads (POSIX.1-2017, `clock_nanosleep`).

use core::ffi::{c_int, c_uint};
use core::ptr;
use tenon_libc::errno::{self, Errno};
use tenon_libc::time::{Clock, Id, Timespec};
use tenon_pthread::wait::{self, Effect, WaitError};
use tenon_thread::time::{Duration, Instant};

/// `TIMER_ABSTIME`, as picolibc's `<time.h>` defines it.
const ABSOLUTE: c_int = 4;

/// Sleeps until the instant `target`, which is evaluated again whenever a clock was set. If a
/// signal handler ran, the error carries the remaining time.
fn sleep_until(target: impl Fn() -> Result<Instant, Errno>) -> Result<(), (Errno, Duration)> {
    wait::act_on_pending();
    loop {
        let instant = target().map_err(|errno| (errno, Duration::ZERO))?;
        match wait::pause(Some(instant)) {
            WaitError::TimedOut => return Ok(()),
            WaitError::Interrupted => {
                if wait::act_on_pending() != Effect::None {
                    return Err((Errno::EINTR, instant.since(Instant::now())));
                }
            }
        }
    }
}

/// The end of a sleep that starts now.
fn after(time: &Timespec) -> Result<Instant, Errno> {
    let nanoseconds = time.total()?;
    if nanoseconds < 0 {
        return Err(Errno::EINVAL);
    }
    let nanoseconds = u64::try_from(nanoseconds).unwrap_or(u64::MAX);
    Ok(Instant::now() + Duration::from_nanos(nanoseconds))
}

/// Sleeps for a duration; if a signal handler ran, the error carries the remaining time.
fn sleep_for(time: &Timespec) -> Result<(), (Errno, Duration)> {
    let instant = after(time).map_err(|errno| (errno, Duration::ZERO))?;
    sleep_until(|| Ok(instant))
}

/// Stores the remaining time if the caller asked for it.
///
/// # Safety
///
/// `remaining` is null or valid for a write.
unsafe fn store_remaining(
    outcome: Result<(), (Errno, Duration)>,
    remaining: *mut Timespec,
) -> Result<(), Errno> {
    outcome.map_err(|(errno, left)| {
        if errno == Errno::EINTR && !remaining.is_null() {
            // SAFETY: `remaining` is not null, and then valid for a write, as the caller ensures.
            unsafe { remaining.write(Timespec::of(left.as_nanos() as i128)) };
        }
        errno
    })
}

/// Sleeps until a time of a clock, or for a duration. Returns the error number.
///
/// # Safety
///
/// `time` points to a `struct timespec`; `remaining` is null or valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn clock_nanosleep(
    id: Id,
    flags: c_int,
    time: *const Timespec,
    remaining: *mut Timespec,
) -> c_int {
    // SAFETY: `time` points to a value of its type, as the caller ensures.
    let time = unsafe { *time };
    errno::number(Clock::of(id).and_then(|clock| {
        if flags & ABSOLUTE != 0 {
            let slept = sleep_until(|| clock.instant(&time));
            slept.map_err(|(errno, _)| errno)
        } else {
            // SAFETY: `remaining` is null or valid for a write, as the caller ensures.
            unsafe { store_remaining(sleep_for(&time), remaining) }
        }
    }))
}

/// Sleeps for a duration.
///
/// # Safety
///
/// The requirements of [`clock_nanosleep`].
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn nanosleep(time: *const Timespec, remaining: *mut Timespec) -> c_int {
    // SAFETY: `time` points to a `struct timespec`, and `remaining` is null or valid for a write, as the
    // caller ensures.
    errno::report(unsafe { store_remaining(sleep_for(&*time), remaining) })
}

/// Sleeps for seconds; if a handler ran, returns the remaining ones, rounded up.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn sleep(seconds: c_uint) -> c_uint {
    let time = Timespec {
        seconds: seconds.into(),
        nanoseconds: 0,
    };
    match sleep_for(&time) {
        Ok(()) => 0,
        Err((_, left)) => {
            let begun = u64::from(left.subsec_nanos() > 0);
            c_uint::try_from(left.as_secs() + begun).unwrap_or(c_uint::MAX)
        }
    }
}

/// Sleeps for microseconds.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn usleep(microseconds: c_uint) -> c_int {
    let time = Timespec {
        seconds: i64::from(microseconds / 1_000_000),
        nanoseconds: i64::from(microseconds % 1_000_000) * 1_000,
    };
    // SAFETY: the pointer is null.
    errno::report(unsafe { store_remaining(sleep_for(&time), ptr::null_mut()) })
}
