//! The timers there are.

use crate::timer::setting::{Setting, now};
use core::cell::Cell;
use core::ffi::c_int;
use core::ptr;
use tenon_libc::errno::Errno;
use tenon_libc::time::Clock;
use tenon_pthread::pending::Entry;
use tenon_pthread::signal::Event;
use tenon_pthread::signal::event::{Told, Wanted};
use tenon_pthread::table::LOCK;

/// `SI_TIMER`.
const TIMER: c_int = 3;

/// A timer's number and the number of its use: `timer_t`.
pub type Name = u64;

/// A timer.
pub struct Timer {
    /// Its clock, from its making to its end.
    clock: Cell<Option<Clock>>,
    setting: Cell<Option<Setting>>,
    event: Event,
    /// Expiries since its signal was sent.
    missed: Cell<i128>,
    /// Expiries that the signal stood for that was taken last.
    overrun: Cell<i128>,
    /// Which of its uses it is, so that a stale name is known as such.
    number: Cell<u32>,
}

// SAFETY: touched behind `LOCK`.
unsafe impl Sync for Timer {}

impl Timer {
    /// No timer.
    pub const fn new() -> Self {
        Self {
            clock: Cell::new(None),
            setting: Cell::new(None),
            event: Event::new(taken),
            missed: Cell::new(0),
            overrun: Cell::new(0),
            number: Cell::new(0),
        }
    }

    /// Makes it a timer of that clock. To be called behind `LOCK`.
    pub(crate) fn make(&self, clock: Clock) {
        self.clock.set(Some(clock));
        self.setting.set(None);
        self.missed.set(0);
        self.overrun.set(0);
        self.number.set(self.number.get().wrapping_add(1));
    }

    /// Has it tell the program in that way. To be called behind `LOCK`.
    pub(crate) fn tell(&self, wanted: Wanted) {
        self.event.set(Some(wanted), TIMER);
    }

    /// Its clock. To be called behind `LOCK`.
    pub(crate) fn clock(&self) -> Option<Clock> {
        self.clock.get()
    }

    /// When it expires. To be called behind `LOCK`.
    pub(crate) fn setting(&self) -> Option<Setting> {
        self.setting.get()
    }

    /// Arms it, or not. To be called behind `LOCK`.
    pub(crate) fn set(&self, setting: Option<Setting>) -> Option<Setting> {
        self.missed.set(0);
        self.setting.replace(setting)
    }

    /// Ends it. To be called behind `LOCK`.
    pub(crate) fn end(&self) {
        self.clock.set(None);
        self.setting.set(None);
    }

    /// Expiries that its last signal stood for beyond the first. To be called behind `LOCK`.
    pub(crate) fn overrun(&self) -> c_int {
        c_int::try_from(self.overrun.get()).unwrap_or(c_int::MAX)
    }

    /// Whether it may be made: it is none, and no signal of its last use is pending.
    fn is_free(&'static self) -> bool {
        self.clock.get().is_none() && !self.event.entry().is_pending()
    }

    /// Goes on to its next expiry if it is due; returns how many have passed. To be called behind
    /// `LOCK`.
    fn advance(&self) -> Option<i128> {
        let setting = self.setting.get()?;
        let (times, rest) = setting.expire(now(setting.clock()))?;
        self.setting.set(rest);
        Some(times)
    }

    /// Expires if it is due, and tells the program; returns whether it was.
    pub(crate) fn expire(&'static self) -> bool {
        let Some(times) = LOCK.masked(|(), _| self.advance()) else {
            return false;
        };
        // The first one is what its signal is for.
        let first = i128::from(self.event.happen() == Told::Yes);
        LOCK.masked(|(), _| self.missed.set(self.missed.get() + times - first));
        true
    }
}

impl Default for Timer {
    fn default() -> Self {
        Self::new()
    }
}

/// The signal of a timer was taken: what was missed until now is its overrun, also what nobody has
/// looked at yet.
fn taken(entry: &'static Entry) {
    let of = |timer: &&'static Timer| ptr::eq(timer.event.entry(), entry);
    if let Some(timer) = timers().iter().find(of) {
        let passed = timer.advance().unwrap_or(0);
        timer.overrun.set(timer.missed.replace(0) + passed);
    }
}

/// Defines the timers of an image: `define_timers!(32);`
#[macro_export]
macro_rules! define_timers {
    ($count:expr) => {
        // The first one is that of `alarm`.
        $crate::define_table!(TENON_POSIX_TIMERS: [$crate::timer::Timer; $count + 1] = $crate::timer::Timer::new());
    };
}

tenon_libc::table! {
    /// All timers, the first of them that of `alarm`.
    pub(crate) fn timers: Timer = TENON_POSIX_TIMERS
}

/// How many timers there can be: `TIMER_MAX`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn __timer_max() -> usize {
    timers().len().saturating_sub(1)
}

/// A timer that may be made, and its name then. To be called behind `LOCK`.
pub(crate) fn claim(clock: Clock) -> Result<(&'static Timer, Name), Errno> {
    let mut places = timers().iter().enumerate().skip(1);
    let (index, timer) = places
        .find(|(_, timer)| timer.is_free())
        .ok_or(Errno::EAGAIN)?;
    timer.make(clock);
    Ok((timer, u64::from(timer.number.get()) << 16 | index as u64))
}

/// The timer of that name. To be called behind `LOCK`.
pub(crate) fn find(name: Name) -> Result<&'static Timer, Errno> {
    let index = (name & 0xffff) as usize;
    let timer = timers().get(index).filter(|_| index > 0);
    let timer = timer.ok_or(Errno::EINVAL)?;
    let same = u64::from(timer.number.get()) == name >> 16;
    (same && timer.clock.get().is_some())
        .then_some(timer)
        .ok_or(Errno::EINVAL)
}
