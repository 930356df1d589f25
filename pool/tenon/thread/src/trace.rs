//! Trace of threads, interrupts, timers, locks and marks of the application.
//!
//! With TENON_THREAD_TRACE each core writes events into a ring (`core_trace`), which `./tenon run
//! --trace FILE` converts into a timeline. Without it the image contains nothing of this. The
//! timeline shows threads by their names, other objects by the names of their statics.
//!
//! ```no_run
//! use tenon_thread::trace::Mark;
//!
//! static FILTER: Mark = Mark::new();
//!
//! let filtered = FILTER.during(|| { /* ... */ });
//! FILTER.value(42);
//! ```

use core_trace::{Event, Ring};
use hw_arch::El1;
use hw_clock::Clock;
use tenon_kernel::kernel::Kernel;
use tenon_machine::options;

/// A point or a section of a program that the timeline shows under the name of this static. Usable
/// everywhere, also in interrupt handlers.
#[derive(Debug, Default)]
pub struct Mark {
    /// Not zero-sized, so that each mark has its own address.
    _place: u8,
}

impl Mark {
    /// A mark, to be a static.
    #[must_use]
    pub const fn new() -> Self {
        Self { _place: 0 }
    }

    /// Records that the program passes this point.
    #[inline(always)]
    pub fn hit(&'static self) {
        self.record(Event::Mark);
    }

    /// Calls `action`. The timeline shows its duration.
    #[inline(always)]
    pub fn during<R>(&'static self, action: impl FnOnce() -> R) -> R {
        self.record(Event::Begin);
        let result = action();
        self.record(Event::Finish);
        result
    }

    /// Records a value, of which the low 48 bits are kept.
    #[inline(always)]
    pub fn value(&'static self, value: u64) {
        if options::trace() {
            Kernel::with_irqs_masked(|kernel| {
                kernel.record(Event::Mark, self);
                kernel.record_number(Event::Value, value);
            });
        }
    }

    #[inline(always)]
    fn record(&'static self, event: Event) {
        if options::trace() {
            Kernel::with_irqs_masked(|kernel| kernel.record(event, self));
        }
    }
}

/// Starts the trace of a core.
pub(crate) fn start(kernel: &Kernel, rings: &'static [Ring], clock: Clock<El1>) {
    if options::trace()
        && let Some(ring) = rings.get(kernel.index())
    {
        kernel.trace.start(
            ring,
            kernel.index() as u32,
            clock.frequency().hertz().into(),
        );
    }
}
