//! Interrupts of devices: handlers, and threads that do the rest of the work.
//!
//! | a handler that | is |
//! |---|---|
//! | an application or a driver installs | [`register`]ed |
//! | a library brings along | an [`Entry`] of the table `interrupt`, there before `main` |
//! | takes long, or waits | [`Threaded`]: its line stays shut until its thread is done |
//!
//! Without TENON_IRQ_NESTING a handler runs with interrupts masked, and is never interrupted. With
//! it, interrupts of a higher [`Priority`] are served meanwhile; threads go on at the end of the
//! outermost handler. The expiry of timers stays masked in either case.

mod entry;
mod threaded;

#[doc(hidden)]
pub use entry::fit;
pub use entry::{Entry, disjoint};
pub use threaded::Threaded;

use crate::kernel::Kernel;
use crate::options;
use crate::sites;
use crate::trace;

pub use tenon_irq::{Error, Priority, Trigger};

/// Makes `handler` the one of interrupt `intid` and lets it through. The handler captures nothing;
/// it runs on the interrupt stack with interrupts masked, and may wake threads and start timers. An
/// image in which it may wait does not build (`docs/decisions/waiting-in-handlers.md`). The vector
/// calls it without anything in between.
pub fn register<F: Fn(u32) + Copy + 'static>(
    intid: u32,
    trigger: Trigger,
    handler: F,
) -> Result<(), Error> {
    register_at(intid, trigger, Priority::DEFAULT, handler)
}

/// The same at another priority than [`Priority::DEFAULT`]: of several that are pending the most
/// urgent is taken first, and with TENON_IRQ_NESTING it interrupts the handlers of less urgent ones.
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

/// What the vector calls: the handler, made of nothing.
extern "C" fn call<F: Fn(u32) + Copy + 'static>(intid: u32) {
    sites::note_handler();
    // SAFETY: `register` saw that F has no size, so any aligned address holds one; it was given one,
    // so F has values; F is Copy, so using it up is no matter.
    let handler = unsafe { core::ptr::NonNull::<F>::dangling().read() };
    trace::serving(intid, || {
        if options::nesting() {
            // SAFETY: the vector saved what another interrupt overwrites, and the controller lets
            // only more urgent ones through until this one is ended.
            unsafe { hw_arch::cpu::unmask_interrupts() };
        }
        handler(intid);
        if options::nesting() {
            hw_arch::cpu::mask_interrupts();
        }
    });
}

/// Makes interrupt `intid` come as if its device had raised it; of 0 to 15, which no device has, on
/// this core.
pub fn raise(intid: u32) {
    Kernel::with_reschedule(|kernel| kernel.interrupts.raise(intid));
}

/// Whether handlers may use floating point, in this image.
pub fn handlers_may_use_fp() -> bool {
    options::fp_handlers()
}

/// Whether more urgent interrupts interrupt the handlers of less urgent ones, in this image.
pub fn nesting_enabled() -> bool {
    options::nesting()
}

/// Stops interrupt `intid` and forgets its handler.
pub fn unregister(intid: u32) {
    Kernel::with_reschedule(|kernel| kernel.interrupts.unregister(intid));
}

/// Interrupts that came without a handler so far; each was switched off.
pub fn unexpected() -> u32 {
    Kernel::with_reschedule(|kernel| kernel.interrupts.unexpected())
}
