//! `<tenon/vlib.h>`.

use crate::vlib::errno;
use crate::vlib::table::{Callback, keep, set_callback, take_callback, with};
use core::ffi::{CStr, c_char, c_int, c_void};
use tenon_libc::Errno;
use tenon_libc::errno::report;
use tenon_thread::time::{Duration, Instant};
use tenon_vlib::{Channel, Error};

/// When so many ns are over; never for the largest number.
fn deadline(timeout: u64) -> Option<Instant> {
    (timeout != u64::MAX).then(|| Instant::now() + Duration::from_nanos(timeout))
}

/// Takes a part of a vLib's memory.
///
/// # Safety
///
/// The name is null or a string; the places are null or have room.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn vlib_init(
    vlib: *const c_char,
    size: usize,
    channel: *mut u32,
    memory: *mut *mut c_void,
) -> c_int {
    if vlib.is_null() || channel.is_null() || memory.is_null() {
        return Errno::EINVAL.raise();
    }
    // SAFETY: `vlib` is a NUL-terminated string, as the caller ensures.
    let name = unsafe { CStr::from_ptr(vlib) }.to_str();
    report(name.map_err(|_| Errno::ENOENT).and_then(|name| {
        let opened = Channel::open(name, size).map_err(errno)?;
        let words = opened.memory().first_words::<1>();
        let [first] = words.ok_or(Errno::EINVAL)?;
        let number = keep(opened)?;
        // SAFETY: `channel` is valid for a write, as the caller ensures.
        unsafe {
            channel.write(number);
            memory.write(first.as_ptr().cast());
        }
        Ok(())
    }))
}

/// Calls.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn vlib_call(channel: u32, timeout: u64) -> c_int {
    let deadline = deadline(timeout);
    let called = with(channel, |mut channel| {
        let result = channel.call_until(deadline);
        (Some(channel), result)
    });
    report(called.and_then(|result| result.map_err(errno)))
}

/// Has a call made.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn vlib_async_call(
    channel: u32,
    callback: Option<Callback>,
    word: usize,
    timeout: u64,
) -> c_int {
    let Some(callback) = callback else {
        return Errno::EINVAL.raise();
    };
    let deadline = deadline(timeout);
    let called = with(channel, |mut opened| {
        let result = set_callback(channel, callback, word).and_then(|()| {
            let asked = opened.call_async(deadline, completed, channel as usize);
            asked.map_err(|error| {
                take_callback(channel);
                errno(error)
            })
        });
        (Some(opened), result)
    });
    report(called.flatten())
}

/// Has calls be made on a budget of so many ns in each so many; on none if both are 0.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn vlib_async_budget(channel: u32, budget: u64, period: u64) -> c_int {
    let [budget, period] = [budget, period].map(Duration::from_nanos);
    let share = (!period.is_zero()).then_some((budget, period));
    let promised = with(channel, |mut opened| {
        let result = opened.promise_async(share).map_err(errno);
        (Some(opened), result)
    });
    report(promised.flatten())
}

/// Tells C what came of a call.
fn completed(channel: usize, result: Result<(), Error>) {
    if let Some((callback, word)) = take_callback(channel as u32) {
        let error = result.err().map_or(0, |error| errno(error).0);
        callback(error, word);
    }
}

/// Gives a channel back.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn vlib_channel_destroy(channel: u32) -> c_int {
    let closed = with(channel, |channel| match channel.close() {
        Ok(()) => (None, Ok(())),
        Err((channel, error)) => (Some(channel), Err(error)),
    });
    report(closed.and_then(|result| result.map_err(errno)))
}
