//! Timers that expire again and again.

use crate::kernel::Kernel;
use crate::options;
use crate::sites;
use crate::time::{Duration, Instant, nanoseconds};
use crate::timer::{Action, Timer, call};
use core::cell::Cell;
use core_trace::Event;
use hw_clock::Series;

/// A timer that expires at each of a row of instants, a period apart.
///
/// Release *k* is due at first + *k* × period, whatever happened before; counted in exact fractions
/// of a tick, so that no error adds up: none is early, none late by a tick. Releases that have not
/// been served when their successor is due, as after a stop in a debugger, are not made up for but
/// counted.
///
/// ```no_run
/// use tenon_thread::time::{Duration, Instant, PeriodicTimer};
///
/// static SAMPLER: PeriodicTimer = PeriodicTimer::new(|| { /* in the interrupt: short, never waiting */ });
///
/// SAMPLER.start(Instant::now() + Duration::from_millis(5), Duration::from_millis(1));
/// ```
#[repr(C)] // the timer first: at the address of the whole it takes no instruction to find
pub struct PeriodicTimer {
    timer: Timer,
    /// The release that is pending, or was the last.
    series: Series,
    overruns: Cell<u64>,
    /// [`Self::release`] for its handler; named here, so that an image without such timers has none.
    release: fn(&'static Self, &Kernel, u64),
}

// SAFETY: as for a timer, whose gate what changes is behind.
unsafe impl Sync for PeriodicTimer {}

impl PeriodicTimer {
    /// A timer that calls `handler` from the timer interrupt; as for a [`Timer`], the handler
    /// captures nothing and must not wait.
    pub const fn new<F: Fn() + Copy + 'static>(_handler: F) -> Self {
        Self {
            timer: Timer::unset(),
            series: Series::new(),
            overruns: Cell::new(0),
            release: Self::release::<F>,
        }
    }

    /// Starts it, anew if it is pending: it is first due at `first`, and from then on each `period`,
    /// which is a tick of the counter at least.
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
            return alarm.map_or((), |alarm| kernel.clock().move_alarm(alarm));
        }
        kernel.cancel_timer(&self.timer);
        kernel.start_timer(&self.timer, begin());
    }

    /// Stops it; returns whether it was pending.
    pub fn cancel(&'static self) -> bool {
        Kernel::with_irqs_masked(|kernel| kernel.cancel_timer(&self.timer))
    }

    /// How many releases were left out since it was started, as the next ones were due already.
    pub fn overruns(&self) -> u64 {
        let overruns = || self.overruns.get();
        if options::cores() > 1 {
            return Kernel::with_irqs_masked(|kernel| {
                kernel.read_shared_timer(&self.timer, overruns)
            });
        }
        Kernel::without_irqs(overruns)
    }

    #[cfg(test)]
    pub(crate) fn timer(&self) -> &Timer {
        &self.timer
    }

    /// Lets it be released at the counter value `now`.
    #[inline(always)]
    pub(crate) fn expire_timer(&'static self, kernel: &Kernel, now: u64) {
        sites::note_timer_call();
        (self.release)(self, kernel, now);
    }

    /// Starts it for the next release, then calls the handler, which may cancel it.
    fn release<F: Fn() + Copy + 'static>(&'static self, kernel: &Kernel, now: u64) {
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

    /// Starts it where nobody is to be joined; leaves out what is due at `now` already. Out of line,
    /// so that those who meet again need no register saved.
    #[inline(never)]
    fn restart_slow(&'static self, kernel: &Kernel, now: u64) {
        self.skip_missed(kernel, now);
        if let Some(alarm) = kernel.restart_timer(&self.timer, self.series.ticks()) {
            kernel.clock().move_alarm(alarm);
        }
    }
    /// Leaves out what is due at `now` already.
    #[inline(always)]
    fn skip_missed(&self, kernel: &Kernel, now: u64) {
        if self.series.ticks() <= now {
            let left_out = self.series.pass(kernel.clock().frequency(), now);
            self.overruns
                .set(self.overruns.get().saturating_add(left_out));
        }
    }
}
