//! The tickless timer queue of both kernels.
//!
//! A radix heap: a timer lies on the level of the highest hexadecimal digit in which its deadline
//! differs from the queue's base, the last deadline that passed, in the slot of that digit's
//! value. All of a lower level is earlier than all of a higher one, so two count-trailing-zeros
//! find the earliest slot. Unlike a timing wheel it needs no tick to turn it: each slot knows its
//! earliest deadline, the hardware is set for just that, and a timer that is alone in its slot
//! expires straight from it. Only when a shared slot falls due are its timers dealt out to lower
//! levels, at most once per level in a timer's life; timers of one deadline that were started one
//! after the other stand as one in their slot and are moved in one step.
//!
//! Guarantees: starting and cancelling are O(1) for any number of timers; expiry proceeds in steps
//! of O(1) each, between which the caller may let interrupts in; timers expire in order of their
//! deadlines, equal ones in order of their start (except for one started between two steps);
//! nothing is allocated. A cancelled timer may cost one early wake-up, never a late one. The caller
//! masks interrupts, or holds its core's lock, during each call.
//!
//! Time is any 64-bit count that does not wrap: here, of the architected counter.

#![no_std]
#![forbid(unsafe_code)]

mod deadline_table;
mod expire;
mod radix_heap;
mod sorted_list;
mod state;
mod wheel;

#[cfg(test)]
mod tests;

pub use deadline_table::DeadlineTable;
pub use expire::Step;
pub use radix_heap::RadixHeap;
pub use sorted_list::SortedTimerList;
pub use state::{Timed, TimerState};
pub use wheel::TimingWheel;
