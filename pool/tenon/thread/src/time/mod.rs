//! Time: instants, sleep, timers.
//!
//! This module defines one-shot and periodic timers. Their operations are in the modules below it.

pub(crate) mod expiry;
pub(crate) mod instant;
mod periodic;
mod sleep;
mod start;
pub(crate) mod store;

pub use core::time::Duration;
pub use instant::{Instant, resolution};
pub use sleep::{sleep, sleep_until};

use crate::kernel::opaque::KernelRef;
use crate::thread::Thread;
use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering};
use core_list::{Link, Linked};
use core_timer::{Timed, TimerState};
use hw_clock::Series;

/// What a timer does when it expires.
#[derive(Clone, Copy)]
pub(crate) enum Action {
    // First, so that a timer without a handler is all zero.
    Call(Option<fn()>),
    Wake(&'static Thread),
    Release(&'static PeriodicTimer),
}

/// A one-shot timer. Starting and cancelling take the same few instructions for any number of
/// pending timers.
///
/// ```no_run
/// use tenon_thread::time::{Duration, Instant, Timer};
///
/// static WATCHDOG: Timer = Timer::new(|| { /* in the interrupt: short, never waiting */ });
///
/// WATCHDOG.start(Instant::now() + Duration::from_millis(5));
/// WATCHDOG.cancel();
/// ```
pub struct Timer {
    link: Link<&'static Timer>,
    state: TimerState<&'static Timer>,
    action: Cell<Action>,
    /// The number of the core that has it in its queue, or had it last.
    core: AtomicUsize,
    /// With several cores: it has expired and is to be restarted unless it is cancelled first.
    restarts: Cell<bool>,
}

// SAFETY: all fields are private to this crate, which accesses them with interrupts masked, on the
// only core or with the lock of the queue that contains the timer.
unsafe impl Sync for Timer {}

impl Timer {
    /// A timer that is all zero and to be given an action by [`set_action`](Timer::set_action).
    pub(crate) const fn unset() -> Self {
        Self::with(Action::Call(None))
    }

    const fn with(action: Action) -> Self {
        Self {
            link: Link::new(),
            state: TimerState::new(),
            action: Cell::new(action),
            core: AtomicUsize::new(0),
            restarts: Cell::new(false),
        }
    }

    pub(crate) fn set_action(&self, action: Action) {
        self.action.set(action);
    }

    /// Makes an unset timer call `handler`, which calls
    /// [`note_timer_handler`](tenon_machine::analysis_notes::note_timer_handler) first.
    pub(crate) fn set_handler(&self, handler: fn()) {
        self.set_action(Action::Call(Some(handler)));
    }

    /// The number of the core that has it in its queue, or had it last.
    pub(crate) fn core(&self) -> usize {
        self.core.load(Ordering::Relaxed)
    }

    pub(crate) fn set_core(&self, core: usize) {
        self.core.store(core, Ordering::Relaxed);
    }

    /// Whether it has expired and is to be restarted.
    pub(crate) fn restarts(&self) -> &Cell<bool> {
        &self.restarts
    }

    /// Whether it is restarted each time it expires.
    pub(crate) fn is_periodic(&self) -> bool {
        matches!(self.action.get(), Action::Release(_))
    }

    /// Marks it as not pending.
    pub(crate) fn set_idle(&self) {
        self.state.set_idle();
    }
}

impl Linked for &'static Timer {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

impl Timed for &'static Timer {
    fn state(&self) -> &TimerState<Self> {
        &self.state
    }
}

/// A periodic timer.
///
/// Release *k* is due at first + *k* × period, whatever happened before. The instants are computed
/// in exact fractions of a tick, so that no error accumulates: no release is early, and none is
/// late by a tick. A release that has not been served when the next one is due, for instance after
/// a stop in a debugger, is skipped and counted.
///
/// ```no_run
/// use tenon_thread::time::{Duration, Instant, PeriodicTimer};
///
/// static SAMPLER: PeriodicTimer = PeriodicTimer::new(|| { /* in the interrupt: short, never waiting */ });
///
/// SAMPLER.start(Instant::now() + Duration::from_millis(5), Duration::from_millis(1));
/// ```
#[repr(C)] // the timer is at the address of the whole, so that no instruction computes it
pub struct PeriodicTimer {
    timer: Timer,
    /// The pending release, or the last one.
    series: Series,
    overruns: Cell<u64>,
    /// The release with its handler. Referenced from here only, so that an image without periodic
    /// timers does not contain it.
    release: fn(&'static Self, KernelRef<'_>, u64),
}

// SAFETY: all fields are private to this crate, which accesses them with interrupts masked, on the
// only core or with the lock of the queue that contains the timer.
unsafe impl Sync for PeriodicTimer {}
