//! What a timer carries for its queue.

use core::cell::Cell;
use core_list::{Link, Linked, List};

/// A slot by its level, in the upper half, and its number there, in the lower.
///
/// Levels count from the highest digit. On all but the last, a deadline's digit is higher than the
/// base's, so that slot 0 is never used: it stands for something else twice.
pub(crate) type SlotIndex = u8;

/// Of a timer that is not pending; of no slot, too, as that one is always empty. Zero, as all of a
/// timer or a queue is at first, so that neither takes room in an image.
pub(crate) const NOT_PENDING: SlotIndex = 0;
/// Of a timer that another one of the same deadline stands for.
pub(crate) const PEER: SlotIndex = 0x10;

/// What the queue keeps inside each timer, beside its link.
pub struct TimerState<T> {
    pub(crate) deadline: Cell<u64>,
    pub(crate) slot: Cell<SlotIndex>,
    /// The circle of those of the same deadline; nothing while it is alone.
    pub(crate) peers: Link<Peer<T>>,
}

impl<T> TimerState<T> {
    /// Of a timer that was never started.
    pub const fn new() -> Self {
        Self {
            deadline: Cell::new(0),
            slot: Cell::new(NOT_PENDING),
            peers: Link::new(),
        }
    }

    /// When it expires, or when it last did.
    pub fn deadline(&self) -> u64 {
        self.deadline.get()
    }

    /// Sets it; for who keeps timers by other means than this crate's queue.
    #[inline(always)]
    pub fn set_deadline(&self, deadline: u64) {
        self.deadline.set(deadline);
    }

    /// A number by which whoever keeps the timer finds it; zero while it is not pending.
    #[inline(always)]
    pub fn slot(&self) -> u8 {
        self.slot.get()
    }

    /// Sets that number.
    #[inline(always)]
    pub fn set_slot(&self, place: u8) {
        self.slot.set(place);
    }

    /// Notes that it expired.
    #[inline(always)]
    pub fn set_idle(&self) {
        self.slot.set(NOT_PENDING);
    }

    /// Whether it is yet to expire.
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
    /// The queue's part of it.
    fn state(&self) -> &TimerState<Self>;
}

/// A timer as one of those that share its deadline.
#[derive(Clone, Copy)]
pub(crate) struct Peer<T>(pub(crate) T);

impl<T: Timed> Linked for Peer<T> {
    #[inline(always)]
    fn link(&self) -> &Link<Self> {
        &self.0.state().peers
    }
}

/// Leaves its peers; returns the one who is next among them, if there are any.
#[inline(always)]
pub(crate) fn leave_peers<T: Timed>(timer: T) -> Option<T> {
    let Peer(next) = timer.state().peers.next()?;
    List::new().remove(Peer(timer));
    (!next.is(&timer)).then_some(next)
}

/// Makes a circle of one that is alone.
#[inline(always)]
pub(crate) fn stand_for_others<T: Timed>(timer: T) {
    if !Peer(timer).is_linked() {
        List::new().push_only(Peer(timer));
    }
}

/// Lets one that [stands for others](stand_for_others) stand for another of the same deadline: the
/// last in its circle.
#[inline(always)]
pub(crate) fn join<T: Timed>(leader: T, timer: T) {
    timer.state().slot.set(PEER);
    rejoin(leader, timer);
}

/// [Lets](join) one join that still is noted as a peer.
#[inline(always)]
pub(crate) fn rejoin<T: Timed>(leader: T, timer: T) {
    List::from(Peer(leader)).push(Peer(timer));
}
