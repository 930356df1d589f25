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

use core_trace::{Event, Ring, of_object};
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

/// Kind of a described thread or object; its number is part of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A thread: its control block, and what else belongs to it.
    Thread = 1,
    /// A queue in which one thread waits for a time or a signal.
    Suspension = 2,
    /// A mutex.
    Mutex = 3,
    /// A condition variable.
    Condition = 4,
    /// A semaphore.
    Semaphore = 5,
    /// A read-write lock.
    ReadWriteLock = 6,
    /// A barrier.
    Barrier = 7,
    /// A message queue.
    MessageQueue = 8,
}

/// Name of a described thread or object.
#[derive(Clone, Copy, Debug)]
pub enum Name<'a> {
    /// None: the timeline shows the static that contains it, or its kind and address.
    None,
    /// This text, up to a zero.
    Text(&'a [u8]),
    /// A slash and this text, up to a zero.
    Path(&'a [u8]),
    /// The symbol of the function at this address.
    Symbol(usize),
}

/// Describes the thread or object in the memory of `object`, for libraries whose objects are not
/// statics with telling names. Without a trace this is no instruction.
#[inline(always)]
pub fn describe<T>(object: &T, kind: Kind, name: Name<'_>) {
    if options::trace() {
        let address = core::ptr::from_ref(object) as u64;
        record_description(of_object(address, size_of::<T>() as u64), kind, name);
    }
}

#[cold]
fn record_description(object: u64, kind: Kind, name: Name<'_>) {
    // The records of a description follow each other.
    Kernel::with_irqs_masked(|kernel| {
        kernel.record_number(Event::Describe, object);
        kernel.record_number(Event::Kind, kind as u64);
        match name {
            Name::None => {}
            Name::Text(text) => record_text(kernel, text.iter().copied()),
            Name::Path(text) => {
                record_text(kernel, core::iter::once(b'/').chain(text.iter().copied()));
            }
            Name::Symbol(function) => kernel.record_number(Event::Symbol, function as u64),
        }
    });
}

/// Records a text, six bytes at a time.
fn record_text(kernel: &Kernel, text: impl Iterator<Item = u8>) {
    let mut text = text.take_while(|&byte| byte != 0).peekable();
    while text.peek().is_some() {
        let bytes = text.by_ref().take(6).zip(0..);
        let word = bytes.fold(0, |word, (byte, at)| word | u64::from(byte) << (8 * at));
        kernel.record_number(Event::Text, word);
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
