//! Interrupts of devices.

use crate::kernel::Kernel;

pub use hw_irqchip_gicv3::Trigger;
pub use tenon_irq::{Error, Handler};

/// Makes `handler` the one of interrupt `intid` and lets it through. The handler runs on the
/// interrupt stack with interrupts masked; it may wake threads and start timers, not wait.
pub fn register(intid: u32, trigger: Trigger, handler: Handler) -> Result<(), Error> {
    Kernel::with(|kernel| kernel.interrupts.register(intid, trigger, handler))
}

/// Stops interrupt `intid` and forgets its handler.
pub fn unregister(intid: u32) {
    Kernel::with(|kernel| kernel.interrupts.unregister(intid));
}

/// Interrupts that came without a handler so far; each was switched off.
pub fn unexpected() -> u32 {
    Kernel::with(|kernel| kernel.interrupts.unexpected())
}
