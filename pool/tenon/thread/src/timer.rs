//! Timers: what happens at an instant.

use crate::assembly;
use crate::kernel::Kernel;
use crate::options;
use crate::periodic::PeriodicTimer;
use crate::sites;
use crate::thread::Thread;
use crate::time::Instant;
use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering};
use core_list::{Link, Linked};
use core_timer::{Timed, TimerState};
use core_trace::Event;

/// What a timer does when it expires.
#[derive(Clone, Copy)]
pub(crate) enum Action {
    // First, so that a timer without a handler is all zero.
    Call(Option<fn()>),
    Wake(&'static Thread),
    Release(&'static PeriodicTimer),
}

/// A timer. Many may be pending; starting and cancelling one takes the same few instructions
/// whatever their number.
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
    /// The number of the core in whose queue it is, or was last.
    core: AtomicUsize,
    /// With several cores: it has expired, and is to be started again unless it is cancelled first.
    restarts: Cell<bool>,
}

// SAFETY: all fields are private to this crate, which touches them with interrupts masked, on the only
// core or within the gate of the core whose queue it is in.
unsafe impl Sync for Timer {}

impl Timer {
    /// A timer that calls `handler` from the timer interrupt. The handler captures nothing and
    /// runs like that of an interrupt: it may wake threads and start timers, and an image in which it
    /// may wait does not build.
    pub const fn new<F: Fn() + Copy + 'static>(_handler: F) -> Self {
        Self::with(Action::Call(Some(call::<F>)))
    }

    /// A timer all of it zero, to be told what it is for by [`does`](Timer::does).
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

    /// Makes one that is all zero a timer that calls `handler`, whose first act is to note that it is
    /// one.
    pub(crate) fn set_handler(&self, handler: fn()) {
        self.set_action(Action::Call(Some(handler)));
    }

    /// The number of the core in whose queue it is, or was last.
    pub(crate) fn core(&self) -> usize {
        self.core.load(Ordering::Relaxed)
    }

    pub(crate) fn set_core(&self, core: usize) {
        self.core.store(core, Ordering::Relaxed);
    }

    /// Whether it has expired and is to be started again.
    pub(crate) fn restarts(&self) -> &Cell<bool> {
        &self.restarts
    }

    /// Whether it is to be started again each time it expires.
    pub(crate) fn is_periodic(&self) -> bool {
        matches!(self.action.get(), Action::Release(_))
    }

    /// Starts it on this core, anew if it is pending; an instant that passed is due at once.
    #[inline(never)]
    pub fn start(&'static self, instant: Instant) {
        if options::cores() > 1 {
            return Kernel::with_irqs_masked(|kernel| {
                kernel.record(Event::Start, self);
                let ticks = kernel.clock().frequency().ticks(instant.nanoseconds());
                kernel.start_timer(self, ticks);
            });
        }
        let mask = assembly::mask();
        if self.state.is_pending() {
            return self.start_anew(instant, mask);
        }
        self.start_idle(instant, mask);
    }

    /// Out of line and called last, so that most starts need no register saved.
    #[cold]
    fn start_anew(&'static self, instant: Instant, mask: u64) {
        // SAFETY: whoever starts a timer runs since `boot`; interrupts are masked.
        unsafe { Kernel::this() }.cancel_timer(self);
        self.start_idle(instant, mask);
    }

    #[inline(always)]
    fn start_idle(&'static self, instant: Instant, mask: u64) {
        // SAFETY: as in `start_anew`.
        let kernel = unsafe { Kernel::this() };
        kernel.record(Event::Start, self);
        let ticks = kernel.clock().frequency().ticks(instant.nanoseconds());
        if let Some(alarm) = kernel.start_idle_timer(self, ticks) {
            kernel.clock().move_alarm(alarm);
        }
        // SAFETY: every operation on the queue is complete.
        unsafe { assembly::unmask(mask) };
    }

    /// Stops it; returns whether it was pending.
    pub fn cancel(&'static self) -> bool {
        Kernel::with_irqs_masked(|kernel| kernel.cancel_timer(self))
    }

    /// Does what it is there for, in the timer interrupt that came at the counter value `now`.
    #[inline(always)]
    pub(crate) fn expire_timer(&self, kernel: &Kernel, now: u64) {
        match self.action.get() {
            Action::Release(timer) => timer.expire_timer(kernel, now),
            Action::Wake(thread) => {
                self.expired();
                thread.expire_wait(kernel);
            }
            Action::Call(handler) => {
                kernel.record(Event::Expire, self);
                sites::note_timer_call();
                self.expired();
                let Some(handler) = handler else { return };
                handler();
            }
        }
    }

    /// Notes that it is not pending any more, if that is not known yet.
    #[inline(always)]
    fn expired(&self) {
        if options::cores() == 1 {
            self.state.set_idle();
        }
    }

    /// Notes that it is not pending any more.
    pub(crate) fn set_idle(&self) {
        self.state.set_idle();
    }

    /// [`expire_timer`](Timer::fire) as one of several of an instant: of those, periodic timers, which meet
    /// again and again, find their way in line.
    #[inline(always)]
    pub(crate) fn expire_in_batch(&self, kernel: &Kernel, now: u64) {
        match self.action.get() {
            Action::Release(timer) => timer.expire_timer(kernel, now),
            _ => self.expire_out_of_line(kernel, now),
        }
    }

    /// [`expire_timer`](Timer::fire) out of line.
    #[inline(never)]
    pub(crate) fn expire_out_of_line(&self, kernel: &Kernel, now: u64) {
        self.expire_timer(kernel, now);
    }
}

impl Kernel {
    /// Sets the end of a wait that `thread` is about to begin; returns whether it is still ahead.
    #[inline(always)]
    pub(crate) fn limit_wait(&self, thread: &'static Thread, deadline: Option<Instant>) -> bool {
        let Some(deadline) = deadline else {
            return true;
        };
        let clock = self.clock();
        let ticks = clock.frequency().ticks(deadline.nanoseconds());
        let ahead = ticks > clock.ticks();
        if ahead {
            self.start_timer(thread.timer(), ticks);
        }
        ahead
    }
}

/// What an expiry calls: the handler, made of nothing.
#[inline(always)]
pub(crate) fn call<F: Fn() + Copy + 'static>() {
    const { assert!(size_of::<F>() == 0, "a timer's handler captures nothing") };
    sites::note_timer_handler();
    // SAFETY: F has no size, so any aligned address holds one; it was given one, so F
    // has values; F is Copy, so using it up is no matter.
    let handler = unsafe { core::ptr::NonNull::<F>::dangling().read() };
    handler();
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
