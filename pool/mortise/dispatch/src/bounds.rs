//! How far from the core's timer what is lengthy is left alone.

/// Ticks of a counter of 62.5 MHz from the time of a decision to the last look of the switch that it
/// leads to, at most: 256 ns. Budgets and turns that come or end within that do so behind it.
pub(crate) const SWITCH_BOUND: u64 = 16;

/// Ticks of a counter of 62.5 MHz that it takes to list a device's interrupt and go on, or to do a step of
/// a chore, at most: 448 ns. Of an exit for such an interrupt, 399 instructions or with others behind it
/// 513, some 90 are over by then.
pub(crate) const SLOW_PATH_BOUND: u64 = 28;

/// Nanoseconds from an interrupt's being taken to the first instruction of a switch's guest, at least.
/// What is to come within that has come by then.
pub(crate) const TIMER_GUARD: u64 = 192;
