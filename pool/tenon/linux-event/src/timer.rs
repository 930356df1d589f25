//! [`timerfd_create`], [`timerfd_settime`] and [`timerfd_gettime`]: timers with descriptors.

use tenon_deadline::{Deadlines, Place};
use tenon_linux_files::descriptor::open;
use tenon_linux_files::flag::{CLOSE_ON_EXEC, NONBLOCK};
use tenon_process::user_memory;
use tenon_process::{
    Caller, Errno, Files, Frames, Object, Objects, Operations, State, Step, Transfer, has_share,
    ready, real_time_of_start, timespec, with_state,
};
use tenon_sync::{Mutex, Semaphore};
use tenon_thread::options;
use tenon_thread::thread::{Priority, Storage};
use tenon_thread::time::Instant;

/// Timers at a time.
const TIMERS: u32 = 1024;
/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;
/// Bytes of the count of expirations.
const SIZE: usize = 8;
/// Clocks: real time, monotonic, since the start, and the alarms of the first and the last.
const CLOCKS: [i32; 5] = [0, 1, 7, 8, 9];

/// Those of them that are the date.
const DATES: [i32; 2] = [0, 8];

/// A timer with a descriptor.
#[derive(Debug, Default)]
pub(crate) struct Timer {
    /// The next expiration, or zero.
    next: u64,
    interval: u64,
    source: u32,
    /// Its clock is the date.
    dated: bool,
    /// The user that created it.
    user: u32,
}

impl Timer {
    /// Sets the first expiration and the interval.
    pub(crate) fn set(&mut self, first: u64, interval: u64) {
        (self.next, self.interval) = (first, interval);
    }

    /// The expirations so far, which are forgotten.
    pub(crate) fn take(&mut self, now: u64) -> u64 {
        if self.next == 0 || now < self.next {
            return 0;
        }
        if self.interval == 0 {
            self.next = 0;
            return 1;
        }
        let count = (now - self.next) / self.interval + 1;
        self.next = self
            .next
            .saturating_add(count.saturating_mul(self.interval));
        count
    }

    /// The time to the next expiration, and the interval.
    pub(crate) fn rest(&self, now: u64) -> (u64, u64) {
        let mut rest = self.next.saturating_sub(now);
        if self.next != 0 && rest == 0 && self.interval != 0 {
            rest = self.interval - (now - self.next) % self.interval;
        }
        (rest, self.interval)
    }
}

/// All timers, and the next expirations of those that are to be notified.
struct Timers {
    timers: Objects<Timer>,
    count: u32,
    next: Deadlines<[Place; TIMERS as usize]>,
}

impl Timers {
    const fn new() -> Self {
        Self {
            timers: Objects::new(TIMERS),
            count: 0,
            next: Deadlines::own(),
        }
    }

    /// Inserts a timer. `ENFILE` without room for it, or if its user has too many.
    fn insert(&mut self, timer: Timer, frames: &mut Frames) -> Result<u32, Errno> {
        let timers = &self.timers;
        let own = || {
            let all = timers.numbers(0).filter_map(|number| timers.get(number));
            all.filter(|other| other.user == timer.user).count() as u32
        };
        if !has_share(self.count, TIMERS, own) {
            return Err(Errno::ENFILE);
        }
        let inserted = self.timers.insert(timer, 0, frames);
        let number = inserted.map_err(|_| Errno::ENFILE)?;
        self.count += 1;
        Ok(number)
    }

    fn remove(&mut self, number: u32, frames: &mut Frames) {
        self.next.cancel(number as usize);
        self.count -= u32::from(self.timers.remove(number, frames).is_some());
    }

    /// Has the service notify the next expiration of a timer, if it has one; ends its present wait if
    /// that is the earliest one.
    fn schedule(&mut self, number: u32) {
        let next = self.timers.get(number).map_or(0, |timer| timer.next);
        if next == 0 {
            self.next.cancel(number as usize);
        } else if self.next.start(number as usize, next) {
            // One wake-up is as good as several.
            let _ = CHANGED.give();
        }
    }
}

static TABLE: Mutex<Timers> = Mutex::new(Timers::new());
/// The thread that notifies expirations.
static SERVICE: Storage<4096> = Storage::new();
/// A timer has been set.
static CHANGED: Semaphore = Semaphore::bounded(0, 1);

fn now() -> u64 {
    Instant::now().nanoseconds()
}

fn with<R>(number: u32, action: impl FnOnce(&mut Timer) -> Result<R, Errno>) -> Result<R, Errno> {
    let mut table = TABLE.lock().map_err(|_| Errno::EBADF)?;
    action(table.timers.get_mut(number).ok_or(Errno::EBADF)?)
}

static OPERATIONS: Operations = Operations {
    events: |_, number| {
        let expired = with(number, |timer| Ok(timer.next != 0 && timer.next <= now()));
        if expired.unwrap_or_default() {
            ready::READABLE
        } else {
            0
        }
    },
    read,
    close: |_, number, frames| remove(number, frames),
    ..Operations::NONE
};

fn remove(number: u32, frames: &mut Frames) {
    if let Ok(mut table) = TABLE.lock() {
        table.remove(number, frames);
    }
}

fn read(transfer: &mut Transfer<'_>, number: u32) -> Step {
    if transfer.length < SIZE {
        return Err(Errno::EINVAL);
    }
    let count = {
        let mut table = TABLE.lock().map_err(|_| Errno::EBADF)?;
        let timer = table.timers.get_mut(number).ok_or(Errno::EBADF)?;
        let count = timer.take(now());
        if count == 0 {
            return Ok(None);
        }
        table.schedule(number);
        count
    };
    let memory = &mut transfer.memory;
    memory.write(0, &count.to_le_bytes(), transfer.frames)?;
    Ok(Some(SIZE))
}

/// Notifies some timers that have expired; returns whether there may be more, and when the next one
/// expires.
fn expire(files: &mut Files) -> (bool, Option<u64>) {
    /// Timers that are notified while the state is held.
    const STEP: usize = 4;
    for _ in 0..STEP {
        // Those that are notified ask for the events of the timer, and the table is free then.
        let source = {
            let Ok(mut table) = TABLE.lock() else {
                return (false, None);
            };
            let Some(number) = table.next.expire(now()) else {
                return (false, table.next.earliest());
            };
            let timer = table.timers.get(number as u32);
            timer.map(|timer| timer.source)
        };
        if let Some(source) = source {
            files.notify(source, ready::READABLE);
        }
    }
    (true, None)
}

/// The body of the thread that notifies expirations. What it does for a timer until that is read or
/// set again takes no more than the read, so that it can have the highest priority of processes.
fn serve() {
    loop {
        match with_state(|state| expire(&mut state.files)) {
            (true, _) => {}
            // A timer that was set ends the wait, as its time does.
            (false, Some(next)) => drop(CHANGED.take_until(Instant::from_nanoseconds(next))),
            (false, None) => CHANGED.take(),
        }
    }
}

/// `timerfd_create`.
pub fn timerfd_create(caller: &Caller) -> Result<u64, Errno> {
    let flags = caller.argument(1) as u32;
    if !CLOCKS.contains(&caller.int(0)) || flags & !(NONBLOCK | CLOSE_ON_EXEC) != 0 {
        return Err(Errno::EINVAL);
    }
    let number = with_state(|state| {
        let (process, frames, _) = caller.parts(state)?;
        let number = {
            let mut table = TABLE.lock().map_err(|_| Errno::ENFILE)?;
            let timer = Timer {
                dated: DATES.contains(&caller.int(0)),
                user: process.credentials.user().real,
                ..Timer::default()
            };
            table.insert(timer, frames)?
        };
        open(state, caller, (&OPERATIONS, number), flags, |source| {
            let noted = with(number, |timer| {
                timer.source = source;
                Ok(())
            });
            debug_assert!(noted.is_ok());
        })
    })?;
    if SERVICE.is_free() {
        let highest = options::process_realtime_priority();
        let priority = Priority::new(highest.max(options::process_priority()) as u8);
        // Another thread may have started it since.
        let _ = SERVICE.spawn("timers", priority, serve);
    }
    Ok(number)
}

/// The timer of a descriptor.
fn timer(state: &mut State, caller: &Caller) -> Result<u32, Errno> {
    let (process, _, files) = caller.parts(state)?;
    match files.get(&process.descriptor(caller.int(0))?.file)?.object {
        Object::Special(special) if core::ptr::eq(special.operations, &raw const OPERATIONS) => {
            Ok(special.number)
        }
        _ => Err(Errno::EINVAL),
    }
}

/// The words of a `struct itimerspec`.
fn words((rest, interval): (u64, u64)) -> [u64; 4] {
    [
        interval / SECOND,
        interval % SECOND,
        rest / SECOND,
        rest % SECOND,
    ]
}

/// `timerfd_settime`.
pub fn timerfd_settime(caller: &Caller) -> Result<u64, Errno> {
    const ABSOLUTE: u64 = 1;
    const CANCEL_ON_SET: u64 = 2;
    let flags = caller.argument(1);
    let setting: [u64; 4] = user_memory::words(caller, caller.address(2))?;
    if flags & !(ABSOLUTE | CANCEL_ON_SET) != 0 {
        return Err(Errno::EINVAL);
    }
    let mut times = [0; 2];
    for (time, pair) in times.iter_mut().zip(setting.chunks(2)) {
        let duration = timespec([pair[0], pair[1]])?;
        *time = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    }
    let [interval, first] = times;
    let before = with_state(|state| {
        let number = timer(state, caller)?;
        let mut table = TABLE.lock().map_err(|_| Errno::EBADF)?;
        let timer = table.timers.get_mut(number).ok_or(Errno::EBADF)?;
        let now = now();
        let before = timer.rest(now);
        let first = match first {
            0 => 0,
            first if flags & ABSOLUTE != 0 && timer.dated => {
                // A date in the past has expired at once.
                first.saturating_sub(real_time_of_start()).max(1)
            }
            first if flags & ABSOLUTE != 0 => first,
            first => now.saturating_add(first),
        };
        timer.set(first, interval);
        table.schedule(number);
        Ok::<_, Errno>(before)
    })?;
    if caller.argument(3) != 0 {
        user_memory::put_words(caller, caller.address(3), words(before))?;
    }
    Ok(0)
}

/// `timerfd_gettime`.
pub fn timerfd_gettime(caller: &Caller) -> Result<u64, Errno> {
    let rest = with_state(|state| {
        let number = timer(state, caller)?;
        with(number, |timer| Ok(timer.rest(now())))
    })?;
    user_memory::put_words(caller, caller.address(1), words(rest))?;
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_cannot_have_all_timers() {
        let mut frames = Frames::of_host(64);
        let total = frames.available();
        let mut timers = Timers::new();
        let mut more = |user| {
            let timer = Timer {
                user,
                ..Timer::default()
            };
            timers.insert(timer, &mut frames).ok()
        };
        assert_eq!((0..).map_while(|_| more(1)).count(), 512);
        assert_eq!((0..).map_while(|_| more(2)).count(), 128);
        assert!(more(3).is_some());
        for number in 0..TIMERS {
            timers.remove(number, &mut frames);
        }
        assert_eq!((timers.count, frames.available()), (0, total));
    }
}
