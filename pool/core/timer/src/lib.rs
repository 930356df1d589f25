//! Timer queues: radix heap, sorted list, timing wheel and deadline table.
//!
//! | queue | start, cancel | for |
//! |---|---|---|
//! | [`RadixHeap`] | O(1) | any number of timers without a tick |
//! | [`SortedTimerList`] | O(n), O(1) | a few timers, in a quarter of the code and without its memory |
//! | [`TimingWheel`] | O(1), fewest instructions | any number of timers with a fixed tick |
//! | [`DeadlineTable`] | O(1) | one deadline for each vCPU of a core |
//!
//! All have the common interface [`TimerQueue`].
//!
//! # The radix heap
//!
//! A timer is on the level of the highest hexadecimal digit in which its deadline differs from the
//! heap's base, the last deadline that expired, in the slot of that digit's value. All timers of a
//! lower level expire before those of a higher one, so that two count-trailing-zeros instructions
//! find the earliest slot. Unlike a timing wheel the heap needs no tick: each slot stores its
//! earliest deadline, the hardware timer is set for exactly that, and the only timer of a slot
//! expires directly from it. The timers of a shared slot are cascaded to lower levels when its
//! earliest deadline expires, at most once per level in a timer's life. Timers with one deadline
//! that are started in a row are represented by one of them and move in one step.
//!
//! # Guarantees
//!
//! Start and cancel of a heap or wheel are O(1) for any number of timers. Expiry proceeds in steps
//! of O(1), between which the caller can unmask interrupts. Timers expire in the order of their
//! deadlines, and those with equal deadlines in the order of their start, except for one that is
//! started between two steps. Nothing is allocated. A cancelled timer may cost one early timer
//! interrupt, never a late one. The caller masks interrupts or holds its core's lock during each
//! call.
//!
//! Time is any 64-bit count that does not wrap, such as the architected counter (Arm ARM, D11).

#![no_std]
#![forbid(unsafe_code)]

mod deadline_table;
mod queue;
mod radix_heap;
mod sorted_list;
mod state;
mod wheel;

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod test_timer;
#[cfg(test)]
mod tests;

pub use deadline_table::DeadlineTable;
pub use queue::TimerQueue;
pub use radix_heap::{RadixHeap, Step};
pub use sorted_list::SortedTimerList;
pub use state::{Timed, TimerState};
pub use wheel::TimingWheel;
