//! Policies and priorities (POSIX.1-2017, 2.9.4 and `<sched.h>`).
//!
//! A thread of `SCHED_FIFO` runs until it waits, yields or somebody more urgent comes; one of
//! `SCHED_RR` takes turns with its peers by time slices. So does one of `SCHED_OTHER`, as all are
//! whose attributes say nothing else: it may be of priority 0, below every other one. POSIX's
//! priority *n* is Tenon's *n* + 1: Tenon's 0 is the idle thread's.

use crate::table::{LOCK, Name, current, find};
use core::ffi::c_int;
use tenon_libc::time::Timespec;
use tenon_libc::{Errno, errno};
use tenon_thread::options;
use tenon_thread::thread::{self, Priority};

/// `SCHED_OTHER`.
pub const OTHER: u8 = 0;
/// `SCHED_FIFO`.
pub const FIFO: u8 = 1;
/// `SCHED_RR`.
pub(crate) const ROUND_ROBIN: u8 = 2;

/// The most urgent priority.
pub const MOST: c_int = Priority::HIGHEST.number() as c_int - 1;

/// `struct sched_param`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// `sched_priority`.
    pub priority: c_int,
}

/// A policy from C.
pub fn policy(number: c_int) -> Result<u8, Errno> {
    match u8::try_from(number) {
        Ok(policy @ (OTHER | FIFO | ROUND_ROBIN)) => Ok(policy),
        _ => Err(Errno::EINVAL),
    }
}

/// The least urgent priority of a policy.
fn least(policy: u8) -> c_int {
    c_int::from(policy != OTHER)
}

/// A priority from C, of a thread of that policy.
pub fn priority(policy: u8, number: c_int) -> Result<Priority, Errno> {
    match u8::try_from(number) {
        Ok(priority) if (least(policy)..=MOST).contains(&number) => Ok(Priority::new(priority + 1)),
        _ => Err(Errno::EINVAL),
    }
}

/// A priority for C.
pub fn number(priority: Priority) -> c_int {
    c_int::from(priority.number()) - 1
}

/// Whether a thread of that policy takes turns with its peers.
pub(crate) fn takes_turns(policy: u8) -> bool {
    policy != FIFO
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_and_priorities_have_bounds() {
        assert_eq!([0, 1, 2].map(policy), [Ok(0), Ok(1), Ok(2)]);
        assert!(
            [-1, 3, 256, 258]
                .iter()
                .all(|&number| policy(number).is_err())
        );
        assert_eq!(priority(FIFO, 62), Ok(Priority::HIGHEST));
        assert_eq!(priority(OTHER, 0), Ok(Priority::new(1)));
        let none = [-1, 0, 63, 256, 257];
        assert!(
            none.iter()
                .all(|&number| priority(ROUND_ROBIN, number).is_err())
        );
        assert!((0..=62).all(|n| priority(OTHER, n).map(number) == Ok(n)));
    }
}
