//! Interrupt handlers registered by libraries.

use super::{Error, Priority, Trigger, call};
use tenon_irq::Handler;
use tenon_kernel::kernel::Kernel;

/// A handler in the table `interrupt`, installed before `main` on the first core.
///
/// A library registers it in its Cargo.toml. Two entries for one interrupt are a build error that
/// names both libraries.
///
/// ```text
/// [[package.metadata.tenon.registers]]
/// table = "interrupt"
/// item = "DOORBELL"
/// ```
///
/// ```
/// use tenon_thread::interrupt::{Entry, Trigger};
///
/// pub static DOORBELL: Entry = Entry::new(40, Trigger::Edge, |_| { /* short, never waiting */ });
/// ```
pub struct Entry {
    intid: u32,
    trigger: Trigger,
    priority: Priority,
    handler: Handler,
}

impl Entry {
    /// An entry for a handler as in [`register`](super::register).
    pub const fn new<F: Fn(u32) + Copy + 'static>(
        intid: u32,
        trigger: Trigger,
        _handler: F,
    ) -> Self {
        const { assert!(size_of::<F>() == 0, "an interrupt handler captures nothing") };
        Self {
            intid,
            trigger,
            priority: Priority::DEFAULT,
            handler: call::<F>,
        }
    }

    /// The same entry with another priority.
    #[must_use]
    pub const fn at(self, priority: Priority) -> Self {
        Self { priority, ..self }
    }

    /// Installs the handler.
    pub(crate) fn install(&self, kernel: &Kernel) -> Result<(), Error> {
        let interrupts = &kernel.interrupts;
        interrupts.register(self.intid, self.trigger, self.priority, self.handler)
    }
}

/// Whether two entries have different interrupts, as the table requires.
pub const fn disjoint(one: &Entry, other: &Entry) -> bool {
    one.intid != other.intid
}

/// Whether all entries of a table are below `lines` and none has the timer's interrupt.
pub const fn fit(table: &[&Entry], lines: usize, timer: usize) -> bool {
    let mut rest = table;
    while let [entry, others @ ..] = rest {
        let intid = entry.intid as usize;
        if intid >= lines || intid == timer {
            return false;
        }
        rest = others;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    static ONE: Entry = Entry::new(40, Trigger::Edge, |_| {});
    static SAME: Entry = Entry::new(40, Trigger::Level, |_| {}).at(Priority::HIGHEST);
    static OTHER: Entry = Entry::new(41, Trigger::Edge, |_| {});

    #[test]
    fn one_interrupt_has_one_entry_within_the_lines_and_not_the_timers() {
        assert!(!disjoint(&ONE, &SAME));
        assert!(disjoint(&ONE, &OTHER));
        assert!(fit(&[&ONE, &OTHER], 42, 27));
        assert!(!fit(&[&ONE, &OTHER], 41, 27));
        assert!(!fit(&[&ONE, &OTHER], 64, 41));
        assert!(fit(&[], 0, 0));
    }
}
