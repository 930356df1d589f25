//! Timers of processes, and the thread that sends their signals.
//!
//! The thread has the highest priority of processes: a process of a lower one does not delay the
//! timers of others, whatever its policy. What it does is bounded: in a window of 10 ms it looks at
//! 160 timers, which processes with timers share equally, and at least at two of each process. A timer
//! that is due when its process has no look left waits in the account of that, which has looks again in
//! the next window: its timers in turn. What a timer missed is counted as an overrun.

use super::account::Account;
use tenon_deadline::{Deadlines, Interval, Place};
use tenon_process::{
    AtEnd, Caller, Errno, Frames, Objects, Service, State, Target, has_share, with_state,
};
use tenon_signal::{Info, code};
use tenon_sync::Mutex;
use tenon_thread::options;
use tenon_thread::thread::{Priority, Storage};
use tenon_thread::time::Instant;

/// Timers at a time.
pub(super) const TIMERS: u32 = 1024;
/// Timers of a process at most.
const OF_PROCESS: usize = 256;
/// Processes with timers at most.
pub(super) const PROCESSES: u32 = 256;
/// Timers that are looked at while the state is held.
const STEP: usize = 4;
/// The time in nanoseconds for which looks at timers are counted.
pub(super) const WINDOW: u64 = 10_000_000;
/// Looks in a window, which processes with timers share.
const LOOKS: u32 = 160;
/// Looks of each process in a window at least.
const LEAST_LOOKS: u32 = 2;
/// The least time between two looks at a timer: what expires more often is counted.
const LEAST: u64 = 100_000;
/// The same while its signal is pending still.
const LEAST_PENDING: u64 = 1_000_000;
/// The least time between two looks at a timer of execution time, as in Linux with 250 ticks a second.
const TICK: u64 = 4_000_000;

/// What a timer does when it expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// Nothing.
    None,
    /// A signal to the process.
    Process,
    /// A signal to a thread.
    Thread(u32),
}

/// What a timer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// The time since the start.
    Start,
    /// The date.
    Date,
    /// Execution time of a thread, or of the whole process of a number.
    Execution(u32, bool),
}

impl Clock {
    /// What it shows, by the time since the start for a date too; `None` without its thread.
    pub fn read(self, state: &State) -> Option<u64> {
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
pub(super) struct Timer {
    /// The number of its process, and how many programs that had executed by then.
    pub owner: (u32, u32),
    /// It is one of `setitimer`, by its number, which stays with a new program.
    pub which: Option<i32>,
    pub clock: Clock,
    pub notice: Notice,
    pub signal: u8,
    pub value: u64,
    pub interval: Interval,
    /// When it is looked at next.
    pub look: u64,
    pub overrun: u32,
    /// The account of its process.
    pub account: u32,
    /// By which its pending signal is known: no other timer had that number.
    pub tag: u32,
}

pub(super) fn now() -> u64 {
    Instant::now().nanoseconds()
}

/// The owner that a timer of the caller has.
pub(super) fn owner(state: &mut State, caller: &Caller) -> Result<(u32, u32), Errno> {
    let (process, ..) = caller.parts(state)?;
    Ok((process.number, process.executions))
}

impl Timer {
    /// One that is not set.
    pub fn new(owner: (u32, u32), clock: Clock, (signal, notice): (u8, Notice)) -> Self {
        Self {
            owner,
            which: None,
            clock,
            notice,
            signal,
            value: 0,
            interval: Interval::default(),
            look: 0,
            overrun: 0,
            account: 0,
            tag: 0,
        }
    }

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
        let tag = self.tag;
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
    pub fn set(&mut self, expiry: u64, period: u64, time: u64) {
        self.interval = Interval { expiry, period };
        self.look = if self.clock.is_execution() && expiry != 0 {
            now().saturating_add(expiry.saturating_sub(time))
        } else {
            expiry
        };
        self.overrun = 0;
    }
}

/// All timers, and when they are looked at.
#[derive(Debug)]
pub(super) struct Timers {
    all: Objects<Timer>,
    /// The looks at timers, and behind those at accounts with timers that wait.
    looks: Deadlines<[Place; (TIMERS + PROCESSES) as usize]>,
    accounts: Objects<Account>,
    /// How many processes have timers.
    processes: u32,
    /// The last number by which the signals of a timer are known.
    tag: u32,
}

static TABLE: Mutex<Timers> = Mutex::new(Timers::new());
/// The thread that sends signals of timers.
static SERVICE: Storage<8192> = Storage::new();

/// Calls `action` with all timers; `error` if a thread has ended with them.
pub(super) fn with_timers<R>(
    error: Errno,
    action: impl FnOnce(&mut Timers) -> Result<R, Errno>,
) -> Result<R, Errno> {
    let mut timers = TABLE.lock().map_err(|_| error)?;
    action(&mut timers)
}

impl Timers {
    const fn new() -> Self {
        Self {
            all: Objects::new(TIMERS),
            looks: Deadlines::own(),
            accounts: Objects::new(PROCESSES),
            processes: 0,
            tag: 0,
        }
    }

    /// The timer of a number.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Timer> {
        self.all.get_mut(id)
    }

    /// A timer of `timer_create`, if this program has it.
    pub fn created_by(&mut self, owner: (u32, u32), id: u32) -> Result<&mut Timer, Errno> {
        let timer = self.all.get_mut(id);
        let timer = timer.filter(|timer| timer.owner == owner && timer.which.is_none());
        timer.ok_or(Errno::EINVAL)
    }

    /// The first timer that fits, by its number.
    pub fn find(&self, fits: impl Fn(&Timer) -> bool) -> Option<u32> {
        let mut numbers = self.all.numbers(0);
        numbers.find(|id| self.all.get(*id).is_some_and(&fits))
    }

    /// Removes a timer.
    pub fn remove(&mut self, id: u32, frames: &mut Frames) {
        self.looks.cancel(id as usize);
        let removed = self.all.remove(id, frames);
        let account = removed.and_then(|timer| self.accounts.get_mut(timer.account));
        if let Some(account) = account {
            account.forget(id);
            account.timers -= 1;
            self.processes -= u32::from(account.timers == 0);
        }
    }

    /// Has the service look at a timer when it is due.
    pub fn schedule(&mut self, id: u32) {
        let Some(Timer { look, account, .. }) = self.all.get(id).copied() else {
            return;
        };
        if let Some(account) = self.accounts.get_mut(account) {
            // One that is due stays among those that wait.
            if look != 0 && look <= now() && account.is_deferred(id) {
                return;
            }
            account.forget(id);
        }
        if look == 0 {
            self.looks.cancel(id as usize);
        } else if self.looks.start(id as usize, look) {
            Service::SignalTimers.wake();
        }
    }

    /// Serves what is due: a timer, or an account that has looks again.
    fn serve(&mut self, number: u32, now: u64, state: &mut State) {
        let of_account = number.checked_sub(TIMERS);
        let timer = match of_account {
            None => Some(number),
            Some(account) => self.accounts.get(account).and_then(Account::next_deferred),
        };
        let Some((id, mut timer)) = timer.and_then(|id| Some((id, *self.all.get(id)?))) else {
            return;
        };
        if !timer.is_owned(state) {
            self.remove(id, &mut state.frames);
        } else if let Some(account) = self.accounts.get_mut(timer.account) {
            let most = (LOOKS / self.processes.max(1)).max(LEAST_LOOKS);
            // What waits comes first.
            let waits = of_account.is_none() && account.has_deferred();
            if waits || !account.take(now, most) {
                let first = account.defer(id);
                if first || of_account.is_some() {
                    let next = Account::next(now, timer.account);
                    self.looks.start((TIMERS + timer.account) as usize, next);
                }
                return;
            }
            account.take_deferred(id);
            timer.expire(id, now, state);
            if let Some(place) = self.all.get_mut(id) {
                *place = timer;
            }
            self.schedule(id);
        }
        if let Some(account) = of_account {
            // For the next one that waits, if there is one.
            self.looks.start((TIMERS + account) as usize, now);
        }
    }

    /// The account of a process.
    fn account_of(&self, process: u32) -> Option<u32> {
        let mut numbers = self.accounts.numbers(0);
        numbers.find(|number| {
            let account = self.accounts.get(*number);
            account.is_some_and(|account| account.process == process)
        })
    }

    /// Removes the timers of programs that have ended; returns how many a process has.
    fn count(&mut self, process: u32, state: &mut State) -> usize {
        let (mut count, mut from) = (0, 0);
        while let Some(id) = self.all.next(from) {
            from = id + 1;
            match self.all.get(id) {
                Some(timer) if !timer.is_owned(state) => self.remove(id, &mut state.frames),
                Some(timer) => count += usize::from(timer.owner.0 == process),
                None => {}
            }
        }
        count
    }

    /// Whether a user may have another timer.
    fn has_room(&self, user: u32) -> bool {
        let accounts = || {
            let numbers = self.accounts.numbers(0);
            numbers.filter_map(|number| self.accounts.get(number))
        };
        let all = accounts().map(|account| account.timers).sum();
        let own = || {
            let own = accounts().filter(|account| account.user == user);
            own.map(|account| account.timers).sum()
        };
        has_share(all, TIMERS, own)
    }

    /// Inserts a timer, which is not set. `EAGAIN` without room for it, or if its process or the user of that
    /// has too many.
    pub fn insert(&mut self, mut timer: Timer, state: &mut State) -> Result<u32, Errno> {
        let process = timer.owner.0;
        state.on_end.add(&AT_END);
        if self.count(process, state) >= OF_PROCESS {
            return Err(Errno::EAGAIN);
        }
        let user = state.by_number(process)?.credentials.user().real;
        if !self.has_room(user) {
            return Err(Errno::EAGAIN);
        }
        timer.account = match self.account_of(process) {
            Some(account) => account,
            None => {
                let account = Account::of(process, user);
                let inserted = self.accounts.insert(account, 0, &mut state.frames);
                inserted.map_err(|_| Errno::EAGAIN)?
            }
        };
        self.tag = self.tag.wrapping_add(1).max(1);
        timer.tag = self.tag;
        if SERVICE.is_free() {
            let highest = options::process_realtime_priority();
            let priority = Priority::new(highest.max(options::process_priority()) as u8);
            // Another thread may have started it since.
            let _ = SERVICE.spawn("signal-timers", priority, serve);
        }
        let inserted = self.all.insert(timer, 0, &mut state.frames);
        let id = inserted.map_err(|_| Errno::EAGAIN)?;
        if let Some(account) = self.accounts.get_mut(timer.account) {
            account.timers += 1;
            self.processes += u32::from(account.timers == 1);
        }
        Ok(id)
    }
}

/// Looks at some timers that are due; returns whether there may be more, and when the next one is due.
fn serve_some(state: &mut State) -> (bool, Option<u64>) {
    let Ok(mut timers) = TABLE.lock() else {
        return (false, None);
    };
    for _ in 0..STEP {
        let now = now();
        let Some(id) = timers.looks.expire(now) else {
            return (false, timers.looks.earliest());
        };
        timers.serve(id as u32, now, state);
    }
    (true, None)
}

/// The body of the thread that sends signals of timers.
fn serve() {
    loop {
        let (more, next) = with_state(serve_some);
        if !more {
            // A timer that was set ends the wait, as its time does.
            Service::SignalTimers.wake_at(next.map(Instant::from_nanoseconds));
            Service::SignalTimers.wait();
        }
    }
}

static AT_END: AtEnd = AtEnd::new(end_timers);

/// Removes the timers of a process that ends.
fn end_timers(state: &mut State, process: u32) {
    let Ok(mut timers) = TABLE.lock() else {
        return;
    };
    let mut from = 0;
    while let Some(id) = timers.all.next(from) {
        from = id + 1;
        let timer = timers.all.get(id);
        if timer.is_some_and(|timer| timer.owner.0 == process) {
            timers.remove(id, &mut state.frames);
        }
    }
    if let Some(account) = timers.account_of(process) {
        timers.looks.cancel((TIMERS + account) as usize);
        timers.accounts.remove(account, &mut state.frames);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_cannot_have_all_timers() {
        let mut frames = Frames::of_host(64);
        let total = frames.available();
        let mut timers = Timers::new();
        for (process, user, count) in [(1, 1, 256), (2, 1, 255), (3, 2, 127)] {
            let mut account = Account::of(process, user);
            account.timers = count;
            timers.accounts.insert(account, 0, &mut frames).unwrap();
        }
        let mut more = |number: u32, user| {
            let has_room = timers.has_room(user);
            let account = timers.accounts.get_mut(number).unwrap();
            account.timers += u32::from(has_room);
            has_room
        };
        // Half are used: a user has its share then.
        assert!(!more(0, 1));
        assert!(more(2, 2) && !more(2, 2));
        for number in 0..3 {
            timers.accounts.remove(number, &mut frames);
        }
        assert!(timers.has_room(1));
        assert_eq!(frames.available(), total);
    }
}
