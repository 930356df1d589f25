//! Operations of periodic timers.

use super::expiry::call;
use super::instant::{Instant, nanoseconds};
use super::{Action, PeriodicTimer, Timer};
use crate::kernel::Kernel;
use crate::kernel::opaque::KernelRef;
use core::cell::Cell;
use core::time::Duration;
use core_trace::Event;
use hw_clock::Series;
use tenon_machine::irq_mask::without_irqs;
use tenon_machine::options;

impl PeriodicTimer {
    /// A timer that calls `handler` from the timer interrupt. As for a [`Timer`], the handler
    /// captures nothing and must not block.
    pub const fn new<F: Fn() + Copy + 'static>(_handler: F) -> Self {
        Self {
            timer: Timer::unset(),
            series: Series::new(),
            overruns: Cell::new(0),
            release: Self::release::<F>,
        }
    }

    /// Starts it, or restarts it if it is pending: the first release is due at `first`, the others
    /// each `period` later, which is at least a tick of the counter.
    pub fn start(&'static self, first: Instant, period: Duration) {
        Kernel::with_irqs_masked(|kernel| self.start_in(kernel, first, period));
    }

    pub(crate) fn start_in(&'static self, kernel: &Kernel, first: Instant, period: Duration) {
        let frequency = kernel.clock().frequency();
        let (first, period) = (first.nanoseconds(), nanoseconds(period));
        kernel.record(Event::Start, &self.timer);
        let begin = || {
            self.series.begin(frequency, first, period);
            self.overruns.set(0);
            self.timer.set_action(Action::Release(self));
            self.series.ticks()
        };
        if options::cores() > 1 {
            let alarm = kernel.start_shared_timer(&self.timer, begin);
            return alarm.map_or((), |alarm| kernel.clock().rearm_timer(alarm));
        }
        kernel.cancel_timer(&self.timer);
        kernel.start_timer(&self.timer, begin());
    }

    /// Cancels it. Returns whether it was pending.
    pub fn cancel(&'static self) -> bool {
        Kernel::with_irqs_masked(|kernel| kernel.cancel_timer(&self.timer))
    }

    /// The number of releases skipped since it was started.
    pub fn overruns(&self) -> u64 {
        let overruns = || self.overruns.get();
        if options::cores() > 1 {
            return Kernel::with_irqs_masked(|kernel| {
                kernel.read_shared_timer(&self.timer, overruns)
            });
        }
        without_irqs(overruns)
    }

    #[cfg(test)]
    pub(crate) fn timer(&self) -> &Timer {
        &self.timer
    }

    /// Restarts it for the next release, then calls the handler, which may cancel it.
    fn release<F: Fn() + Copy + 'static>(&'static self, kernel: KernelRef<'_>, now: u64) {
        let kernel = Kernel::from_opaque(kernel);
        kernel.record(Event::Expire, &self.timer);
        if options::cores() > 1 {
            kernel.restart_shared_timer(&self.timer, || {
                self.series.advance();
                self.skip_missed(kernel, now);
                self.series.ticks()
            });
        } else {
            let ticks = self.series.advance();
            if ticks <= now || !kernel.rejoin_timer(&self.timer, ticks) {
                self.restart_slow(kernel, now);
            }
        }
        call::<F>();
    }

    /// Restarts it apart from other timers, and skips releases that are due already. Out of line,
    /// so that timers that rejoin others save no register.
    #[inline(never)]
    fn restart_slow(&'static self, kernel: &Kernel, now: u64) {
        self.skip_missed(kernel, now);
        if let Some(alarm) = kernel.restart_timer(&self.timer, self.series.ticks()) {
            kernel.clock().rearm_timer(alarm);
        }
    }

    /// Skips releases that are due at `now` already.
    #[inline(always)]
    fn skip_missed(&self, kernel: &Kernel, now: u64) {
        if self.series.ticks() <= now {
            let skipped = self.series.pass(kernel.clock().frequency(), now);
            self.overruns
                .set(self.overruns.get().saturating_add(skipped));
        }
    }
}
