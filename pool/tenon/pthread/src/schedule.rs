//! Scheduling calls (POSIX.1-2017, `<sched.h>` and `pthread_setschedparam`).

use crate::policy::{MOST, Parameters, least, number, policy, priority, takes_turns};
use crate::table::{LOCK, Name, current, find};
use core::ffi::c_int;
use tenon_libc::time::Timespec;
use tenon_libc::{Errno, errno};
use tenon_thread::options;
use tenon_thread::thread;

/// The highest priority of a policy.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn sched_get_priority_max(number: c_int) -> c_int {
    policy(number).map_or_else(Errno::raise, |_| MOST)
}

/// The lowest priority of a policy.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn sched_get_priority_min(number: c_int) -> c_int {
    policy(number).map_or_else(Errno::raise, least)
}

/// Says how long a thread of `SCHED_RR` runs before others of its priority do.
///
/// # Safety
///
/// There is a place for the time.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sched_rr_get_interval(process: c_int, interval: *mut Timespec) -> c_int {
    if let Err(error) = the_only(process) {
        return error.raise();
    }
    let nanoseconds = options::slice() as i128 * 1_000;
    // SAFETY: the caller's contract.
    unsafe { interval.write(Timespec::of(nanoseconds)) };
    0
}

/// Gives way to the others of the same priority.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn sched_yield() -> c_int {
    thread::yield_now();
    0
}

/// Whether that is the only process, by its number or as the caller's.
fn the_only(process: c_int) -> Result<(), Errno> {
    (0..=1).contains(&process).then_some(()).ok_or(Errno::ESRCH)
}

/// Changes how a thread is scheduled, from now on; returns its former policy.
fn reschedule(name: Name, policy: Option<u8>, wanted: c_int) -> Result<u8, Errno> {
    let slot = LOCK.masked(|(), _| find(name))?;
    let (before, after) = (slot.policy.get(), policy.unwrap_or(slot.policy.get()));
    let priority = priority(after, wanted)?;
    let thread = LOCK.masked(|(), _| {
        slot.policy.set(after);
        slot.thread()
    });
    // One that has ended and was not joined yet is scheduled no more.
    let thread = thread.ok_or(Errno::ESRCH)?;
    thread.set_slicing(takes_turns(after));
    thread.set_priority(priority);
    Ok(before)
}

/// How a thread is scheduled: policy and own priority.
fn scheduled(name: Name) -> Result<(u8, Parameters), Errno> {
    LOCK.masked(|(), _| {
        let slot = find(name)?;
        let thread = slot.thread().ok_or(Errno::ESRCH)?;
        let priority = number(thread.priority());
        Ok((slot.policy.get(), Parameters { priority }))
    })
}

/// A number from C, or -1 and `errno`.
fn value(result: Result<u8, Errno>) -> c_int {
    result.map_or_else(Errno::raise, c_int::from)
}

/// Changes policy and priority of the process: of its thread that calls this, as of a program's only
/// one.
///
/// # Safety
///
/// The parameters are a `struct sched_param`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sched_setscheduler(
    process: c_int,
    number: c_int,
    parameters: *const Parameters,
) -> c_int {
    // SAFETY: the caller's contract.
    let wanted = unsafe { (*parameters).priority };
    let policy = the_only(process).and_then(|()| policy(number));
    value(policy.and_then(|policy| reschedule(current().name(), Some(policy), wanted)))
}

/// Changes the priority of the process, as `sched_setscheduler` does.
///
/// # Safety
///
/// The parameters are a `struct sched_param`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sched_setparam(process: c_int, parameters: *const Parameters) -> c_int {
    // SAFETY: the caller's contract.
    let wanted = unsafe { (*parameters).priority };
    let changed = the_only(process).and_then(|()| reschedule(current().name(), None, wanted));
    errno::report(changed.map(|_| ()))
}

/// The policy of the process: of its thread that calls this.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn sched_getscheduler(process: c_int) -> c_int {
    value(the_only(process).map(|()| current().policy.get()))
}

/// Reads the priority of the process: of its thread that calls this.
///
/// # Safety
///
/// There is a place for it.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sched_getparam(process: c_int, parameters: *mut Parameters) -> c_int {
    let read = the_only(process).and_then(|()| scheduled(current().name()));
    // SAFETY: the caller's contract.
    errno::report(read.map(|(_, read)| unsafe { parameters.write(read) }))
}

/// Changes policy and priority of a thread.
///
/// # Safety
///
/// The parameters are a `struct sched_param`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_setschedparam(
    name: Name,
    number: c_int,
    parameters: *const Parameters,
) -> c_int {
    // SAFETY: the caller's contract.
    let wanted = unsafe { (*parameters).priority };
    let changed = policy(number).and_then(|policy| reschedule(name, Some(policy), wanted));
    errno::number(changed.map(|_| ()))
}

/// Changes the priority of a thread.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn pthread_setschedprio(name: Name, wanted: c_int) -> c_int {
    errno::number(reschedule(name, None, wanted).map(|_| ()))
}

/// Reads policy and own priority of a thread, which mutexes do not change.
///
/// # Safety
///
/// There are places for both.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_getschedparam(
    name: Name,
    policy: *mut c_int,
    parameters: *mut Parameters,
) -> c_int {
    errno::number(scheduled(name).map(|(number, priority)| {
        // SAFETY: the caller's contract.
        unsafe {
            policy.write(c_int::from(number));
            parameters.write(priority);
        }
    }))
}
