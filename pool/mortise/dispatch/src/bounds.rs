//! Execution time bounds of the VM switch and the slow paths, and other time constants of dispatch.
//!
//! All are nanoseconds. The paths are measured in instructions, of which a board executes at least
//! one per nanosecond (`instructions_per_second` in its `board.toml`). [`ticks`] converts by the
//! counter's frequency, a constant of the image, so that the link reduces each call to a constant.

use mortise_partition::Core;

/// From a decision to the last test for pending interrupts of the switch that follows, at most.
/// Replenishments and depletions within that time are handled after it.
pub(crate) const SWITCH_BOUND: u64 = 256;

/// To list an SPI and enter the guest, or to take one step of deferred work, at most. Of an exit for
/// such an interrupt, 399 instructions or with others after it 513, some 90 are over by then.
pub(crate) const SLOW_PATH_BOUND: u64 = 448;

/// From the acknowledge of an interrupt to the first instruction of the guest that a switch enters,
/// at least. A timer that expires within that time is treated as expired.
pub(crate) const TIMER_GUARD: u64 = 192;

/// For which admission and removal yield to a more urgent vCPU, at most.
pub(crate) const ADMISSION_DELAY: u64 = 20_000;

/// For which periodic work of Mortise is deferred behind a more urgent vCPU, at most.
pub(crate) const LONGEST_DEFERRAL: u64 = 1_000_000;

/// Time slice of the background. A vCPU that is in the background only until its next replenishment
/// gets few slices before it; longer ones would all go to the others.
pub(crate) const BACKGROUND_SLICE: u64 = 1_000_000;

/// The least number of ticks that last so many nanoseconds.
#[inline(always)]
pub(crate) fn ticks(core: &Core, nanoseconds: u64) -> u64 {
    core.clock().frequency().ticks(nanoseconds)
}
