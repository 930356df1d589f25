//! What happens, recorded for a timeline: threads, interrupts, timers, locks, and marks of one's own.
//!
//! With TENON_THREAD_TRACE each core writes events into a ring (`core_trace`), which
//! `./tenon run --trace FILE` turns into a timeline; without it, nothing of it is in the image.
//! Threads bear their names there, all else those of its static.
//!
//! ```no_run
//! use tenon_thread::trace::Mark;
//!
//! static FILTER: Mark = Mark::new();
//!
//! let filtered = FILTER.during(|| { /* ... */ });
//! FILTER.value(42);
//! ```

use crate::kernel::Kernel;
use crate::options;
use crate::thread::{Thread, Wait};
use core_trace::{Event, Ring};
use hw_arch::El1;
use hw_clock::Clock;

/// A place or a stretch of a program to be seen in a timeline, under the name of the static it is.
/// Usable everywhere, in interrupt handlers too.
#[derive(Debug, Default)]
pub struct Mark {
    /// So that each mark has an address of its own.
    _place: u8,
}

impl Mark {
    /// A mark, to be a static.
    #[must_use]
    pub const fn new() -> Self {
        Self { _place: 0 }
    }

    /// The program passes it now.
    #[inline(always)]
    pub fn hit(&'static self) {
        self.record(Event::Mark);
    }

    /// Calls `action`; the timeline shows how long it takes.
    #[inline(always)]
    pub fn during<R>(&'static self, action: impl FnOnce() -> R) -> R {
        self.record(Event::Begin);
        let result = action();
        self.record(Event::Finish);
        result
    }

    /// The value it has now, of which the low 48 bits are kept.
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

impl Kernel {
    /// Records an event about something that has an address, if anything is recorded.
    #[inline(always)]
    pub(crate) fn record<T>(&self, event: Event, subject: &T) {
        self.record_number(event, core::ptr::from_ref(subject) as u64);
    }

    #[inline(always)]
    pub(crate) fn record_number(&self, event: Event, subject: u64) {
        if options::trace() {
            self.trace.record(self.clock().ticks(), event, subject);
        }
    }
}

/// Begins the trace of a core.
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

/// Names a thread, once it is made.
pub(crate) fn record_name(kernel: &Kernel, thread: &Thread) {
    if options::trace() {
        let subject = core::ptr::from_ref(thread) as u64;
        kernel.trace.name(subject, thread.name());
    }
}

/// Records that the current thread is about to wait, and for what.
#[inline(always)]
pub(crate) fn wait_reason(kernel: &Kernel, thread: &Thread, reason: Wait) {
    if options::trace() {
        match (reason, thread.queue().get()) {
            (Wait::Queue, Some(queue)) => kernel.record(Event::Wait, queue),
            (Wait::Timer, _) => kernel.record(Event::Sleep, thread),
            (Wait::Dormant, _) => kernel.record(Event::End, thread),
            _ => kernel.record(Event::Park, thread),
        }
    }
}

/// Calls `switch_server`, the handler of interrupt `intid`.
#[inline(always)]
pub(crate) fn serving(intid: u32, switch_server: impl FnOnce()) {
    if options::trace() {
        Kernel::with_irqs_masked(|kernel| kernel.record_number(Event::Enter, intid.into()));
    }
    switch_server();
    if options::trace() {
        Kernel::with_irqs_masked(|kernel| kernel.record_number(Event::Leave, intid.into()));
    }
}
