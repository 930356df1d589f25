//! [`setitimer`], [`timer_create`] and the calls for such timers, which send signals.

mod account;
mod service;

use crate::action;
use service::{Clock, Notice, Timer, Timers, owner, with_timers};
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, State, Target, with_state};
use tenon_signal::{Info, number};

const SECOND: u64 = 1_000_000_000;
const MICROSECOND: u64 = 1_000;

/// The clock that `timer_create` states.
fn clock_of(state: &State, caller: &Caller) -> Result<Clock, Errno> {
    /// In a number of a clock of execution: it is that of a thread.
    const OF_THREAD: i32 = 4;
    let clock = match caller.int(0) {
        0 | 8 => Clock::Date,
        1 | 7 | 9 => Clock::Start,
        2 => Clock::Execution(caller.process(), true),
        3 => Clock::Execution(caller.number(), false),
        number if number < 0 && number & 3 != 3 => {
            let whole = number & OF_THREAD == 0;
            match !(number >> 3) {
                0 if whole => Clock::Execution(caller.process(), true),
                0 => Clock::Execution(caller.number(), false),
                other => Clock::Execution(other.cast_unsigned(), whole),
            }
        }
        _ => return Err(Errno::EINVAL),
    };
    clock.read(state).map(|_| clock).ok_or(Errno::EINVAL)
}

/// Calls `action` with the caller's timer of a number, and what its clock shows; has the service look
/// at the timer when it is due then.
fn with<R>(
    caller: &Caller,
    id: i32,
    action: impl FnOnce(&mut Timer, u64) -> R,
) -> Result<R, Errno> {
    with_state(|state| {
        let owner = owner(state, caller)?;
        let id = u32::try_from(id).map_err(|_| Errno::EINVAL)?;
        with_timers(Errno::EINVAL, |timers| {
            let timer = timers.created_by(owner, id)?;
            let time = timer.clock.read(state).unwrap_or_default();
            let result = action(timer, time);
            timers.schedule(id);
            Ok(result)
        })
    })
}

/// The date of the start of the VM for a timer by the date.
fn start_of(clock: Clock) -> u64 {
    if clock == Clock::Date {
        tenon_process::real_time_of_start()
    } else {
        0
    }
}

/// `timer_create`.
pub fn timer_create(caller: &Caller) -> Result<u64, Errno> {
    const SIGNAL: u32 = 0;
    const NONE: u32 = 1;
    const THREAD: u32 = 2;
    const THREAD_NUMBER: u32 = 4;
    let clock = with_state(|state| clock_of(state, caller))?;
    let event = match caller.address(1) {
        0 => None,
        from => Some(user_memory::words::<3>(caller, from)?),
    };
    let (signal, value, notice) = match event {
        None => (number::ALRM, None, Notice::Process),
        Some([value, kind, thread]) => {
            let (signal, kind) = (kind as u32, (kind >> 32) as u32);
            let notice = match kind {
                SIGNAL | THREAD => Notice::Process,
                NONE => Notice::None,
                THREAD_NUMBER => Notice::Thread(thread as u32),
                _ => return Err(Errno::EINVAL),
            };
            let valid = (1..=u32::from(tenon_signal::SIGNALS)).contains(&signal);
            if !valid && notice != Notice::None {
                return Err(Errno::EINVAL);
            }
            (signal as u8, Some(value), notice)
        }
    };
    with_state(|state| {
        let owner = owner(state, caller)?;
        if let Notice::Thread(thread) = notice {
            let target = Target::Thread(Some(owner.0), thread);
            let found = state.send(target, &Info::default());
            found.map_err(|_| Errno::EINVAL)?;
        }
        with_timers(Errno::EAGAIN, |timers| {
            let timer = Timer {
                value: value.unwrap_or(0),
                ..Timer::new(owner, clock, (signal, notice))
            };
            let id = timers.insert(timer, state)?;
            if value.is_none()
                && let Some(timer) = timers.get_mut(id)
            {
                timer.value = id.into();
            }
            let written = user_memory::write(state, caller, caller.address(2), &id.to_le_bytes());
            if written.is_err() {
                timers.remove(id, &mut state.frames);
            }
            written.map(|()| 0)
        })
    })
}

/// Reads a time of two words, the second of which counts in `unit` nanoseconds.
fn time([seconds, rest]: [u64; 2], unit: u64) -> Result<u64, Errno> {
    if rest >= SECOND / unit || seconds > i64::MAX as u64 {
        return Err(Errno::EINVAL);
    }
    Ok(seconds.saturating_mul(SECOND).saturating_add(rest * unit))
}

/// `timer_settime`.
pub fn timer_settime(caller: &Caller) -> Result<u64, Errno> {
    const ABSOLUTE: u64 = 1;
    if caller.address(2) == 0 {
        return Err(Errno::EINVAL);
    }
    let [a, b, c, d] = user_memory::words(caller, caller.address(2))?;
    let (period, value) = (time([a, b], 1)?, time([c, d], 1)?);
    let absolute = caller.argument(1) & ABSOLUTE != 0;
    let before = with(caller, caller.int(0), |timer, time| {
        let before = (timer.interval.period, timer.interval.rest(time));
        let expiry = match value {
            0 => 0,
            value if absolute => value.saturating_sub(start_of(timer.clock)).max(1),
            value => time.saturating_add(value),
        };
        timer.set(expiry, if value == 0 { 0 } else { period }, time);
        before
    })?;
    match caller.address(3) {
        0 => {}
        to => put(caller, to, before, 1)?,
    }
    Ok(0)
}

/// Writes a period and what is left until the next expiry.
fn put(caller: &Caller, to: usize, (period, rest): (u64, u64), unit: u64) -> Result<(), Errno> {
    // What is left is not zero while a timer is set.
    let rest = rest.div_ceil(unit) * unit;
    let words = [
        period / SECOND,
        period % SECOND / unit,
        rest / SECOND,
        rest % SECOND / unit,
    ];
    user_memory::put_words(caller, to, words)
}

/// `timer_gettime`.
pub fn timer_gettime(caller: &Caller) -> Result<u64, Errno> {
    let state = with(caller, caller.int(0), |timer, time| {
        (timer.interval.period, timer.interval.rest(time))
    })?;
    put(caller, caller.address(1), state, 1)?;
    Ok(0)
}

/// `timer_getoverrun`.
pub fn timer_getoverrun(caller: &Caller) -> Result<u64, Errno> {
    with(caller, caller.int(0), |timer, _| timer.overrun.into())
}

/// `timer_delete`.
pub fn timer_delete(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let owner = owner(state, caller)?;
        let id = caller.int(0) as u32;
        with_timers(Errno::EINVAL, |timers| {
            timers.created_by(owner, id)?;
            timers.remove(id, &mut state.frames);
            Ok(0)
        })
    })
}

/// The number of a timer of `setitimer` that a process has.
fn timer_of(timers: &Timers, process: u32, which: i32) -> Option<u32> {
    timers.find(|timer| timer.which == Some(which) && timer.owner.0 == process)
}

/// Which of the three timers of `setitimer`: its number, clock and signal.
fn which(caller: &Caller) -> Result<(i32, Clock, u8), Errno> {
    /// Of real time, of execution as a program, and of all execution.
    const REAL: i32 = 0;
    const VIRTUAL: i32 = 1;
    const PROFILE: i32 = 2;
    let execution = Clock::Execution(caller.process(), true);
    match caller.int(0) {
        REAL => Ok((REAL, Clock::Start, number::ALRM)),
        VIRTUAL => Ok((VIRTUAL, execution, number::VTALRM)),
        PROFILE => Ok((PROFILE, execution, number::PROF)),
        _ => Err(Errno::EINVAL),
    }
}

/// The period of a timer, and what is left of it; zeros without one.
fn interval_of(timers: &mut Timers, id: Option<u32>, state: &State) -> (u64, u64) {
    let timer = id.and_then(|id| timers.get_mut(id));
    timer.map_or((0, 0), |timer| {
        let time = timer.clock.read(state).unwrap_or_default();
        (timer.interval.period, timer.interval.rest(time))
    })
}

/// `getitimer`.
pub fn getitimer(caller: &Caller) -> Result<u64, Errno> {
    let (which, ..) = which(caller)?;
    let interval = with_state(|state| {
        with_timers(Errno::EAGAIN, |timers| {
            let id = timer_of(timers, caller.process(), which);
            Ok(interval_of(timers, id, state))
        })
    })?;
    put(caller, caller.address(1), interval, MICROSECOND)?;
    Ok(0)
}

/// `setitimer`: all execution time is that of the program.
pub fn setitimer(caller: &Caller) -> Result<u64, Errno> {
    let (period, value) = match caller.address(1) {
        0 => (0, 0),
        from => {
            let [a, b, c, d] = user_memory::words(caller, from)?;
            (time([a, b], MICROSECOND)?, time([c, d], MICROSECOND)?)
        }
    };
    let (which, clock, signal) = which(caller)?;
    let before = with_state(|state| {
        let owner = owner(state, caller)?;
        with_timers(Errno::EAGAIN, |timers| {
            let found = timer_of(timers, owner.0, which);
            let before = interval_of(timers, found, state);
            let id = match found {
                Some(id) => id,
                None if value == 0 => return Ok(before),
                None => {
                    let timer = Timer {
                        which: Some(which),
                        ..Timer::new(owner, clock, (signal, Notice::Process))
                    };
                    timers.insert(timer, state)?
                }
            };
            let time = clock.read(state).unwrap_or_default();
            if value == 0 {
                timers.remove(id, &mut state.frames);
            } else if let Some(timer) = timers.get_mut(id) {
                timer.set(time.saturating_add(value), period, time);
                timers.schedule(id);
            }
            Ok(before)
        })
    })?;
    match caller.address(2) {
        0 => {}
        to => put(caller, to, before, MICROSECOND)?,
    }
    Ok(0)
}

const _: () = assert!(action::SET == 8);
