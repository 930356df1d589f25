//! Timers: what happens at an instant.

use crate::kernel::Kernel;
use crate::thread::Thread;
use core::cell::Cell;
use core_list::{Link, Linked};
use core_timer::{Due, Timed};

/// What a timer does when it expires.
#[derive(Clone, Copy)]
enum Action {
    Nothing,
    Wake(&'static Thread),
    Call(fn()),
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
    due: Due,
    action: Cell<Action>,
}

// SAFETY: all fields are private to this crate, which touches them with interrupts masked, on the
// core whose kernel the timer belongs to.
unsafe impl Sync for Timer {}

impl Timer {
    /// A timer that calls `handler` from the timer interrupt.
    pub const fn new(handler: fn()) -> Self {
        Self::with(Action::Call(handler))
    }

    /// A thread's own timer, to be given its thread with [`wakes`](Timer::wakes).
    pub(crate) const fn of_thread() -> Self {
        Self::with(Action::Nothing)
    }

    const fn with(action: Action) -> Self {
        Self {
            link: Link::new(),
            due: Due::new(),
            action: Cell::new(action),
        }
    }

    pub(crate) fn wakes(&self, thread: &'static Thread) {
        self.action.set(Action::Wake(thread));
    }

    /// Starts it, anew if it is pending; an instant that passed is due at once.
    pub fn start(&'static self, instant: crate::time::Instant) {
        Kernel::aside(|kernel| {
            let ticks = kernel.clock.get().frequency().ticks(instant.nanoseconds());
            kernel.start_timer(self, ticks);
        });
    }

    /// Stops it; returns whether it was pending.
    pub fn cancel(&'static self) -> bool {
        Kernel::aside(|kernel| kernel.cancel_timer(self))
    }

    /// Does what it is there for, in the timer interrupt.
    #[inline(always)]
    pub(crate) fn fire(&self, kernel: &Kernel) {
        match self.action.get() {
            Action::Nothing => {}
            Action::Wake(thread) => thread.time_out(kernel),
            Action::Call(handler) => handler(),
        }
    }
}

impl Linked for &'static Timer {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

impl Timed for &'static Timer {
    fn due(&self) -> &Due {
        &self.due
    }
}
