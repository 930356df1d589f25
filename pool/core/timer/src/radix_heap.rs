//! Tickless timer queue: a radix heap.

mod expire;

pub use expire::Step;

use crate::state::{
    NOT_PENDING, PEER, Peer, SlotIndex, Timed, join, lead_peers, leave_peers, rejoin,
};
use core::cell::Cell;
use core::num::NonZeroU16;
use core_list::{DrainList, List};

/// Digits are hexadecimal: 16 slots per level, 16 levels for a 64-bit deadline.
const BITS: u32 = 4;
const SLOTS: usize = 1 << BITS;
const LEVELS: usize = (u64::BITS / BITS) as usize;

pub(crate) struct Slot<T> {
    /// One leader for each run of equal deadlines.
    pub(crate) timers: List<T>,
    /// Not later than any deadline in the slot; undefined while it is empty.
    pub(crate) earliest: Cell<u64>,
}

/// The timers of one core.
///
/// ```
/// use core_list::{Link, Linked};
/// use core_timer::{TimerState, Step, Timed, RadixHeap};
///
/// #[derive(Default)]
/// struct Timer<'a> {
///     link: Link<&'a Timer<'a>>,
///     state: TimerState<&'a Timer<'a>>,
/// }
///
/// impl<'a> Linked for &'a Timer<'a> {
///     fn link(&self) -> &Link<Self> {
///         &self.link
///     }
/// }
///
/// impl<'a> Timed for &'a Timer<'a> {
///     fn state(&self) -> &TimerState<Self> {
///         &self.state
///     }
/// }
///
/// let timer = Timer::default();
/// let queue = RadixHeap::new();
/// assert_eq!(queue.start(&timer, 1_000), Some(1_000)); // what to set the hardware for
/// assert!(matches!(queue.expire(999), Step::Idle));
/// assert_eq!(queue.alarm(), 1_000);
/// assert!(matches!(queue.expire(1_001), Step::Expired(_)));
/// ```
#[repr(C)] // slots last, so that the fields that each call uses are within the offset of one load
pub struct RadixHeap<T> {
    /// Not later than any pending deadline, and never in the future.
    pub(crate) base: Cell<u64>,
    /// The compare value of the hardware timer: not later than any pending deadline, except while
    /// timers are cascaded; `u64::MAX` if none is pending.
    pub(crate) alarm: Cell<u64>,
    /// Timers with the deadline `base`, which expire one per step.
    pub(crate) expiring: DrainList<Peer<T>>,
    /// A [`bit`] is set while its level is not empty.
    levels: Cell<u16>,
    /// For each level, bit *n* is set while its slot *n* is not empty.
    occupied: [Cell<u16>; LEVELS],
    /// The slot that determines the alarm; none while timers are cascaded.
    pub(crate) alarm_slot: Cell<SlotIndex>,
    /// The slot that is being cascaded, if any: the base is constant until it is empty.
    pub(crate) cascading: Cell<SlotIndex>,
    /// The leader of the timers that were restarted last, until another timer is started or a
    /// leader is removed.
    pub(crate) latest_leader: Cell<Option<T>>,
    slots: [Slot<T>; LEVELS * SLOTS],
}

impl<T> RadixHeap<T> {
    /// An empty queue.
    pub const fn new() -> Self {
        let mut queue = Self::unset();
        queue.alarm = Cell::new(u64::MAX);
        queue
    }

    /// A heap that needs a [`reset`](Self::reset) before its first use. All fields are zero, so
    /// that it takes no space in an image.
    pub const fn unset() -> Self {
        Self {
            base: Cell::new(0),
            alarm: Cell::new(0),
            expiring: DrainList::new(),
            levels: Cell::new(0),
            occupied: [const { Cell::new(0) }; LEVELS],
            alarm_slot: Cell::new(NOT_PENDING),
            cascading: Cell::new(NOT_PENDING),
            latest_leader: Cell::new(None),
            slots: [const {
                Slot {
                    timers: List::new(),
                    earliest: Cell::new(0),
                }
            }; LEVELS * SLOTS],
        }
    }
}

impl<T> Default for RadixHeap<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Timed> RadixHeap<T> {
    /// Initialises an [`unset`](RadixHeap::unset) heap.
    pub fn reset(&self) {
        self.alarm.set(u64::MAX);
    }

    /// Starts or restarts a timer. A deadline in the past expires at once. Returns the new compare
    /// value of the hardware timer, if it changes.
    #[inline(always)]
    pub fn start(&self, timer: T, deadline: u64) -> Option<u64> {
        if timer.state().is_pending() {
            self.remove_to_restart(timer);
        }
        self.start_idle(timer, deadline)
    }

    /// [Starts](RadixHeap::start) a timer that is not pending.
    #[inline(always)]
    pub fn start_idle(&self, timer: T, deadline: u64) -> Option<u64> {
        debug_assert!(!timer.state().is_pending(), "in the queue already");
        let base = self.base.get();
        let deadline = deadline.max(base);
        let slot = self.insert(timer, deadline, base, Role::Started);
        self.arm_timer(deadline, slot)
    }

    /// Restarts a timer that has just expired, if the timer [restarted](RadixHeap::restart) before
    /// it has the same deadline, as periodic timers with one period do; returns whether it did.
    #[inline(always)]
    pub fn rejoin(&self, timer: T, deadline: u64) -> bool {
        let latest_leader = self.latest_leader.get();
        let latest_leader =
            latest_leader.filter(|latest_leader| latest_leader.state().deadline.get() == deadline);
        if let Some(latest_leader) = latest_leader {
            debug_assert!(timer.state().slot.get() == PEER, "its expiry is not noted");
            timer.state().deadline.set(deadline);
            rejoin(latest_leader, timer);
        }
        latest_leader.is_some()
    }

    /// Restarts a timer that has just expired, such that others may rejoin it. The deadline must be
    /// in the future.
    #[inline(always)]
    pub fn restart(&self, timer: T, deadline: u64) -> Option<u64> {
        let slot = self.insert(timer, deadline, self.base.get(), Role::Restarted);
        self.arm_timer(deadline, slot)
    }

    /// Updates the alarm and its slot, if this deadline is earlier.
    #[inline(always)]
    fn arm_timer(&self, deadline: u64, slot: SlotIndex) -> Option<u64> {
        if deadline >= self.alarm.get() {
            return None;
        }
        self.alarm.set(deadline);
        self.alarm_slot.set(slot);
        Some(deadline)
    }

    /// Cancels a timer; returns whether it was pending.
    #[inline(always)]
    pub fn cancel(&self, timer: T) -> bool {
        let pending = timer.state().is_pending();
        if pending {
            self.remove_pending(timer);
        }
        pending
    }

    /// Out of line, because most timers that are started are not pending.
    #[cold]
    fn remove_to_restart(&self, timer: T) {
        self.remove_pending(timer);
    }

    #[inline(never)]
    fn remove_pending(&self, timer: T) {
        let slot = timer.state().slot.replace(NOT_PENDING);
        match slot {
            PEER => self.expiring.remove(Peer(timer)),
            slot => match leave_peers(timer) {
                // The peer that has been pending longest becomes the leader.
                Some(next) => {
                    next.state().slot.set(slot);
                    self.slot(slot).timers.replace(timer, next);
                    self.latest_leader.set(None);
                }
                None => self.remove(timer, slot),
            },
        }
    }

    /// The compare value of the hardware timer, `u64::MAX` if none is pending. It is constant while
    /// timers are cascaded, so that the hardware's interrupt stays pending.
    #[inline(always)]
    pub fn alarm(&self) -> u64 {
        self.alarm.get()
    }

    /// Inserts a timer into its slot, or adds it to the last leader there if the deadlines are
    /// equal. Returns the slot.
    #[inline(always)]
    pub(crate) fn insert(&self, timer: T, deadline: u64, base: u64, role: Role) -> SlotIndex {
        timer.state().deadline.set(deadline);
        // The number of bits in equal leading digits; if all are equal, the last level is used.
        let equal = ((deadline ^ base) | 1).leading_zeros() & !(BITS - 1);
        let shift = u64::BITS - BITS - equal;
        let number = (deadline >> shift) as u8 % SLOTS as u8;
        let slot = ((equal / BITS) << BITS) as u8 | number;
        let entry = self.slot(slot);
        if let Some((first, last)) = entry.timers.ends() {
            if role != Role::Leader && last.state().deadline.get() == deadline {
                lead_peers(last);
                join(last, timer);
                if role == Role::Restarted {
                    self.latest_leader.set(Some(last));
                }
                return slot;
            }
            if deadline < entry.earliest.get() {
                entry.earliest.set(deadline);
            }
            List::link_between(last, timer, first);
        } else {
            entry.earliest.set(deadline);
            let occupied = self.occupied(slot);
            occupied.set(occupied.get() | 1 << number);
            self.levels.set(self.levels.get() | bit(slot));
            entry.timers.push_only(timer);
        }
        timer.state().slot.set(slot);
        if role == Role::Restarted {
            lead_peers(timer);
            self.latest_leader.set(Some(timer));
        } else {
            self.latest_leader.set(None);
        }
        slot
    }

    /// Removes a leader or a single timer from a slot.
    #[inline(always)]
    fn remove(&self, timer: T, slot: SlotIndex) {
        self.latest_leader.set(None);
        if self.slot(slot).timers.remove(timer) {
            self.mark_empty(slot);
            if self.cascading.get() == slot {
                self.cascading.set(NOT_PENDING);
            }
        }
    }

    /// Marks a slot as empty.
    #[inline(always)]
    pub(crate) fn mark_empty(&self, slot: SlotIndex) {
        let occupied = self.occupied(slot);
        occupied.set(occupied.get() & !(1 << (slot % SLOTS as u8)));
        if occupied.get() == 0 {
            self.levels.set(self.levels.get() & !bit(slot));
        }
    }

    /// Marks the earliest slot as empty: its bits are the lowest ones.
    #[inline(always)]
    pub(crate) fn mark_first_empty(&self, slot: SlotIndex) {
        let occupied = self.occupied(slot);
        let rest = without_lowest(occupied.get());
        occupied.set(rest);
        if rest == 0 {
            self.levels.set(without_lowest(self.levels.get()));
        }
    }

    /// The earliest slot: the first one of the lowest level that is not empty.
    #[inline(always)]
    pub(crate) fn first(&self) -> Option<SlotIndex> {
        let behind = NonZeroU16::new(self.levels.get())?.trailing_zeros() as u8;
        let level = (LEVELS as u8 - 1 - behind) << BITS;
        let occupied = NonZeroU16::new(self.occupied(level).get())?;
        Some(level | occupied.trailing_zeros() as u8)
    }

    fn occupied(&self, slot: SlotIndex) -> &Cell<u16> {
        &self.occupied[usize::from(slot >> BITS)]
    }

    pub(crate) fn slot(&self, slot: SlotIndex) -> &Slot<T> {
        &self.slots[usize::from(slot)]
    }
}

/// How a timer is inserted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It may join a leader.
    Started,
    /// It may join a leader, and others may [rejoin](RadixHeap::rejoin) it.
    Restarted,
    /// It leads peers.
    Leader,
}

/// The bit of a slot's level: the lowest is that of the last level, which has the earliest timers.
const fn bit(slot: SlotIndex) -> u16 {
    (1 << (LEVELS - 1)) >> (slot >> BITS)
}

/// A bitmap without its lowest set bit.
const fn without_lowest(bits: u16) -> u16 {
    bits & bits.wrapping_sub(1)
}
