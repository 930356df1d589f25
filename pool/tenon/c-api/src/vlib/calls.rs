//! The C functions on vLibs (*vLibOS*, 3.1).

use crate::vlib::errno;
use crate::vlib::table::{Callback, keep, set_callback, take_callback, with};
use core::ffi::{CStr, c_char, c_int, c_void};
use tenon_libc::Errno;
use tenon_libc::errno::report;
use tenon_thread::time::{Duration, Instant};
use tenon_vlib::{Channel, Error};

/// The deadline of a timeout in ns; the maximum stands for none.
fn deadline(timeout: u64) -> Option<Instant> {
    (timeout != u64::MAX).then(|| Instant::now() + Duration::from_nanos(timeout))
}

/// Opens a channel to a vLib with a part of its memory.
///
/// # Safety
///
/// `vlib` is null or a NUL-terminated string; `channel` and `memory` are null or valid for writes.
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
        // SAFETY: `channel` and `memory` are not null, and then valid for writes, as the caller
        // ensures.
        unsafe {
            channel.write(number);
            memory.write(first.as_ptr().cast());
        }
        Ok(())
    }))
}

/// Makes a synchronous call.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn vlib_call(channel: u32, timeout: u64) -> c_int {
    let deadline = deadline(timeout);
    let called = with(channel, |mut channel| {
        let result = channel.call_until(deadline);
        (Some(channel), result)
    });
    report(called.and_then(|result| result.map_err(errno)))
}

/// Starts an asynchronous call.
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

/// Sets budget and period in ns of asynchronous calls; both 0 remove them.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn vlib_async_budget(channel: u32, budget: u64, period: u64) -> c_int {
    let [budget, period] = [budget, period].map(Duration::from_nanos);
    let share = (!period.is_zero()).then_some((budget, period));
    let promised = with(channel, |mut opened| {
        let result = opened.reserve_async(share).map_err(errno);
        (Some(opened), result)
    });
    report(promised.flatten())
}

/// Reports the completion of an asynchronous call to the program.
fn completed(channel: usize, result: Result<(), Error>) {
    if let Some((callback, word)) = take_callback(channel as u32) {
        let error = result.err().map_or(0, |error| errno(error).0);
        callback(error, word);
    }
}

/// Closes a channel.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn vlib_channel_destroy(channel: u32) -> c_int {
    let closed = with(channel, |channel| match channel.close() {
        Ok(()) => (None, Ok(())),
        Err((channel, error)) => (Some(channel), Err(error)),
    });
    report(closed.and_then(|result| result.map_err(errno)))
}
