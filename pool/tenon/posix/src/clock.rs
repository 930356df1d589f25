//! Clocks (POSIX.1-2017, `clock_gettime`).

use core::ffi::{c_long, c_void};
use core::ptr;
use tenon_libc::errno::{self, Errno};
use tenon_libc::time::{Clock, Id, Timespec, set_realtime};
use tenon_pthread::table::{self, LOCK};
use tenon_thread::time;

/// Reads a clock.
///
/// # Safety
///
/// `now` is valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn clock_gettime(id: Id, now: *mut Timespec) -> i32 {
    errno::report(Clock::of(id).map(|clock| {
        // SAFETY: `now` is valid for a write, as the caller ensures.
        unsafe { now.write(clock.now()) };
    }))
}

/// Reads the resolution of a clock: one tick of the counter.
///
/// # Safety
///
/// `resolution` is null or valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn clock_getres(id: Id, resolution: *mut Timespec) -> i32 {
    errno::report(Clock::of(id).map(|_| {
        if !resolution.is_null() {
            let tick = Timespec::of(time::resolution().as_nanos() as i128);
            // SAFETY: `resolution` is not null, and then valid for a write, as the caller ensures.
            unsafe { resolution.write(tick) };
        }
    }))
}

/// Sets the realtime clock.
///
/// # Safety
///
/// `now` points to a `struct timespec`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn clock_settime(id: Id, now: *const Timespec) -> i32 {
    // SAFETY: `now` points to a value of its type, as the caller ensures.
    let now = unsafe { *now };
    errno::report((|| {
        if Clock::of(id)? != Clock::Realtime {
            return Err(Errno::EINVAL);
        }
        set_realtime(&now)?;
        // Threads that wait until a time of this clock re-evaluate it.
        for slot in table::slots() {
            LOCK.waking(|(), waking| slot.notify_urgent(waking));
        }
        Ok(())
    })())
}

/// `struct timeval`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Timeval {
    seconds: i64,
    microseconds: c_long,
}

/// Reads the realtime clock in microseconds; the C library's `time` calls this.
///
/// # Safety
///
/// `now` is null or valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn gettimeofday(now: *mut Timeval, _zone: *mut c_void) -> i32 {
    let time = Clock::Realtime.now();
    if !ptr::eq(now, ptr::null()) {
        let time = Timeval {
            seconds: time.seconds,
            microseconds: time.nanoseconds / 1_000,
        };
        // SAFETY: `now` is not null, and then valid for a write, as the caller ensures.
        unsafe { now.write(time) };
    }
    0
}
