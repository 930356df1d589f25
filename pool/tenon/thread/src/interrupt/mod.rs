//! Device interrupts: handlers and threaded interrupts.
//!
//! | handler | interface |
//! |---|---|
//! | of an application or a driver | [`register`] |
//! | of a library | an [`Entry`] in the table `interrupt`, installed before `main` |
//! | that is long or blocks | [`Threaded`]: the interrupt stays disabled until its thread is done |
//!
//! Without TENON_IRQ_NESTING a handler runs with interrupts masked. With it, interrupts of a higher
//! [`Priority`] preempt the handler; threads resume at the end of the outermost handler. Timers
//! expire with interrupts masked in either case.

mod entry;
mod threaded;

#[doc(hidden)]
pub use entry::fit;
pub use entry::{Entry, disjoint};
pub use threaded::Threaded;

use tenon_kernel::kernel::Kernel;
use tenon_kernel::kernel::trace;
use tenon_machine::analysis_notes as notes;
use tenon_machine::options;

pub use tenon_irq::{Error, Priority, Trigger};

/// Registers `handler` for interrupt `intid` and enables the interrupt. The handler captures
/// nothing. It runs on the interrupt stack, with interrupts masked unless they nest, and may wake
/// threads and start timers. The vector calls it directly. The build rejects a handler that may
/// block (`docs/decisions/waiting-in-handlers.md`).
pub fn register<F: Fn(u32) + Copy + 'static>(
    intid: u32,
    trigger: Trigger,
    handler: F,
) -> Result<(), Error> {
    register_at(intid, trigger, Priority::DEFAULT, handler)
}

/// As [`register`], at another priority than [`Priority::DEFAULT`]. Of several pending interrupts
/// the most urgent is taken first; with TENON_IRQ_NESTING it preempts the handlers of less urgent
/// ones.
pub fn register_at<F: Fn(u32) + Copy + 'static>(
    intid: u32,
    trigger: Trigger,
    priority: Priority,
    handler: F,
) -> Result<(), Error> {
    Kernel::with_reschedule(|kernel| register_in(kernel, intid, trigger, priority, handler))
}

fn register_in<F: Fn(u32) + Copy + 'static>(
    kernel: &Kernel,
    intid: u32,
    trigger: Trigger,
    priority: Priority,
    _handler: F,
) -> Result<(), Error> {
    const { assert!(size_of::<F>() == 0, "an interrupt handler captures nothing") };
    let interrupts = &kernel.interrupts;
    interrupts.register(intid, trigger, priority, call::<F>)
}

/// Calls the handler of type `F`, which captures nothing. The vector calls this.
extern "C" fn call<F: Fn(u32) + Copy + 'static>(intid: u32) {
    notes::note_handler();
    // SAFETY: `register` checked that F has no size, so any aligned address holds a value. It was
    // given an F, so the type has values, and F is Copy, so reading another one is allowed.
    let handler = unsafe { core::ptr::NonNull::<F>::dangling().read() };
    trace::serving(intid, || {
        if options::nesting() {
            // SAFETY: the vector saved the registers that a nested interrupt overwrites, and the
            // controller signals only more urgent interrupts until this one is ended.
            unsafe { hw_arch::cpu::unmask_interrupts() };
        }
        handler(intid);
        if options::nesting() {
            hw_arch::cpu::mask_interrupts();
        }
    });
}

/// Pends interrupt `intid` as if its device had asserted it; an SGI (0 to 15) on this core.
pub fn raise(intid: u32) {
    Kernel::with_reschedule(|kernel| kernel.interrupts.raise(intid));
}

/// Whether handlers may use floating point in this image.
pub fn handlers_may_use_fp() -> bool {
    options::fp_handlers()
}

/// Whether interrupts nest in this image.
pub fn nesting_enabled() -> bool {
    options::nesting()
}

/// The former name of [`handlers_may_use_fp`].
#[deprecated(note = "renamed to `handlers_may_use_fp`")]
pub fn may_use_floats() -> bool {
    handlers_may_use_fp()
}

/// The former name of [`nesting_enabled`].
#[deprecated(note = "renamed to `nesting_enabled`")]
pub fn nests() -> bool {
    nesting_enabled()
}

/// Disables interrupt `intid` and removes its handler.
pub fn unregister(intid: u32) {
    Kernel::with_reschedule(|kernel| kernel.interrupts.unregister(intid));
}

/// The number of interrupts taken without a handler; each was disabled.
pub fn unexpected() -> u32 {
    Kernel::with_reschedule(|kernel| kernel.interrupts.unexpected())
}
