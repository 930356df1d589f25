//! [`setitimer`], [`timer_create`] and the calls for such timers, which send signals.

use crate::action;
use tenon_deadline::Interval;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, Objects, State, Target, with_state};
use tenon_signal::{Info, code, number};
use tenon_sync::{Mutex, Semaphore};
use tenon_thread::options;
use tenon_thread::thread::{Priority, Storage};
use tenon_thread::time::Instant;

/// Timers at a time.
const TIMERS: u32 = 1024;
/// Timers of a process at most.
const OF_PROCESS: usize = 256;
/// Timers that are served while the table is held.
const STEP: usize = 8;
/// The least time between two looks at a timer: what expires more often is counted.
const LEAST: u64 = 100_000;
/// The same while its signal is pending still.
const LEAST_PENDING: u64 = 1_000_000;
/// The least time between two looks at a timer of execution time, as in Linux with 250 ticks a second.
const TICK: u64 = 4_000_000;
const SECOND: u64 = 1_000_000_000;
const MICROSECOND: u64 = 1_000;

/// What a timer does when it expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notice {
    /// Nothing.
    None,
    /// A signal to the process.
    Process,
    /// A signal to a thread.
    Thread(u32),
}

/// What a timer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    /// The time since the start.
    Start,
    /// The date.
    Date,
    /// Execution time of a thread, or of the whole process of a number.
    Execution(u32, bool),
}

impl Clock {
    /// The clock that `timer_create` states.
    fn of(state: &State, caller: &Caller) -> Result<Self, Errno> {
        /// In a number of a clock of execution: it is that of a thread.
        const OF_THREAD: i32 = 4;
        let clock = match caller.int(0) {
            0 | 8 => Self::Date,
            1 | 7 | 9 => Self::Start,
            2 => Self::Execution(caller.process(), true),
            3 => Self::Execution(caller.number(), false),
            number if number < 0 && number & 3 != 3 => {
                let whole = number & OF_THREAD == 0;
                match !(number >> 3) {
                    0 if whole => Self::Execution(caller.process(), true),
                    0 => Self::Execution(caller.number(), false),
                    other => Self::Execution(other.cast_unsigned(), whole),
                }
            }
            _ => return Err(Errno::EINVAL),
        };
        clock.read(state).map(|_| clock).ok_or(Errno::EINVAL)
    }

    /// What it shows, by the time since the start for a date too; `None` without its thread.
    fn read(self, state: &State) -> Option<u64> {
        match self {
            Self::Start | Self::Date => Some(now()),
            Self::Execution(number, whole) => state.time_of(number, whole),
        }
    }

    fn is_execution(self) -> bool {
        matches!(self, Self::Execution(..))
    }
}

/// A timer.
#[derive(Clone, Copy, Debug)]
struct Timer {
    /// The number of its process, and how many programs that had executed by then.
    owner: (u32, u32),
    /// It is one of `setitimer`, by its number, which stays with a new program.
    which: Option<i32>,
    clock: Clock,
    notice: Notice,
    signal: u8,
    value: u64,
    interval: Interval,
    /// When it is looked at next.
    look: u64,
    overrun: u32,
}

static TABLE: Mutex<Objects<Timer>> = Mutex::new(Objects::new(TIMERS));
/// The thread that sends signals of timers.
static SERVICE: Storage<8192> = Storage::new();
/// A timer was set.
static CHANGED: Semaphore = Semaphore::bounded(0, 1);

fn now() -> u64 {
    Instant::now().nanoseconds()
}

/// The owner that a timer of the caller has.
fn owner(state: &mut State, caller: &Caller) -> Result<(u32, u32), Errno> {
    let (process, ..) = caller.parts(state)?;
    Ok((process.number, process.executions))
}

impl Timer {
    /// Whether its process is there, with the program that created it.
    fn is_owned(&self, state: &mut State) -> bool {
        let process = state.by_number(self.owner.0);
        process.is_ok_and(|process| self.which.is_some() || process.executions == self.owner.1)
    }

    /// Sends its signal, or counts the expiry if that is pending still.
    fn expire(&mut self, id: u32, now: u64, state: &mut State) {
        let Some(time) = self.clock.read(state) else {
            // Its thread has ended: nothing counts any more.
            self.look = 0;
            return;
        };
        if time < self.interval.expiry {
            return self.set_look((time, now), LEAST);
        }
        let missed = self.interval.advance(time);
        let missed = u32::try_from(missed).unwrap_or(u32::MAX >> 1);
        let target = match self.notice {
            Notice::None => return self.set_look((time, now), LEAST),
            Notice::Process => Target::Process(self.owner.0),
            Notice::Thread(thread) => Target::Thread(Some(self.owner.0), thread),
        };
        let tag = id + 1;
        if let Some(overrun) = state.count_overrun(self.owner.0, tag, missed.saturating_add(1)) {
            self.overrun = overrun;
            return self.set_look((time, now), LEAST_PENDING);
        }
        self.overrun = missed.min(u32::MAX >> 1);
        let info = if self.which.is_some() {
            Info {
                signal: self.signal,
                code: code::KERNEL,
                timer: tag,
                ..Info::default()
            }
        } else {
            Info {
                signal: self.signal,
                code: code::TIMER,
                error: 0,
                words: [
                    u64::from(id) | u64::from(self.overrun) << 32,
                    self.value,
                    0,
                    0,
                ],
                timer: tag,
            }
        };
        // A signal for which there is no room is sent at the next expiry.
        let _ = state.send(target, &info);
        self.set_look((time, now), LEAST);
    }

    /// Sets when it is looked at next, by what its clock shows now. There is one core: execution time
    /// is no faster than time.
    fn set_look(&mut self, (time, now): (u64, u64), least: u64) {
        let expiry = self.interval.expiry;
        let least = if self.clock.is_execution() {
            TICK
        } else {
            least
        };
        self.look = match expiry {
            0 => 0,
            expiry => now.saturating_add(expiry.saturating_sub(time).max(least)),
        };
    }

    /// Sets when it expires, and its period, by what its clock shows now.
    fn set(&mut self, expiry: u64, period: u64, time: u64) {
        self.interval = Interval { expiry, period };
        self.look = if self.clock.is_execution() && expiry != 0 {
            now().saturating_add(expiry.saturating_sub(time))
        } else {
            expiry
        };
        self.overrun = 0;
    }
}

/// Serves some timers from a number on; returns the number to go on from, if there are more, and
/// when the next one of these expires.
fn serve_some(state: &mut State, from: u32) -> (Option<u32>, u64) {
    let mut next = u64::MAX;
    let now = now();
    let Ok(mut table) = TABLE.lock() else {
        return (None, next);
    };
    let mut at = from;
    for _ in 0..STEP {
        let Some(id) = table.numbers(at).next() else {
            return (None, next);
        };
        at = id + 1;
        let Some(mut timer) = table.get(id).copied() else {
            continue;
        };
        if !timer.is_owned(state) {
            table.remove(id, &mut state.frames);
            continue;
        }
        if timer.look == 0 {
            continue;
        }
        if timer.look <= now {
            timer.expire(id, now, state);
            if let Some(place) = table.get_mut(id) {
                *place = timer;
            }
        }
        if timer.look != 0 {
            next = next.min(timer.look);
        }
    }
    (Some(at), next)
}

/// The body of the thread that sends signals of timers.
fn serve() {
    loop {
        let (mut from, mut next) = (Some(0), u64::MAX);
        while let Some(number) = from {
            let (more, earliest) = with_state(|state| serve_some(state, number));
            (from, next) = (more, next.min(earliest));
        }
        match next {
            u64::MAX => CHANGED.take(),
            // A timer that was set ends the wait, as its time does.
            next => drop(CHANGED.take_until(Instant::from_nanoseconds(next))),
        }
    }
}

/// Has the service look at all timers.
fn wake_service() {
    if SERVICE.is_free() {
        let priority = Priority::new(options::process_priority() as u8);
        // Another thread may have started it since.
        let _ = SERVICE.spawn("signal-timers", priority, serve);
    }
    // One wake-up is as good as several.
    let _ = CHANGED.give();
}

/// Removes the timers of a process that ends.
fn end_timers(state: &mut State, process: u32) {
    let Ok(mut table) = TABLE.lock() else {
        return;
    };
    let mut from = 0;
    while let Some(id) = table.next(from) {
        from = id + 1;
        if table.get(id).is_some_and(|timer| timer.owner.0 == process) {
            table.remove(id, &mut state.frames);
        }
    }
}

/// Inserts a timer.
fn insert(state: &mut State, timer: Timer) -> Result<u32, Errno> {
    state.on_end[1] = Some(end_timers);
    let mut table = TABLE.lock().map_err(|_| Errno::EAGAIN)?;
    let mut own = 0;
    let mut at = 0;
    loop {
        let Some(id) = table.numbers(at).next() else {
            break;
        };
        at = id + 1;
        let Some(other) = table.get(id).copied() else {
            continue;
        };
        if !other.is_owned(state) {
            table.remove(id, &mut state.frames);
        } else if other.owner.0 == timer.owner.0 {
            own += 1;
        }
    }
    if own >= OF_PROCESS {
        return Err(Errno::EAGAIN);
    }
    let inserted = table.insert(timer, 0, &mut state.frames);
    inserted.map_err(|_| Errno::EAGAIN)
}

/// Calls `action` with the caller's timer of a number, and what its clock shows.
fn with<R>(
    caller: &Caller,
    id: i32,
    action: impl FnOnce(&mut Timer, u64) -> R,
) -> Result<R, Errno> {
    with_state(|state| {
        let owner = owner(state, caller)?;
        let mut table = TABLE.lock().map_err(|_| Errno::EINVAL)?;
        let timer = u32::try_from(id).ok().and_then(|id| table.get_mut(id));
        let timer = timer.filter(|timer| timer.owner == owner && timer.which.is_none());
        let timer = timer.ok_or(Errno::EINVAL)?;
        let time = timer.clock.read(state).unwrap_or_default();
        Ok(action(timer, time))
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
    let clock = with_state(|state| Clock::of(state, caller))?;
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
    let id = with_state(|state| {
        let owner = owner(state, caller)?;
        if let Notice::Thread(thread) = notice {
            let target = Target::Thread(Some(owner.0), thread);
            let found = state.send(target, &Info::default());
            found.map_err(|_| Errno::EINVAL)?;
        }
        let id = insert(
            state,
            Timer {
                owner,
                which: None,
                clock,
                notice,
                signal,
                value: value.unwrap_or(0),
                interval: Interval::default(),
                look: 0,
                overrun: 0,
            },
        )?;
        if value.is_none()
            && let Ok(mut table) = TABLE.lock()
            && let Some(timer) = table.get_mut(id)
        {
            timer.value = id.into();
        }
        let written = user_memory::write(state, caller, caller.address(2), &id.to_le_bytes());
        if written.is_err()
            && let Ok(mut table) = TABLE.lock()
        {
            table.remove(id, &mut state.frames);
        }
        written.map(|()| id)
    });
    id.map(|_| 0)
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
    wake_service();
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
    with(caller, caller.int(0), |_, _| ())?;
    with_state(|state| {
        if let Ok(mut table) = TABLE.lock() {
            table.remove(caller.int(0) as u32, &mut state.frames);
        }
    });
    Ok(0)
}

/// The number of a timer of `setitimer` that a process has.
fn timer_of(process: u32, which: i32) -> Result<Option<u32>, Errno> {
    let table = TABLE.lock().map_err(|_| Errno::EAGAIN)?;
    let mut all = table.numbers(0);
    Ok(all.find(|id| {
        let timer = table.get(*id);
        timer.is_some_and(|timer| timer.which == Some(which) && timer.owner.0 == process)
    }))
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

/// The period of a timer of `setitimer`, and what is left of it.
fn interval_of(state: &State, process: u32, which: i32) -> Result<(u64, u64), Errno> {
    let Some(id) = timer_of(process, which)? else {
        return Ok((0, 0));
    };
    let table = TABLE.lock().map_err(|_| Errno::EAGAIN)?;
    Ok(table.get(id).map_or((0, 0), |timer| {
        let time = timer.clock.read(state).unwrap_or_default();
        (timer.interval.period, timer.interval.rest(time))
    }))
}

/// `getitimer`.
pub fn getitimer(caller: &Caller) -> Result<u64, Errno> {
    let (which, ..) = which(caller)?;
    let state = with_state(|state| interval_of(state, caller.process(), which))?;
    put(caller, caller.address(1), state, MICROSECOND)?;
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
        let before = interval_of(state, owner.0, which)?;
        let id = match timer_of(owner.0, which)? {
            Some(id) => id,
            None if value == 0 => return Ok(before),
            None => insert(
                state,
                Timer {
                    owner,
                    which: Some(which),
                    clock,
                    notice: Notice::Process,
                    signal,
                    value: 0,
                    interval: Interval::default(),
                    look: 0,
                    overrun: 0,
                },
            )?,
        };
        let time = clock.read(state).unwrap_or_default();
        let mut table = TABLE.lock().map_err(|_| Errno::EAGAIN)?;
        if value == 0 {
            table.remove(id, &mut state.frames);
        } else if let Some(timer) = table.get_mut(id) {
            timer.set(time.saturating_add(value), period, time);
        }
        Ok::<_, Errno>(before)
    })?;
    if value != 0 {
        wake_service();
    }
    match caller.address(2) {
        0 => {}
        to => put(caller, to, before, MICROSECOND)?,
    }
    Ok(0)
}

const _: () = assert!(action::SET == 8);
