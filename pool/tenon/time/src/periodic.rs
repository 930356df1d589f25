//! Periodic timers.

use crate::{Instant, call, nanoseconds};
use core::time::Duration;
use core_trace::Event;
use tenon_kernel::kernel::Kernel;
use tenon_kernel::time::{self, Action};
use tenon_machine::irq_mask::without_irqs;
use tenon_machine::options;

/// A periodic timer.
///
/// Release *k* is due at first + *k* × period, whatever happened before. The instants are computed
/// in exact fractions of a tick, so that no error accumulates: no release is early, and none is
/// late by a tick. A release that has not been served when the next one is due, for instance after
/// a stop in a debugger, is skipped and counted.
///
/// ```no_run
/// # mod tenon_thread { pub use tenon_time as time; }
/// use tenon_thread::time::{Duration, Instant, PeriodicTimer};
///
/// static SAMPLER: PeriodicTimer = PeriodicTimer::new(|| { /* in the interrupt: short, never waiting */ });
///
/// SAMPLER.start(Instant::now() + Duration::from_millis(5), Duration::from_millis(1));
/// ```
#[repr(transparent)]
pub struct PeriodicTimer(pub(crate) time::PeriodicTimer);

impl PeriodicTimer {
    /// A timer that calls `handler` from the timer interrupt. As for a [`Timer`](crate::Timer), the handler
    /// captures nothing and must not block.
    pub const fn new<F: Fn() + Copy + 'static>(_handler: F) -> Self {
        Self(time::PeriodicTimer::new(release::<F>))
    }

    /// Starts it, or restarts it if it is pending: the first release is due at `first`, the others
    /// each `period` later, which is at least a tick of the counter.
    pub fn start(&'static self, first: Instant, period: Duration) {
        Kernel::with_irqs_masked(|kernel| self.start_in(kernel, first, period));
    }

    pub(crate) fn start_in(&'static self, kernel: &Kernel, first: Instant, period: Duration) {
        let frequency = kernel.clock().frequency();
        let (first, period) = (first.nanoseconds(), nanoseconds(period));
        kernel.record(Event::Start, self.0.timer());
        let begin = || {
            self.0.series().begin(frequency, first, period);
            self.0.overruns().set(0);
            self.0.timer().set_action(Action::Release(&self.0));
            self.0.series().ticks()
        };
        if options::cores() > 1 {
            let alarm = kernel.start_shared_timer(self.0.timer(), begin);
            return alarm.map_or((), |alarm| kernel.set_alarm(alarm));
        }
        kernel.cancel_timer(self.0.timer());
        kernel.start_timer(self.0.timer(), begin());
    }

    /// Cancels it. Returns whether it was pending.
    pub fn cancel(&'static self) -> bool {
        Kernel::with_irqs_masked(|kernel| kernel.cancel_timer(self.0.timer()))
    }

    /// The number of releases skipped since it was started.
    pub fn overruns(&self) -> u64 {
        let overruns = || self.0.overruns().get();
        if options::cores() > 1 {
            return Kernel::with_irqs_masked(|kernel| {
                kernel.read_shared_timer(self.0.timer(), overruns)
            });
        }
        without_irqs(overruns)
    }
}

/// Restarts it for the next release, then calls the handler, which may cancel it.
fn release<F: Fn() + Copy + 'static>(
    timer: &'static time::PeriodicTimer,
    kernel: &Kernel,
    now: u64,
) {
    kernel.record(Event::Expire, timer.timer());
    if options::cores() > 1 {
        kernel.restart_shared_timer(timer.timer(), || {
            timer.series().advance();
            skip_missed(timer, kernel, now);
            timer.series().ticks()
        });
    } else {
        let ticks = timer.series().advance();
        if ticks <= now || !kernel.rejoin_timer(timer.timer(), ticks) {
            restart_slow(timer, kernel, now);
        }
    }
    call::<F>();
}

/// Restarts it apart from other timers, and skips releases that are due already. Out of line,
/// so that timers that rejoin others save no register.
#[inline(never)]
fn restart_slow(timer: &'static time::PeriodicTimer, kernel: &Kernel, now: u64) {
    skip_missed(timer, kernel, now);
    if let Some(alarm) = kernel.restart_timer(timer.timer(), timer.series().ticks()) {
        kernel.set_alarm(alarm);
    }
}

/// Skips releases that are due at `now` already.
#[inline(always)]
fn skip_missed(timer: &time::PeriodicTimer, kernel: &Kernel, now: u64) {
    if timer.series().ticks() <= now {
        let skipped = timer.series().pass(kernel.clock().frequency(), now);
        timer
            .overruns()
            .set(timer.overruns().get().saturating_add(skipped));
    }
}
