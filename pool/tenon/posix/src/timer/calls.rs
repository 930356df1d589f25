//! `timer_create` and its like of `<time.h>`, and `alarm` of `<unistd.h>` (POSIX.1-2017).

use crate::timer::serve;
use crate::timer::setting::{Itimerspec, Setting, now};
use crate::timer::table::{Name, Timer, claim, find, timers};
use core::ffi::{c_int, c_uint};
use tenon_libc::errno::{self, Errno};
use tenon_libc::time::{Clock, Id, Timespec};
use tenon_pthread::signal::event::Wanted;
use tenon_pthread::signal::set::ALARM;
use tenon_pthread::table::LOCK;

/// `TIMER_ABSTIME`, as picolibc's `<time.h>` has it.
const ABSOLUTE: c_int = 4;

/// Makes a timer.
///
/// # Safety
///
/// The event is null, for `SIGALRM` with the timer's name, or a `struct sigevent`; there is a place
/// for the name.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn timer_create(id: Id, event: *const Wanted, name: *mut Name) -> c_int {
    // SAFETY: the caller's contract.
    let event = unsafe { event.as_ref() }.copied();
    let made = (|| {
        let clock = Clock::of(id)?;
        event.map_or(Ok(()), |wanted| wanted.check())?;
        serve::begin()?;
        LOCK.masked(|(), _| {
            let (timer, name) = claim(clock)?;
            timer.tell(event.unwrap_or_else(|| Wanted::signal(ALARM, name as usize)));
            Ok(name)
        })
    })();
    errno::report(made.map(|made| {
        // SAFETY: the caller's contract.
        unsafe { name.write(made) };
    }))
}

/// Ends a timer. A signal of it that was sent may still come.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn timer_delete(name: Name) -> c_int {
    errno::report(LOCK.masked(|(), _| find(name).map(Timer::end)))
}

/// What is left of a setting.
fn rest(setting: Option<Setting>) -> Itimerspec {
    setting.map_or_else(Itimerspec::default, |setting| {
        setting.rest(now(setting.clock()))
    })
}

/// Arms a timer, or disarms it, and says what was left of it.
///
/// # Safety
///
/// The new setting is a `struct itimerspec`; there is a place for the old one, unless it is null.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn timer_settime(
    name: Name,
    flags: c_int,
    new: *const Itimerspec,
    old: *mut Itimerspec,
) -> c_int {
    // SAFETY: the caller's contract.
    let new = unsafe { *new };
    let before = LOCK.masked(|(), _| {
        let timer = find(name)?;
        let clock = timer.clock().ok_or(Errno::EINVAL)?;
        let setting = Setting::of(&new, clock, flags & ABSOLUTE != 0)?;
        Ok(timer.set(setting))
    });
    serve::look();
    errno::report(before.map(|before| {
        if !old.is_null() {
            // SAFETY: the caller's contract.
            unsafe { old.write(rest(before)) };
        }
    }))
}

/// Says what is left of a timer.
///
/// # Safety
///
/// There is a place for it.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn timer_gettime(name: Name, left: *mut Itimerspec) -> c_int {
    let setting = LOCK.masked(|(), _| find(name).map(Timer::setting));
    errno::report(setting.map(|setting| {
        // SAFETY: the caller's contract.
        unsafe { left.write(rest(setting)) };
    }))
}

/// Expiries that a timer's last signal stood for beyond the first.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn timer_getoverrun(name: Name) -> c_int {
    let overrun = LOCK.masked(|(), _| find(name).map(Timer::overrun));
    overrun.unwrap_or_else(Errno::raise)
}

/// Sends `SIGALRM` in so many seconds, or not at all; returns how many were left, begun ones counted.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn alarm(seconds: c_uint) -> c_uint {
    let Some(timer) = timers().first() else {
        return 0;
    };
    if seconds != 0 && serve::begin().is_err() {
        // It has no error: as if none was wanted.
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
            timer.make(Clock::Monotonic);
            timer.tell(Wanted::signal(ALARM, 0));
        }
        timer.set(setting)
    });
    serve::look();
    let left = rest(before).value;
    let begun = c_uint::from(left.nanoseconds > 0);
    c_uint::try_from(left.seconds).unwrap_or(0) + begun
}
