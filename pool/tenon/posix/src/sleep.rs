//! Sleeping.

use core::ffi::{c_int, c_uint};
use core::ptr;
use tenon_libc::errno::{self, Errno};
use tenon_libc::time::{Clock, Id, Timespec};
use tenon_pthread::wait::{self, Attended, Cut};
use tenon_thread::time::{Duration, Instant};

/// `TIMER_ABSTIME`, as picolibc's `<time.h>` has it.
const ABSOLUTE: c_int = 4;

/// Sleeps until the instant that `target` says, asked anew whenever a clock was set; an error with
/// what is left if a handler of a signal ran.
fn sleep_until(target: impl Fn() -> Result<Instant, Errno>) -> Result<(), (Errno, Duration)> {
    wait::attend();
    loop {
        let instant = target().map_err(|errno| (errno, Duration::ZERO))?;
        match wait::pause(Some(instant)) {
            Cut::TimedOut => return Ok(()),
            Cut::Interrupted => {
                if wait::attend() != Attended::Nothing {
                    return Err((Errno::EINTR, instant.since(Instant::now())));
                }
            }
        }
    }
}

/// The instant after a sleep of that time from now on.
fn after(time: &Timespec) -> Result<Instant, Errno> {
    let nanoseconds = time.total()?;
    if nanoseconds < 0 {
        return Err(Errno::EINVAL);
    }
    let nanoseconds = u64::try_from(nanoseconds).unwrap_or(u64::MAX);
    Ok(Instant::now() + Duration::from_nanos(nanoseconds))
}

/// Sleeps for a while, and says what is left of it if a handler of a signal ran.
fn sleep_for(time: &Timespec) -> Result<(), (Errno, Duration)> {
    let instant = after(time).map_err(|errno| (errno, Duration::ZERO))?;
    sleep_until(|| Ok(instant))
}

/// Writes what is left, if somebody asked for it.
///
/// # Safety
///
/// There is a place for it, unless it is null.
unsafe fn note_rest(
    outcome: Result<(), (Errno, Duration)>,
    rest: *mut Timespec,
) -> Result<(), Errno> {
    outcome.map_err(|(errno, left)| {
        if errno == Errno::EINTR && !rest.is_null() {
            // SAFETY: the caller's contract.
            unsafe { rest.write(Timespec::of(left.as_nanos() as i128)) };
        }
        errno
    })
}

/// Sleeps by a clock: until a time of it, or for a while. Returns the error number.
///
/// # Safety
///
/// The time is a `struct timespec`; there is a place for what is left, unless it is null.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn clock_nanosleep(
    id: Id,
    flags: c_int,
    time: *const Timespec,
    rest: *mut Timespec,
) -> c_int {
    // SAFETY: the caller's contract.
    let time = unsafe { *time };
    errno::number(Clock::of(id).and_then(|clock| {
        if flags & ABSOLUTE != 0 {
            let slept = sleep_until(|| clock.instant(&time));
            slept.map_err(|(errno, _)| errno)
        } else {
            // SAFETY: the caller's contract.
            unsafe { note_rest(sleep_for(&time), rest) }
        }
    }))
}

/// Sleeps for a while.
///
/// # Safety
///
/// As for [`clock_nanosleep`].
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn nanosleep(time: *const Timespec, rest: *mut Timespec) -> c_int {
    // SAFETY: the caller's contract.
    errno::report(unsafe { note_rest(sleep_for(&*time), rest) })
}

/// Sleeps for so many seconds; returns how many are left, begun ones counted, if a handler ran.
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

/// Sleeps for so many microseconds.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn usleep(microseconds: c_uint) -> c_int {
    let time = Timespec {
        seconds: i64::from(microseconds / 1_000_000),
        nanoseconds: i64::from(microseconds % 1_000_000) * 1_000,
    };
    // SAFETY: nobody asks for what is left.
    errno::report(unsafe { note_rest(sleep_for(&time), ptr::null_mut()) })
}
