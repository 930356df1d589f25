//! The radix heap.

use crate::state::{
    NOT_PENDING, PEER, Peer, SlotIndex, Timed, join, leave_peers, rejoin, stand_for_others,
};
use core::cell::Cell;
use core::num::NonZeroU16;
use core_list::{DrainList, List};

/// Digits are hexadecimal: 16 slots to a level, 16 levels to a 64-bit deadline.
const BITS: u32 = 4;
const SLOTS: usize = 1 << BITS;
const LEVELS: usize = (u64::BITS / BITS) as usize;

pub(crate) struct Slot<T> {
    /// One timer of each run of equal deadlines, which stands for its peers.
    pub(crate) timers: List<T>,
    /// No later than any deadline in the slot; meaningless when it is empty.
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
///         &self.expiring
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
#[repr(C)] // the slots last, so that what every call uses is within reach of one load
pub struct RadixHeap<T> {
    /// No later than any pending deadline, and never after the present.
    pub(crate) base: Cell<u64>,
    /// What the hardware is set for: no later than any pending deadline, unless some are being
    /// dealt out; the end of time if none is pending.
    pub(crate) alarm: Cell<u64>,
    /// Timers of the base, which leave one by one.
    pub(crate) expiring: DrainList<Peer<T>>,
    /// A [`bit`] is set while its level is not empty.
    levels: Cell<u16>,
    /// For each level, bit *n* is set while its slot *n* is not empty.
    occupied: [Cell<u16>; LEVELS],
    /// The slot that the alarm was set for; nowhere while timers are dealt out.
    pub(crate) alarm_slot: Cell<SlotIndex>,
    /// The slot that fell due and is not empty yet, or nowhere: until it is, the base stays.
    pub(crate) cascading: Cell<SlotIndex>,
    /// Who stands for those restarted last, as long as nobody else was started and nobody who
    /// stands for peers was taken out since.
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

    /// A queue to be [`reset`](Self::reset) before its first use. All of it is zero, so that it takes
    /// no room in an image.
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
    /// Makes an [`unset`](RadixHeap::unset) queue an empty one.
    pub fn reset(&self) {
        self.alarm.set(u64::MAX);
    }

    /// Starts a timer, anew if it is pending; a deadline that passed is due at once. Returns what
    /// to set the hardware for, if that changes.
    #[inline(always)]
    pub fn start(&self, timer: T, deadline: u64) -> Option<u64> {
        if timer.state().is_pending() {
            self.take_out_to_restart(timer);
        }
        self.start_idle(timer, deadline)
    }

    /// [Starts](RadixHeap::start) a timer that is not pending.
    #[inline(always)]
    pub fn start_idle(&self, timer: T, deadline: u64) -> Option<u64> {
        debug_assert!(!timer.state().is_pending(), "in the queue already");
        let base = self.base.get();
        let deadline = deadline.max(base);
        let place = self.insert(timer, deadline, base, Role::Started);
        self.set_alarm(deadline, place)
    }

    /// Starts a timer again that has just expired, if the one [restarted](RadixHeap::restart)
    /// before has the same deadline, as with timers of one period that meet again and again.
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

    /// Starts a timer again that has just expired, such that others may rejoin it; the deadline is
    /// to come.
    #[inline(always)]
    pub fn restart(&self, timer: T, deadline: u64) -> Option<u64> {
        let place = self.insert(timer, deadline, self.base.get(), Role::Restarted);
        self.set_alarm(deadline, place)
    }

    /// Notes where the hardware is to find the earliest timer, if this is it.
    #[inline(always)]
    fn set_alarm(&self, deadline: u64, place: SlotIndex) -> Option<u64> {
        if deadline >= self.alarm.get() {
            return None;
        }
        self.alarm.set(deadline);
        self.alarm_slot.set(place);
        Some(deadline)
    }

    /// Takes a timer out; returns whether it was pending.
    #[inline(always)]
    pub fn cancel(&self, timer: T) -> bool {
        let pending = timer.state().is_pending();
        if pending {
            self.take_out(timer);
        }
        pending
    }

    /// Most timers that are started are not pending; this way only the others pay for the call.
    #[cold]
    fn take_out_to_restart(&self, timer: T) {
        self.take_out(timer);
    }

    #[inline(never)]
    fn take_out(&self, timer: T) {
        let place = timer.state().slot.replace(NOT_PENDING);
        match place {
            PEER => self.expiring.remove(Peer(timer)),
            place => match leave_peers(timer) {
                // The longest pending one of them stands for the others now.
                Some(next) => {
                    next.state().slot.set(place);
                    self.slot(place).timers.replace(timer, next);
                    self.latest_leader.set(None);
                }
                None => self.remove(timer, place),
            },
        }
    }

    /// What the hardware is to be set for, the end of time if nothing is pending. It stays while
    /// timers are dealt out, so that the hardware's interrupt stays due.
    #[inline(always)]
    pub fn alarm(&self) -> u64 {
        self.alarm.get()
    }

    /// Puts a timer where it belongs, or lets it join the last one there if that has its deadline:
    /// those who are started together are moved together. Returns the place.
    #[inline(always)]
    pub(crate) fn insert(&self, timer: T, deadline: u64, base: u64, role: Role) -> SlotIndex {
        timer.state().deadline.set(deadline);
        // As many bits as there are equal digits in front; if all are, the last level serves.
        let equal = ((deadline ^ base) | 1).leading_zeros() & !(BITS - 1);
        let shift = u64::BITS - BITS - equal;
        let number = (deadline >> shift) as u8 % SLOTS as u8;
        let place = ((equal / BITS) << BITS) as u8 | number;
        let slot = self.slot(place);
        if let Some((first, last)) = slot.timers.ends() {
            if role != Role::Leader && last.state().deadline.get() == deadline {
                stand_for_others(last);
                join(last, timer);
                if role == Role::Restarted {
                    self.latest_leader.set(Some(last));
                }
                return place;
            }
            if deadline < slot.earliest.get() {
                slot.earliest.set(deadline);
            }
            List::link_between(last, timer, first);
        } else {
            slot.earliest.set(deadline);
            let occupied = self.occupied(place);
            occupied.set(occupied.get() | 1 << number);
            self.levels.set(self.levels.get() | bit(place));
            slot.timers.push_only(timer);
        }
        timer.state().slot.set(place);
        if role == Role::Restarted {
            stand_for_others(timer);
            self.latest_leader.set(Some(timer));
        } else {
            self.latest_leader.set(None);
        }
        place
    }

    /// Takes out the one that stands at a place.
    #[inline(always)]
    fn remove(&self, timer: T, place: SlotIndex) {
        self.latest_leader.set(None);
        if self.slot(place).timers.remove(timer) {
            self.mark_empty(place);
            if self.cascading.get() == place {
                self.cascading.set(NOT_PENDING);
            }
        }
    }

    /// Notes that a slot is empty.
    #[inline(always)]
    pub(crate) fn mark_empty(&self, place: SlotIndex) {
        let occupied = self.occupied(place);
        occupied.set(occupied.get() & !(1 << (place % SLOTS as u8)));
        if occupied.get() == 0 {
            self.levels.set(self.levels.get() & !bit(place));
        }
    }

    /// Notes that the first of all slots is empty: the lowest bits fall.
    #[inline(always)]
    pub(crate) fn mark_first_empty(&self, place: SlotIndex) {
        let occupied = self.occupied(place);
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

    fn occupied(&self, place: SlotIndex) -> &Cell<u16> {
        &self.occupied[usize::from(place >> BITS)]
    }

    pub(crate) fn slot(&self, place: SlotIndex) -> &Slot<T> {
        &self.slots[usize::from(place)]
    }
}

/// As what a timer is put into the queue.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// One that may join others.
    Started,
    /// One that may join others, and that others may [rejoin](RadixHeap::rejoin).
    Restarted,
    /// One that stands for others.
    Leader,
}

/// The bit of a place's level: the lowest is that of the last level, whose timers are the earliest.
const fn bit(place: SlotIndex) -> u16 {
    (1 << (LEVELS - 1)) >> (place >> BITS)
}

/// A bitmap without its lowest bit.
const fn without_lowest(bits: u16) -> u16 {
    bits & bits.wrapping_sub(1)
}
