//! Interrupts of devices.

use crate::kernel::Kernel;

pub use hw_irqchip_gicv3::Trigger;
pub use tenon_irq::Error;

/// Makes `handler` the one of interrupt `intid` and lets it through. The handler captures nothing;
/// it runs on the interrupt stack with interrupts masked, and may wake threads and start timers, not
/// wait. The vector calls it without anything in between.
pub fn register<F: Fn(u32) + Copy + 'static>(
    intid: u32,
    trigger: Trigger,
    _handler: F,
) -> Result<(), Error> {
    const { assert!(size_of::<F>() == 0, "an interrupt handler captures nothing") };
    Kernel::with(|kernel| kernel.interrupts.register(intid, trigger, call::<F>))
}

/// What the vector calls: the handler, made of nothing.
extern "C" fn call<F: Fn(u32) + Copy + 'static>(intid: u32) {
    // SAFETY: `register` saw that F has no size, so any aligned address holds one; it was given one,
    // so F has values; F is Copy, so using it up is no matter.
    let handler = unsafe { core::ptr::NonNull::<F>::dangling().read() };
    handler(intid);
}

/// Stops interrupt `intid` and forgets its handler.
pub fn unregister(intid: u32) {
    Kernel::with(|kernel| kernel.interrupts.unregister(intid));
}

/// Interrupts that came without a handler so far; each was switched off.
pub fn unexpected() -> u32 {
    Kernel::with(|kernel| kernel.interrupts.unexpected())
}
