//! Scheduling calls (POSIX.1-2017, `<sched.h>` and `pthread_setschedparam`).

use crate::policy::{HIGHEST, Parameters, is_time_sliced, lowest_of, number, policy, priority};
use crate::table::{LOCK, ThreadId, current, find};
use core::ffi::c_int;
use tenon_libc::time::Timespec;
use tenon_libc::{Errno, errno};
use tenon_thread::options;
use tenon_thread::thread;

/// The highest priority of a policy.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn sched_get_priority_max(number: c_int) -> c_int {
    policy(number).map_or_else(Errno::raise, |_| HIGHEST)
}

/// The lowest priority of a policy.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn sched_get_priority_min(number: c_int) -> c_int {
    policy(number).map_or_else(Errno::raise, lowest_of)
}

/// Reads the time slice of `SCHED_RR`.
///
/// # Safety
///
/// `interval` is valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sched_rr_get_interval(process: c_int, interval: *mut Timespec) -> c_int {
    if let Err(error) = check_process(process) {
        return error.raise();
    }
    let nanoseconds = options::slice() as i128 * 1_000;
    // SAFETY: `interval` is valid for a write, as the caller ensures.
    unsafe { interval.write(Timespec::of(nanoseconds)) };
    0
}

/// Yields to threads of the same priority.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn sched_yield() -> c_int {
    thread::yield_now();
    0
}

/// Checks that `process` is the only process, by its number or as 0.
fn check_process(process: c_int) -> Result<(), Errno> {
    (0..=1).contains(&process).then_some(()).ok_or(Errno::ESRCH)
}

/// Changes policy and priority of a thread; returns its former policy.
fn reschedule(name: ThreadId, policy: Option<u8>, wanted: c_int) -> Result<u8, Errno> {
    let slot = LOCK.masked(|(), _| find(name))?;
    let (before, after) = (slot.policy.get(), policy.unwrap_or(slot.policy.get()));
    let priority = priority(after, wanted)?;
    let thread = LOCK.masked(|(), _| {
        slot.policy.set(after);
        slot.thread()
    });
    // A thread that has ended but is not joined yet cannot be scheduled.
    let thread = thread.ok_or(Errno::ESRCH)?;
    thread.set_slicing(is_time_sliced(after));
    thread.set_priority(priority);
    Ok(before)
}

/// Policy and own priority of a thread.
fn scheduled(name: ThreadId) -> Result<(u8, Parameters), Errno> {
    LOCK.masked(|(), _| {
        let slot = find(name)?;
        let thread = slot.thread().ok_or(Errno::ESRCH)?;
        let priority = number(thread.priority());
        Ok((slot.policy.get(), Parameters { priority }))
    })
}

/// A non-negative result for C, or -1 with `errno`.
fn value(result: Result<u8, Errno>) -> c_int {
    result.map_or_else(Errno::raise, c_int::from)
}

/// Changes policy and priority of the process, which are those of the calling thread.
///
/// # Safety
///
/// `parameters` points to a `struct sched_param`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sched_setscheduler(
    process: c_int,
    number: c_int,
    parameters: *const Parameters,
) -> c_int {
    // SAFETY: `parameters` points to a value of its type, as the caller ensures.
    let wanted = unsafe { (*parameters).priority };
    let policy = check_process(process).and_then(|()| policy(number));
    value(policy.and_then(|policy| reschedule(current().id(), Some(policy), wanted)))
}

/// Changes the priority of the process, as `sched_setscheduler` does.
///
/// # Safety
///
/// `parameters` points to a `struct sched_param`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sched_setparam(process: c_int, parameters: *const Parameters) -> c_int {
    // SAFETY: `parameters` points to a value of its type, as the caller ensures.
    let wanted = unsafe { (*parameters).priority };
    let changed = check_process(process).and_then(|()| reschedule(current().id(), None, wanted));
    errno::report(changed.map(|_| ()))
}

/// The policy of the process, which is that of the calling thread.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn sched_getscheduler(process: c_int) -> c_int {
    value(check_process(process).map(|()| current().policy.get()))
}

/// Reads the priority of the process, which is that of the calling thread.
///
/// # Safety
///
/// `parameters` is valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sched_getparam(process: c_int, parameters: *mut Parameters) -> c_int {
    let read = check_process(process).and_then(|()| scheduled(current().id()));
    // SAFETY: `parameters` is valid for a write, as the caller ensures.
    errno::report(read.map(|(_, read)| unsafe { parameters.write(read) }))
}

/// Changes policy and priority of a thread.
///
/// # Safety
///
/// `parameters` points to a `struct sched_param`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_setschedparam(
    name: ThreadId,
    number: c_int,
    parameters: *const Parameters,
) -> c_int {
    // SAFETY: `parameters` points to a value of its type, as the caller ensures.
    let wanted = unsafe { (*parameters).priority };
    let changed = policy(number).and_then(|policy| reschedule(name, Some(policy), wanted));
    errno::number(changed.map(|_| ()))
}

/// Changes the priority of a thread.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_setschedprio(name: ThreadId, wanted: c_int) -> c_int {
    errno::number(reschedule(name, None, wanted).map(|_| ()))
}

/// Reads policy and own priority of a thread; priority inheritance does not show.
///
/// # Safety
///
/// `policy` and `parameters` are valid for writes.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_getschedparam(
    name: ThreadId,
    policy: *mut c_int,
    parameters: *mut Parameters,
) -> c_int {
    errno::number(scheduled(name).map(|(number, priority)| {
        // SAFETY: `policy` and `parameters` are valid for writes, as the caller ensures.
        unsafe {
            policy.write(c_int::from(number));
            parameters.write(priority);
        }
    }))
}
