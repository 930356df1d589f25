//! Trace records of the kernel.

use super::Kernel;
use crate::thread::{Thread, Wait};
use core_trace::{Event, of_priorities};
use tenon_machine::options;

impl Kernel {
    /// Records an event about an object, which the trace identifies by its address.
    #[inline(always)]
    pub fn record<T>(&self, event: Event, subject: &T) {
        self.record_number(event, core::ptr::from_ref(subject) as u64);
    }

    /// Records an event with a number.
    #[inline(always)]
    pub fn record_number(&self, event: Event, subject: u64) {
        if options::trace() {
            self.trace.record(self.clock().ticks(), event, subject);
        }
    }

    /// Records the priorities of a thread that is created, or whose base priority was set.
    #[inline(always)]
    pub fn record_priorities(&self, thread: &Thread) {
        if options::trace() {
            self.write_priorities(thread);
        }
    }

    /// Records the priorities of a thread whose effective priority changed. A server changes the
    /// priority of its thread at each depletion and replenishment, which is not recorded.
    #[inline(always)]
    pub(crate) fn record_inheritance(&self, thread: &Thread) {
        if options::trace() && !(options::servers() && thread.server().get().is_some()) {
            self.write_priorities(thread);
        }
    }

    /// Out of line, so that images without a trace are compiled as if it did not exist.
    #[cold]
    fn write_priorities(&self, thread: &Thread) {
        let base = thread.base_priority().number();
        let effective = thread.effective_priority().number();
        let address = core::ptr::from_ref(thread) as u64;
        self.record_number(Event::Priority, of_priorities(address, base, effective));
    }
}

/// Records the name of a new thread.
pub(crate) fn record_name(kernel: &Kernel, thread: &Thread) {
    if options::trace() {
        let subject = core::ptr::from_ref(thread) as u64;
        kernel.trace.name(subject, thread.name());
    }
}

/// Records that the current thread begins to wait, and the reason. The lowest bit of the address of
/// a queue states that the wait has a timeout.
#[inline(always)]
pub(crate) fn record_wait(kernel: &Kernel, thread: &Thread, reason: Wait) {
    if options::trace() {
        match (reason, thread.queue().get()) {
            (Wait::Queue, Some(queue)) => {
                let limited = u64::from(thread.timer().is_pending());
                kernel.record_number(Event::Wait, core::ptr::from_ref(queue) as u64 | limited);
            }
            (Wait::Timer, _) => kernel.record(Event::Sleep, thread),
            (Wait::Dormant, _) => kernel.record(Event::End, thread),
            _ => kernel.record(Event::Park, thread),
        }
    }
}

/// Calls `serve`, the handler of interrupt `intid`, and records its begin and end.
#[inline(always)]
pub fn serving(intid: u32, serve: impl FnOnce()) {
    if options::trace() {
        Kernel::with_irqs_masked(|kernel| kernel.record_number(Event::Enter, intid.into()));
    }
    serve();
    if options::trace() {
        Kernel::with_irqs_masked(|kernel| kernel.record_number(Event::Leave, intid.into()));
    }
}
