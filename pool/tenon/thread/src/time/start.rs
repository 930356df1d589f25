//! Start and cancellation of one-shot timers.

use super::expiry::call;
use super::instant::Instant;
use super::{Action, Timer};
use crate::kernel::Kernel;
use core_trace::Event;
use tenon_machine::irq_mask;
use tenon_machine::options;

impl Timer {
    /// A timer that calls `handler` from the timer interrupt. The handler captures nothing and runs
    /// as an interrupt handler: it may wake threads and start timers, and the build rejects one
    /// that may block.
    pub const fn new<F: Fn() + Copy + 'static>(_handler: F) -> Self {
        Self::with(Action::Call(Some(call::<F>)))
    }

    /// Starts it on this core, or restarts it if it is pending. An instant in the past is due at
    /// once.
    #[inline(never)]
    pub fn start(&'static self, instant: Instant) {
        if options::cores() > 1 {
            return Kernel::with_irqs_masked(|kernel| {
                kernel.record(Event::Start, self);
                let ticks = kernel.clock().frequency().ticks(instant.nanoseconds());
                kernel.start_timer(self, ticks);
            });
        }
        let mask = irq_mask::mask();
        if self.state.is_pending() {
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
        unsafe { Kernel::this() }.cancel_timer(self);
        self.start_idle(instant, mask);
    }

    #[inline(always)]
    fn start_idle(&'static self, instant: Instant, mask: u64) {
        // SAFETY: the caller is a thread or a handler, which exist only after `boot`; interrupts
        // are masked.
        let kernel = unsafe { Kernel::this() };
        kernel.record(Event::Start, self);
        let ticks = kernel.clock().frequency().ticks(instant.nanoseconds());
        if let Some(alarm) = kernel.start_idle_timer(self, ticks) {
            kernel.clock().rearm_timer(alarm);
        }
        // SAFETY: the operation on the timer queue is complete.
        unsafe { irq_mask::restore(mask) };
    }

    /// Cancels it. Returns whether it was pending.
    pub fn cancel(&'static self) -> bool {
        Kernel::with_irqs_masked(|kernel| kernel.cancel_timer(self))
    }
}
