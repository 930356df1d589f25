//! Policies and priorities of threads.

use crate::target::{self, Target};
use tenon_process::schedule::{
    Change, KEEP_PARAMETERS, KEEP_POLICY, Policy, RESET_ON_FORK, Reservation, Schedule,
};
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, State, with_state};
use tenon_thread::{options, thread};

/// `SCHED_RESET_ON_FORK`, beside the policy of `sched_setscheduler`.
const RESET: u32 = 0x4000_0000;

/// `sched_yield`. A thread with a budget has no use for the rest of it.
pub fn sched_yield(caller: &Caller) -> Result<u64, Errno> {
    if !caller.slot().0.give_up_budget() {
        thread::yield_now();
    }
    Ok(0)
}

/// Changes the schedule of a thread, if the caller may.
fn change(state: &mut State, target: &Target, change: &Change) -> Result<u64, Errno> {
    let new = target.schedule.changed(change)?;
    let permitted = target.same_user && target.schedule.permits(&new, target.limits);
    if !permitted && !target.privileged {
        return Err(Errno::EPERM);
    }
    state.scheduler.set(target.number, new)?;
    Ok(0)
}

/// Changes policy, if any, and priority, which is in the memory of the caller.
fn set(caller: &Caller, policy: Option<u32>, from: usize) -> Result<u64, Errno> {
    if from == 0 || caller.int(0) < 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let mut bytes = [0; 4];
        user_memory::read(state, caller, from, &mut bytes)?;
        let target = target::of_argument(state, caller)?;
        let wanted = Change {
            policy: policy.map(|policy| policy & !RESET),
            flags: policy.map_or(0, |policy| u64::from(policy & RESET != 0) * RESET_ON_FORK),
            nice: target.schedule.nice,
            priority: u32::from_le_bytes(bytes),
            ..Change::default()
        };
        change(state, &target, &wanted)
    })
}

/// `sched_setscheduler`.
pub fn sched_setscheduler(caller: &Caller) -> Result<u64, Errno> {
    let policy = u32::try_from(caller.int(1)).map_err(|_| Errno::EINVAL)?;
    set(caller, Some(policy), caller.address(2))
}

/// `sched_setparam`.
pub fn sched_setparam(caller: &Caller) -> Result<u64, Errno> {
    set(caller, None, caller.address(1))
}

/// `sched_getscheduler`.
pub fn sched_getscheduler(caller: &Caller) -> Result<u64, Errno> {
    let schedule = with_state(|state| target::of_argument(state, caller))?.schedule;
    let reset = if schedule.reset_on_fork { RESET } else { 0 };
    Ok((schedule.policy.number() | reset).into())
}

/// `sched_getparam`.
pub fn sched_getparam(caller: &Caller) -> Result<u64, Errno> {
    if caller.address(1) == 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let priority = u32::from(target::of_argument(state, caller)?.schedule.priority);
        user_memory::write(state, caller, caller.address(1), &priority.to_le_bytes())?;
        Ok(0)
    })
}

/// Bytes of `struct sched_attr`: of its first version, of the last one, and a page.
const FIRST_VERSION: usize = 48;
const LAST_VERSION: usize = 56;
const MOST: usize = 4096;

/// `struct sched_attr` as a change, from the memory of the caller. A structure of a size or with
/// further values that do not exist gets the size that does.
fn attributes(state: &mut State, caller: &Caller, from: usize) -> Result<Change, Errno> {
    let mut bytes = [0; LAST_VERSION];
    user_memory::read(state, caller, from, &mut bytes[..4])?;
    let size = match u32::from_le_bytes(bytes[..4].try_into().unwrap_or_default()) {
        0 => FIRST_VERSION,
        size => size as usize,
    };
    let mut refused = !(FIRST_VERSION..=MOST).contains(&size);
    if !refused {
        user_memory::read(state, caller, from, &mut bytes[..size.min(LAST_VERSION)])?;
        for at in LAST_VERSION..size {
            let mut byte = [0];
            user_memory::read(state, caller, from.wrapping_add(at), &mut byte)?;
            refused |= byte != [0];
        }
    }
    if refused {
        let right = (LAST_VERSION as u32).to_le_bytes();
        user_memory::write(state, caller, from, &right)?;
        return Err(Errno::E2BIG);
    }
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap_or_default());
    let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
    /// Limits of utilisation, which the first version does not have.
    const UTILISATION: u64 = 0x60;
    if long(8) & UTILISATION != 0 && size < LAST_VERSION {
        return Err(Errno::EINVAL);
    }
    Ok(Change {
        policy: Some(word(4)),
        flags: long(8),
        nice: word(16).cast_signed().clamp(-20, 19) as i8,
        priority: word(20),
        reservation: Reservation {
            runtime: long(24),
            deadline: long(32),
            period: long(40),
            flags: 0,
        },
    })
}

/// `sched_setattr`.
pub fn sched_setattr(caller: &Caller) -> Result<u64, Errno> {
    let from = caller.address(1);
    if from == 0 || caller.int(0) < 0 || caller.argument(2) as u32 != 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let mut wanted = attributes(state, caller, from)?;
        if wanted.policy.is_some_and(|policy| policy.cast_signed() < 0) {
            return Err(Errno::EINVAL);
        }
        if wanted.flags & KEEP_POLICY != 0 {
            wanted.policy = None;
        }
        let target = target::of_argument(state, caller)?;
        if wanted.flags & KEEP_PARAMETERS != 0 {
            let Schedule {
                nice,
                priority,
                reservation,
                ..
            } = target.schedule;
            (wanted.nice, wanted.reservation) = (nice, reservation);
            wanted.priority = priority.into();
        }
        change(state, &target, &wanted)
    })
}

/// `sched_getattr`.
pub fn sched_getattr(caller: &Caller) -> Result<u64, Errno> {
    let (to, size) = (caller.address(1), caller.argument(2) as u32 as usize);
    let no_flags = caller.argument(3) as u32 == 0;
    if to == 0 || caller.int(0) < 0 || !(FIRST_VERSION..=MOST).contains(&size) || !no_flags {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let schedule = target::of_argument(state, caller)?.schedule;
        let nice = if schedule.policy.is_fair() {
            schedule.nice
        } else {
            0
        };
        let reservation = schedule.reservation;
        let size = size.min(LAST_VERSION);
        let words = [
            u64::from(schedule.policy.number()) << 32 | size as u64,
            (u64::from(schedule.reset_on_fork) * RESET_ON_FORK) | reservation.flags,
            u64::from(schedule.priority) << 32 | u64::from(i32::from(nice).cast_unsigned()),
            reservation.runtime,
            reservation.deadline,
            match schedule.policy {
                Policy::Deadline => reservation.effective_period(),
                _ => 0,
            },
            0,
        ];
        let bytes = words.map(u64::to_le_bytes);
        user_memory::write(state, caller, to, &bytes.as_flattened()[..size])?;
        Ok(0)
    })
}

/// `sched_get_priority_max`.
pub fn sched_get_priority_max(caller: &Caller) -> Result<u64, Errno> {
    const HIGHEST: u64 = 99;
    let policy = Policy::of(caller.argument(0) as u32)?;
    Ok(if policy.has_priority() { HIGHEST } else { 0 })
}

/// `sched_get_priority_min`.
pub fn sched_get_priority_min(caller: &Caller) -> Result<u64, Errno> {
    sched_get_priority_max(caller).map(|highest| highest.min(1))
}

/// `sched_rr_get_interval`: the length of a slice, zero for a thread without.
pub fn sched_rr_get_interval(caller: &Caller) -> Result<u64, Errno> {
    const SECOND: u64 = 1_000_000_000;
    let schedule = with_state(|state| target::of_argument(state, caller))?.schedule;
    let slice = schedule.slice(options::slice() as u64 * 1000);
    let slice = slice.unwrap_or_default();
    let words = [slice / SECOND, slice % SECOND];
    user_memory::put_words(caller, caller.address(1), words)?;
    Ok(0)
}
