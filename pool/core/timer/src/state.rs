//! Per-timer state of a timer queue.

use core::cell::Cell;
use core_list::{Link, Linked, List};

/// A slot: its level in the upper half, its number in the lower.
///
/// Levels count from the most significant digit. On all levels but the last, the digit of a
/// deadline is greater than that of the base, so that slot 0 is unused there; two of its values
/// have special meanings.
pub(crate) type SlotIndex = u8;

/// A timer that is not pending; also no slot, as that one is always empty. The value is zero, like
/// the initial state of a timer or a queue, so that neither takes space in an image.
pub(crate) const NOT_PENDING: SlotIndex = 0;
/// A timer that is represented by another one with the same deadline.
pub(crate) const PEER: SlotIndex = 0x10;

/// Per-timer state, beside the timer's link.
pub struct TimerState<T> {
    pub(crate) deadline: Cell<u64>,
    pub(crate) slot: Cell<SlotIndex>,
    /// The circle of timers with the same deadline; empty for a single one.
    pub(crate) peers: Link<Peer<T>>,
}

impl<T> TimerState<T> {
    /// The state of an idle timer.
    pub const fn new() -> Self {
        Self {
            deadline: Cell::new(0),
            slot: Cell::new(NOT_PENDING),
            peers: Link::new(),
        }
    }

    /// The deadline of the current or the last start.
    pub fn deadline(&self) -> u64 {
        self.deadline.get()
    }

    /// Sets the deadline, for other queues than the radix heap.
    #[inline(always)]
    pub fn set_deadline(&self, deadline: u64) {
        self.deadline.set(deadline);
    }

    /// The slot of the timer in its queue; zero while it is idle.
    #[inline(always)]
    pub fn slot(&self) -> u8 {
        self.slot.get()
    }

    /// Sets the slot.
    #[inline(always)]
    pub fn set_slot(&self, slot: u8) {
        self.slot.set(slot);
    }

    /// Marks the timer as idle after its expiry.
    #[inline(always)]
    pub fn set_idle(&self) {
        self.slot.set(NOT_PENDING);
    }

    /// Whether the timer is pending.
    pub fn is_pending(&self) -> bool {
        self.slot.get() != NOT_PENDING
    }
}

impl<T> Default for TimerState<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// A reference to a timer.
pub trait Timed: Linked {
    /// The queue's state of the timer.
    fn state(&self) -> &TimerState<Self>;
}

/// A timer in the circle of its peers: those with the same deadline.
#[derive(Clone, Copy)]
pub(crate) struct Peer<T>(pub(crate) T);

impl<T: Timed> Linked for Peer<T> {
    #[inline(always)]
    fn link(&self) -> &Link<Self> {
        &self.0.state().peers
    }
}

/// Removes a timer from its peers; returns the next one, if there is any.
#[inline(always)]
pub(crate) fn leave_peers<T: Timed>(timer: T) -> Option<T> {
    let Peer(next) = timer.state().peers.next()?;
    List::new().remove(Peer(timer));
    (!next.is(&timer)).then_some(next)
}

/// Makes a single timer the leader of a circle of peers.
#[inline(always)]
pub(crate) fn lead_peers<T: Timed>(timer: T) {
    if !Peer(timer).is_linked() {
        List::new().push_only(Peer(timer));
    }
}

/// Adds a timer with the same deadline to the end of a [leader's](lead_peers) circle.
#[inline(always)]
pub(crate) fn join<T: Timed>(leader: T, timer: T) {
    timer.state().slot.set(PEER);
    rejoin(leader, timer);
}

/// [Adds](join) a timer that is still marked as a peer.
#[inline(always)]
pub(crate) fn rejoin<T: Timed>(leader: T, timer: T) {
    List::from(Peer(leader)).push(Peer(timer));
}
