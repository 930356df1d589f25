//! [`Target`] of a call: a thread and its schedule.

use tenon_process::schedule::Schedule;
use tenon_process::{Caller, Errno, Process, State, capability};

/// A thread that a call for schedules concerns, with its schedule.
pub struct Target {
    /// Its number.
    pub number: u32,
    /// Its schedule.
    pub schedule: Schedule,
    /// The caller has its user.
    pub same_user: bool,
    /// The caller has the privilege to change any schedule.
    pub privileged: bool,
    /// Its limits of nice values and priorities.
    pub limits: (u64, u64),
}

/// The thread that the first argument states, zero for the calling one.
pub fn of_argument(state: &mut State, caller: &Caller) -> Result<Target, Errno> {
    let number = match caller.int(0) {
        0 => caller.number(),
        number => u32::try_from(number).map_err(|_| Errno::EINVAL)?,
    };
    of_number(state, caller, number)
}

/// The thread of a number.
pub fn of_number(state: &mut State, caller: &Caller, number: u32) -> Result<Target, Errno> {
    /// `RLIMIT_NICE` and `RLIMIT_RTPRIO`.
    const LIMITS: (usize, usize) = (13, 14);
    let schedule = state.scheduler.get(number)?;
    let own = &caller.parts(state)?.0.credentials;
    let (user, privileged) = (own.user().effective, own.has(capability::SYS_NICE));
    let process = state.process_of(number).ok_or(Errno::ESRCH)?;
    Ok(Target {
        number,
        schedule,
        same_user: is_of(process, user),
        privileged,
        limits: (process.limits.soft(LIMITS.0), process.limits.soft(LIMITS.1)),
    })
}

/// Whether a user may change the schedules of a process as its own.
fn is_of(process: &Process, user: u32) -> bool {
    let of = process.credentials.user();
    user == of.real || user == of.effective
}
