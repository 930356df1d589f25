//! Execution time bounds of the switch and of the slow paths.

/// Ticks of a counter of 62.5 MHz from a decision to the last test for pending interrupts of the
/// switch that follows, at most: 256 ns. Replenishments and depletions within that time are handled
/// after it.
pub(crate) const SWITCH_BOUND: u64 = 16;

/// Ticks of a counter of 62.5 MHz to list an SPI and enter the guest, or to take one step of
/// deferred work, at most: 448 ns. Of an exit for such an interrupt, 399 instructions or with
/// others after it 513, some 90 are over by then.
pub(crate) const SLOW_PATH_BOUND: u64 = 28;

/// Nanoseconds from the acknowledge of an interrupt to the first instruction of the guest that a
/// switch enters, at least. A timer that expires within that time is treated as expired.
pub(crate) const TIMER_GUARD: u64 = 192;
