//! Reading and setting clocks.

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
/// There is a place for the time.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn clock_gettime(id: Id, now: *mut Timespec) -> i32 {
    errno::report(Clock::of(id).map(|clock| {
        // SAFETY: the caller's contract.
        unsafe { now.write(clock.now()) };
    }))
}

/// Says how fine a clock is: a tick of the counter.
///
/// # Safety
///
/// There is a place for it, unless it is null.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn clock_getres(id: Id, resolution: *mut Timespec) -> i32 {
    errno::report(Clock::of(id).map(|_| {
        if !resolution.is_null() {
            let tick = Timespec::of(time::resolution().as_nanos() as i128);
            // SAFETY: the caller's contract.
            unsafe { resolution.write(tick) };
        }
    }))
}

/// Sets the realtime clock.
///
/// # Safety
///
/// The time is a `struct timespec`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn clock_settime(id: Id, now: *const Timespec) -> i32 {
    // SAFETY: the caller's contract.
    let now = unsafe { *now };
    errno::report((|| {
        if Clock::of(id)? != Clock::Realtime {
            return Err(Errno::EINVAL);
        }
        set_realtime(&now)?;
        // Whoever waits until a time of it, or is about to, looks again.
        for slot in table::slots() {
            LOCK.waking(|(), waking| slot.rouse(waking));
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

/// Reads the realtime clock in microseconds; the C library's `time` asks for it.
///
/// # Safety
///
/// There is a place for the time, unless it is null.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn gettimeofday(now: *mut Timeval, _zone: *mut c_void) -> i32 {
    let time = Clock::Realtime.now();
    if !ptr::eq(now, ptr::null()) {
        let time = Timeval {
            seconds: time.seconds,
            microseconds: time.nanoseconds / 1_000,
        };
        // SAFETY: the caller's contract.
        unsafe { now.write(time) };
    }
    0
}
