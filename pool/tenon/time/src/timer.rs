//! One-shot timers.

use crate::{Instant, call};
use core_trace::Event;
use tenon_kernel::kernel::Kernel;
use tenon_kernel::time::{self, Action};
use tenon_machine::irq_mask;
use tenon_machine::options;

/// A one-shot timer. Starting and cancelling take the same few instructions for any number of
/// pending timers.
///
/// ```no_run
/// # mod tenon_thread { pub use tenon_time as time; }
/// use tenon_thread::time::{Duration, Instant, Timer};
///
/// static WATCHDOG: Timer = Timer::new(|| { /* in the interrupt: short, never waiting */ });
///
/// WATCHDOG.start(Instant::now() + Duration::from_millis(5));
/// WATCHDOG.cancel();
/// ```
#[repr(transparent)]
pub struct Timer(pub(crate) time::Timer);

impl Timer {
    /// A timer that calls `handler` from the timer interrupt. The handler captures nothing and runs
    /// as an interrupt handler: it may wake threads and start timers, and the build rejects one
    /// that may block.
    pub const fn new<F: Fn() + Copy + 'static>(_handler: F) -> Self {
        Self(time::Timer::with(Action::Call(Some(call::<F>))))
    }

    /// Starts it on this core, or restarts it if it is pending. An instant in the past is due at
    /// once.
    #[inline(never)]
    pub fn start(&'static self, instant: Instant) {
        if options::cores() > 1 {
            return Kernel::with_irqs_masked(|kernel| {
                kernel.record(Event::Start, &self.0);
                let ticks = kernel.clock().frequency().ticks(instant.nanoseconds());
                kernel.start_timer(&self.0, ticks);
            });
        }
        let mask = irq_mask::mask();
        if self.0.is_pending() {
            return self.start_again(instant, mask);
        }
        self.start_idle(instant, mask);
    }

    /// Restarts a pending timer. Out of line and in tail position, so that other starts save no
    /// register.
    #[cold]
    fn start_again(&'static self, instant: Instant, mask: u64) {
        // SAFETY: the caller is a thread or a handler, which exist only after `boot`; interrupts
        // are masked.
        unsafe { Kernel::this() }.cancel_timer(&self.0);
        self.start_idle(instant, mask);
    }

    #[inline(always)]
    fn start_idle(&'static self, instant: Instant, mask: u64) {
        // SAFETY: the caller is a thread or a handler, which exist only after `boot`; interrupts
        // are masked.
        let kernel = unsafe { Kernel::this() };
        kernel.record(Event::Start, &self.0);
        let ticks = kernel.clock().frequency().ticks(instant.nanoseconds());
        if let Some(alarm) = kernel.start_idle_timer(&self.0, ticks) {
            kernel.set_alarm(alarm);
        }
        // SAFETY: the operation on the timer queue is complete.
        unsafe { irq_mask::restore(mask) };
    }

    /// Cancels it. Returns whether it was pending.
    pub fn cancel(&'static self) -> bool {
        Kernel::with_irqs_masked(|kernel| kernel.cancel_timer(&self.0))
    }
}

/// Calls `handler` at an instant, outside the queue of timers, for work with a priority below all
/// periodic threads: it delays no release that is due at the same time. There is one such timer, which
/// a later call sets anew, in an image for one core with time slices.
pub fn start_background<F: Fn() + Copy + 'static>(instant: Instant, priority: u8, _handler: F) {
    Kernel::with_irqs_masked(|kernel| {
        let ticks = kernel.clock().frequency().ticks(instant.nanoseconds());
        kernel.start_background(ticks, priority, call::<F>);
    });
}
