//! Environment of the switch: memory of sender and receiver, time and interrupts.

use core_virtq::Memory;

/// Range that is not memory of its VM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Not memory of the sender.
    Source,
    /// Not memory of the receiver.
    Target,
}

/// Environment of a card that sends: its own memory, and that of one receiver at a time.
pub trait Wire {
    /// Memory of a VM.
    type Memory: Memory;

    /// Whether an interrupt is pending, for which the work is left until the next call.
    fn is_interrupted(&self) -> bool;

    /// Whether an interrupt is pending that is taken before the next call, so that the call need not
    /// do a step first.
    fn is_preempted(&self) -> bool {
        false
    }

    /// Time in nanoseconds.
    fn now(&self) -> u64;

    /// Memory of the sender.
    fn sender(&mut self) -> &mut Self::Memory;

    /// Chooses the receiver, by its port.
    fn choose(&mut self, port: usize);

    /// Memory of the receiver.
    fn receiver(&mut self) -> &mut Self::Memory;

    /// Copies up to `size` bytes, at least one, from memory of the sender to that of the receiver.
    /// Returns how many: at least one, unless an interrupt is pending that is taken before the next call.
    /// Checks for interrupts itself if there are many.
    ///
    /// # Errors
    ///
    /// If part of a range is not memory of its VM, before anything is copied.
    fn copy(&mut self, from: u64, to: u64, size: u32) -> Result<u32, Refusal>;

    /// Interrupts the VM of a port.
    fn interrupt(&mut self, port: usize);
}
