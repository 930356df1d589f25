//! The C functions on timers (POSIX.1-2017, `timer_create`, `alarm`).

use crate::timer::serve;
use crate::timer::setting::{Itimerspec, Setting, now};
use crate::timer::table::{Timer, TimerId, claim, find, timers};
use core::ffi::{c_int, c_uint};
use tenon_libc::errno::{self, Errno};
use tenon_libc::time::{Clock, Id, Timespec};
use tenon_pthread::signal::event::SigEvent;
use tenon_pthread::signal::set::ALARM;
use tenon_pthread::table::LOCK;

/// `TIMER_ABSTIME`, as picolibc's `<time.h>` defines it.
const ABSOLUTE: c_int = 4;

/// Creates a timer.
///
/// # Safety
///
/// `event` is null, for `SIGALRM` with the timer's ID, or points to a `struct sigevent`; `name` is
/// valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn timer_create(id: Id, event: *const SigEvent, name: *mut TimerId) -> c_int {
    // SAFETY: `event` is null or points to a value of its type, as the caller ensures.
    let event = unsafe { event.as_ref() }.copied();
    let made = (|| {
        let clock = Clock::of(id)?;
        event.map_or(Ok(()), |wanted| wanted.check())?;
        serve::start()?;
        LOCK.masked(|(), _| {
            let (timer, name) = claim(clock)?;
            timer.set_event(event.unwrap_or_else(|| SigEvent::signal(ALARM, name as usize)));
            Ok(name)
        })
    })();
    errno::report(made.map(|made| {
        // SAFETY: `name` is valid for a write, as the caller ensures.
        unsafe { name.write(made) };
    }))
}

/// Deletes a timer. A signal that was sent may still be delivered.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn timer_delete(name: TimerId) -> c_int {
    errno::report(LOCK.masked(|(), _| find(name).map(Timer::delete)))
}

/// Remaining time of a setting.
fn remaining(setting: Option<Setting>) -> Itimerspec {
    setting.map_or_else(Itimerspec::default, |setting| {
        setting.remaining(now(setting.clock()))
    })
}

/// Arms or disarms a timer and stores its former setting.
///
/// # Safety
///
/// `new` points to a `struct itimerspec`; `old` is null or valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn timer_settime(
    name: TimerId,
    flags: c_int,
    new: *const Itimerspec,
    old: *mut Itimerspec,
) -> c_int {
    // SAFETY: `new` points to a value of its type, as the caller ensures.
    let new = unsafe { *new };
    let before = LOCK.masked(|(), _| {
        let timer = find(name)?;
        let clock = timer.clock().ok_or(Errno::EINVAL)?;
        let setting = Setting::of(&new, clock, flags & ABSOLUTE != 0)?;
        Ok(timer.set(setting))
    });
    serve::wake();
    errno::report(before.map(|before| {
        if !old.is_null() {
            // SAFETY: `old` is not null, and then valid for a write, as the caller ensures.
            unsafe { old.write(remaining(before)) };
        }
    }))
}

/// Reads the remaining time of a timer.
///
/// # Safety
///
/// `left` is valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn timer_gettime(name: TimerId, left: *mut Itimerspec) -> c_int {
    let setting = LOCK.masked(|(), _| find(name).map(Timer::setting));
    errno::report(setting.map(|setting| {
        // SAFETY: `left` is valid for a write, as the caller ensures.
        unsafe { left.write(remaining(setting)) };
    }))
}

/// The overrun count of a timer's last signal.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn timer_getoverrun(name: TimerId) -> c_int {
    let overrun = LOCK.masked(|(), _| find(name).map(Timer::overrun));
    overrun.unwrap_or_else(Errno::raise)
}

/// Arms `SIGALRM` for a number of seconds, or disarms it; returns the remaining ones, rounded up.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn alarm(seconds: c_uint) -> c_uint {
    let Some(timer) = timers().first() else {
        return 0;
    };
    if seconds != 0 && serve::start().is_err() {
        // `alarm` reports no errors: as if it was not armed.
        return 0;
    }
    let wanted = Itimerspec {
        value: Timespec {
            seconds: seconds.into(),
            nanoseconds: 0,
        },
        ..Itimerspec::default()
    };
    let setting = Setting::of(&wanted, Clock::Monotonic, false).unwrap_or(None);
    let before = LOCK.masked(|(), _| {
        if timer.clock().is_none() {
            timer.create(Clock::Monotonic);
            timer.set_event(SigEvent::signal(ALARM, 0));
        }
        timer.set(setting)
    });
    serve::wake();
    let left = remaining(before).value;
    let begun = c_uint::from(left.nanoseconds > 0);
    c_uint::try_from(left.seconds).unwrap_or(0) + begun
}
