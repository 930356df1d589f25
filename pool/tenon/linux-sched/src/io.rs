//! Priorities of input and output of threads, which are kept, without effect: no device is shared.

use crate::{nice, target};
use tenon_process::schedule::{Policy, Schedule};
use tenon_process::{Caller, Errno, capability, with_state};

/// `IOPRIO_WHO_PROCESS`: the numbers of [`nice::each`] begin with zero.
const FIRST: i32 = 1;
/// A class lies above its level.
const CLASS: u32 = 13;
const REAL_TIME: u32 = 1;
const BEST_EFFORT: u32 = 2;
const IDLE: u32 = 3;

/// The class and the level of a priority.
const fn parts(priority: u32) -> (u32, u32) {
    (priority >> CLASS, priority & 7)
}

/// The priority that a thread has in effect: without a class, that of its schedule.
fn effective(schedule: &Schedule) -> u16 {
    let class = match schedule.policy {
        _ if schedule.io_priority >> CLASS != 0 => return schedule.io_priority,
        Policy::Idle => IDLE,
        policy if policy.is_fair() => BEST_EFFORT,
        _ => REAL_TIME,
    };
    let level = (i32::from(schedule.nice) + 20) / 5;
    (class << CLASS | level.cast_unsigned()) as u16
}

/// `ioprio_set`.
pub fn ioprio_set(caller: &Caller) -> Result<u64, Errno> {
    let Ok(priority) = u16::try_from(caller.argument(2) as u32) else {
        return Err(Errno::EINVAL);
    };
    with_state(|state| {
        let own = &caller.parts(state)?.0.credentials;
        let privileged = own.has(capability::SYS_NICE) || own.has(capability::SYS_ADMIN);
        match parts(priority.into()) {
            (REAL_TIME, _) if !privileged => return Err(Errno::EPERM),
            (REAL_TIME | BEST_EFFORT | IDLE, _) | (0, 0) => {}
            _ => return Err(Errno::EINVAL),
        }
        nice::each(state, caller, caller.int(0) - FIRST, |state, number| {
            let target = target::of_number(state, caller, number)?;
            if !target.same_user && !target.privileged {
                return Err(Errno::EPERM);
            }
            state.scheduler.set_io_priority(number, priority)
        })?;
        Ok(0)
    })
}

/// `ioprio_get`: of several threads the most urgent one.
pub fn ioprio_get(caller: &Caller) -> Result<u64, Errno> {
    let mut best = u16::MAX;
    with_state(|state| {
        let one = caller.int(0) == FIRST;
        nice::each(state, caller, caller.int(0) - FIRST, |state, number| {
            let schedule = state.scheduler.get(number)?;
            let own = if one {
                schedule.io_priority
            } else {
                effective(&schedule)
            };
            best = best.min(own);
            Ok(())
        })?;
        Ok(best.into())
    })
}
