//! Nice values of threads.

use crate::target;
use tenon_process::{Caller, Errno, State, with_state};

/// Calls `action` with the number of each thread that the caller states: by `which`, one, those of a
/// process group, or those of a user. `ESRCH` if there is none.
pub(crate) fn each(
    state: &mut State,
    caller: &Caller,
    which: i32,
    mut action: impl FnMut(&mut State, u32) -> Result<(), Errno>,
) -> Result<(), Errno> {
    const THREAD: i32 = 0;
    const GROUP: i32 = 1;
    const USER: i32 = 2;
    let number = caller.argument(1) as u32;
    if !(THREAD..=USER).contains(&which) {
        return Err(Errno::EINVAL);
    }
    let own = caller.parts(state)?.0;
    let own = match which {
        THREAD => caller.number(),
        GROUP => own.group,
        _ => own.credentials.user().real,
    };
    let number = if number == 0 { own } else { number };
    let mut found = Err(Errno::ESRCH);
    if which == THREAD {
        state.scheduler.get(number)?;
        return action(state, number);
    }
    let mut from = 0;
    while let Some(process) = state.next_process(from) {
        let own = process.number;
        from = own + 1;
        let included = match which {
            GROUP => process.group == number,
            _ => process.credentials.user().real == number,
        };
        let mut from = 0;
        while included && let Some(thread) = state.next_thread(own, from) {
            from = thread + 1;
            // An error stays, and the others are still served, as in Linux.
            match action(state, thread) {
                Ok(()) if found == Err(Errno::ESRCH) => found = Ok(()),
                Ok(()) => {}
                error => found = error,
            }
        }
    }
    found
}

/// `getpriority`: 20 minus the least nice value.
pub fn getpriority(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let mut least = 19;
        each(state, caller, caller.int(0), |state, number| {
            least = least.min(state.scheduler.get(number)?.nice);
            Ok(())
        })?;
        Ok((20 - i64::from(least)).cast_unsigned())
    })
}

/// `setpriority`.
pub fn setpriority(caller: &Caller) -> Result<u64, Errno> {
    let nice = caller.int(2).clamp(-20, 19) as i8;
    with_state(|state| {
        each(state, caller, caller.int(0), |state, number| {
            let target = target::of_number(state, caller, number)?;
            if !target.same_user && !target.privileged {
                return Err(Errno::EPERM);
            }
            let mut schedule = target.schedule;
            if !schedule.permits_nice(nice, target.limits.0) && !target.privileged {
                return Err(Errno::EACCES);
            }
            schedule.nice = nice;
            state.scheduler.set(number, schedule)
        })?;
        Ok(0)
    })
}
