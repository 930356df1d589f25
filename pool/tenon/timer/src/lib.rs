//! Timers of a core: their state, their actions, and the queue that the image selects.
//!
//! A timer calls a handler, releases a periodic timer, or ends the wait of a [`Wakeable`]: the
//! thread of `tenon-kernel`, which this crate does not know. [`TimerStore`] is the queue of a core.
//!
//! Applications use the timers of `tenon-time`, which are made of these. Guarantees: as the queues of
//! `core-timer`, which the store has; the image contains only one of them.

#![no_std]
#![expect(
    unsafe_code,
    reason = "a union of timer queues, timers behind masked interrupts"
)]

mod slice;
mod store;
mod unqueued;

pub use slice::{SliceTimer, TimeSlice};
pub use store::{Selected, TimerStore, selected};
pub use unqueued::UnqueuedTimers;

use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering};
use core_list::{Link, Linked};
use core_timer::{Timed, TimerState};
use hw_clock::Series;

/// What a timer can wake.
pub trait Wakeable: Sync + 'static {
    /// The state of a core, which is passed to the release of a periodic timer.
    type Kernel;
}

/// What a timer does when it expires.
pub enum Action<W: Wakeable> {
    // First, so that a timer without a handler is all zero.
    /// Calls a handler.
    Call(Option<fn()>),
    /// Ends a wait.
    Wake(&'static W),
    /// Releases a periodic timer.
    Release(&'static PeriodicTimer<W>),
}

impl<W: Wakeable> Clone for Action<W> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: Wakeable> Copy for Action<W> {}

/// A one-shot timer.
pub struct Timer<W: Wakeable> {
    link: Link<&'static Timer<W>>,
    state: TimerState<&'static Timer<W>>,
    action: Cell<Action<W>>,
    /// The number of the core that has it in its queue, or had it last.
    core: AtomicUsize,
    /// With several cores: it has expired and is to be restarted unless it is cancelled first.
    restarts: Cell<bool>,
}

// SAFETY: the crates of the kernel alone use this type, and access it with interrupts masked, on the
// only core or with the lock of the queue that contains the timer.
unsafe impl<W: Wakeable> Sync for Timer<W> {}

impl<W: Wakeable> Timer<W> {
    /// A timer that is all zero and to be given an action by [`set_action`](Timer::set_action).
    #[inline]
    pub const fn unset() -> Self {
        Self::with(Action::Call(None))
    }

    /// A timer with an action.
    pub const fn with(action: Action<W>) -> Self {
        Self {
            link: Link::new(),
            state: TimerState::new(),
            action: Cell::new(action),
            core: AtomicUsize::new(0),
            restarts: Cell::new(false),
        }
    }

    /// Sets its action.
    #[inline(always)]
    pub fn set_action(&self, action: Action<W>) {
        self.action.set(action);
    }

    /// Makes an unset timer call `handler`, which calls
    /// [`note_timer_handler`](tenon_machine::analysis_notes::note_timer_handler) first.
    #[inline]
    pub fn set_handler(&self, handler: fn()) {
        self.set_action(Action::Call(Some(handler)));
    }

    /// Its action.
    #[inline(always)]
    pub fn action(&self) -> Action<W> {
        self.action.get()
    }

    /// The number of the core that has it in its queue, or had it last.
    #[inline]
    pub fn core(&self) -> usize {
        self.core.load(Ordering::Relaxed)
    }

    /// Sets the number of the core that has it in its queue.
    #[inline]
    pub fn set_core(&self, core: usize) {
        self.core.store(core, Ordering::Relaxed);
    }

    /// Whether it has expired and is to be restarted.
    #[inline]
    pub fn restarts(&self) -> &Cell<bool> {
        &self.restarts
    }

    /// Whether it is restarted each time it expires.
    #[inline]
    pub fn is_periodic(&self) -> bool {
        matches!(self.action.get(), Action::Release(_))
    }

    /// Whether it is pending.
    #[inline(always)]
    pub fn is_pending(&self) -> bool {
        self.state.is_pending()
    }

    /// Marks it as not pending.
    #[inline]
    pub fn set_idle(&self) {
        self.state.set_idle();
    }
}

impl<W: Wakeable> Linked for &'static Timer<W> {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

impl<W: Wakeable> Timed for &'static Timer<W> {
    fn state(&self) -> &TimerState<Self> {
        &self.state
    }
}

/// A periodic timer.
#[repr(C)] // the timer is at the address of the whole, so that no instruction computes it
pub struct PeriodicTimer<W: Wakeable> {
    timer: Timer<W>,
    /// The pending release, or the last one.
    series: Series,
    overruns: Cell<u64>,
    /// The release with its handler. Referenced from here only, so that an image without periodic
    /// timers does not contain it.
    release: fn(&'static Self, &W::Kernel, u64),
}

// SAFETY: the crates of the kernel alone use this type, and access it with interrupts masked, on the
// only core or with the lock of the queue that contains the timer.
unsafe impl<W: Wakeable> Sync for PeriodicTimer<W> {}

impl<W: Wakeable> PeriodicTimer<W> {
    /// A timer that is not started, with a function for its releases, which takes the counter value
    /// of the interrupt.
    pub const fn new(release: fn(&'static Self, &W::Kernel, u64)) -> Self {
        Self {
            timer: Timer::unset(),
            series: Series::new(),
            overruns: Cell::new(0),
            release,
        }
    }

    /// Its timer.
    #[inline(always)]
    pub const fn timer(&self) -> &Timer<W> {
        &self.timer
    }

    /// The pending release, or the last one.
    #[inline(always)]
    pub const fn series(&self) -> &Series {
        &self.series
    }

    /// The number of releases skipped since it was started.
    #[inline(always)]
    pub const fn overruns(&self) -> &Cell<u64> {
        &self.overruns
    }

    /// Calls the function for its releases at the counter value `now`.
    #[inline(always)]
    pub fn release(&'static self, kernel: &W::Kernel, now: u64) {
        (self.release)(self, kernel, now);
    }
}
