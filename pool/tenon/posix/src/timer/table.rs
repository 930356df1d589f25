//! Table of timers.

use crate::timer::setting::{Setting, now};
use core::cell::Cell;
use core::ffi::c_int;
use core::ptr;
use tenon_libc::errno::Errno;
use tenon_libc::time::Clock;
use tenon_pthread::pending::QueuedSignal;
use tenon_pthread::signal::Notification;
use tenon_pthread::signal::event::{Notified, SigEvent};
use tenon_pthread::table::LOCK;

/// `SI_TIMER`.
const TIMER: c_int = 3;

/// Number of a timer and of its use: `timer_t`.
pub type TimerId = u64;

/// A timer.
pub struct Timer {
    /// The clock, from creation to deletion.
    clock: Cell<Option<Clock>>,
    setting: Cell<Option<Setting>>,
    event: Notification,
    /// Expiries since the last signal was sent.
    missed: Cell<i128>,
    /// Overruns of the signal that was taken last.
    overrun: Cell<i128>,
    /// Number of this use of the slot, which detects a stale ID.
    number: Cell<u32>,
}

// SAFETY: accessed with `LOCK` held.
unsafe impl Sync for Timer {}

impl Timer {
    /// A free slot.
    pub const fn new() -> Self {
        Self {
            clock: Cell::new(None),
            setting: Cell::new(None),
            event: Notification::new(signal_taken),
            missed: Cell::new(0),
            overrun: Cell::new(0),
            number: Cell::new(0),
        }
    }

    /// Creates a timer of a clock. The caller holds `LOCK`.
    pub(crate) fn create(&self, clock: Clock) {
        self.clock.set(Some(clock));
        self.setting.set(None);
        self.missed.set(0);
        self.overrun.set(0);
        self.number.set(self.number.get().wrapping_add(1));
    }

    /// Sets the notification. The caller holds `LOCK`.
    pub(crate) fn set_event(&self, wanted: SigEvent) {
        self.event.set(Some(wanted), TIMER);
    }

    /// The clock. The caller holds `LOCK`.
    pub(crate) fn clock(&self) -> Option<Clock> {
        self.clock.get()
    }

    /// The current setting. The caller holds `LOCK`.
    pub(crate) fn setting(&self) -> Option<Setting> {
        self.setting.get()
    }

    /// Arms or disarms the timer; returns the former setting. The caller holds `LOCK`.
    pub(crate) fn set(&self, setting: Option<Setting>) -> Option<Setting> {
        self.missed.set(0);
        self.setting.replace(setting)
    }

    /// Deletes the timer. The caller holds `LOCK`.
    pub(crate) fn delete(&self) {
        self.clock.set(None);
        self.setting.set(None);
    }

    /// The overrun count of the last signal. The caller holds `LOCK`.
    pub(crate) fn overrun(&self) -> c_int {
        c_int::try_from(self.overrun.get()).unwrap_or(c_int::MAX)
    }

    /// Whether the slot is free and no signal of its last use is pending.
    fn is_free(&'static self) -> bool {
        self.clock.get().is_none() && !self.event.entry().is_pending()
    }

    /// Advances an expired timer to its next expiry; returns the number of expiries. The caller
    /// holds `LOCK`.
    fn advance(&self) -> Option<i128> {
        let setting = self.setting.get()?;
        let (times, remaining) = setting.expire(now(setting.clock()))?;
        self.setting.set(remaining);
        Some(times)
    }

    /// Notifies the program if the timer has expired; returns whether it has.
    pub(crate) fn expire(&'static self) -> bool {
        let Some(times) = LOCK.masked(|(), _| self.advance()) else {
            return false;
        };
        // The signal stands for the first expiry.
        let first = i128::from(self.event.notify() == Notified::Yes);
        LOCK.masked(|(), _| self.missed.set(self.missed.get() + times - first));
        true
    }
}

impl Default for Timer {
    fn default() -> Self {
        Self::new()
    }
}

/// Called when a timer's signal is taken: the expiries since it was sent, including those not
/// handled yet, are its overruns.
fn signal_taken(entry: &'static QueuedSignal) {
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
        // The first timer belongs to `alarm`.
        $crate::define_table!(TENON_POSIX_TIMERS: [$crate::timer::Timer; $count + 1] = $crate::timer::Timer::new());
    };
}

tenon_libc::table! {
    /// All timers; the first belongs to `alarm`.
    pub(crate) fn timers: Timer = TENON_POSIX_TIMERS
}

/// Maximum number of timers: `TIMER_MAX`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn __timer_max() -> usize {
    timers().len().saturating_sub(1)
}

/// Creates a timer in a free slot; returns it with its ID. The caller holds `LOCK`.
pub(crate) fn claim(clock: Clock) -> Result<(&'static Timer, TimerId), Errno> {
    let mut places = timers().iter().enumerate().skip(1);
    let (index, timer) = places
        .find(|(_, timer)| timer.is_free())
        .ok_or(Errno::EAGAIN)?;
    timer.create(clock);
    Ok((timer, u64::from(timer.number.get()) << 16 | index as u64))
}

/// The timer of an ID. The caller holds `LOCK`.
pub(crate) fn find(name: TimerId) -> Result<&'static Timer, Errno> {
    let index = (name & 0xffff) as usize;
    let timer = timers().get(index).filter(|_| index > 0);
    let timer = timer.ok_or(Errno::EINVAL)?;
    let same = u64::from(timer.number.get()) == name >> 16;
    (same && timer.clock.get().is_some())
        .then_some(timer)
        .ok_or(Errno::EINVAL)
}
