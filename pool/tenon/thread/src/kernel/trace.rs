//! Trace records of the kernel.

use super::Kernel;
use core_trace::Event;
use tenon_machine::options;

impl Kernel {
    /// Records an event about an object, which the trace identifies by its address.
    #[inline(always)]
    pub(crate) fn record<T>(&self, event: Event, subject: &T) {
        self.record_number(event, core::ptr::from_ref(subject) as u64);
    }

    /// Records an event with a number.
    #[inline(always)]
    pub(crate) fn record_number(&self, event: Event, subject: u64) {
        if options::trace() {
            self.trace.record(self.clock().ticks(), event, subject);
        }
    }
}
