//! The radix heap.

use core::cell::Cell;
use core_list::{Linked, List};

/// Digits are hexadecimal: 16 slots to a level, 16 levels to a 64-bit deadline.
const BITS: u32 = 4;
const SLOTS: usize = 1 << BITS;
const LEVELS: usize = (u64::BITS / BITS) as usize;

/// What the queue keeps inside each timer, beside its link.
#[derive(Debug)]
pub struct Due {
    deadline: Cell<u64>,
    place: Cell<Option<Place>>,
}

/// A slot by its level, in the upper half, and its number there, in the lower.
type Place = u8;

impl Due {
    /// Of a timer that was never started.
    pub const fn new() -> Self {
        Self {
            deadline: Cell::new(0),
            place: Cell::new(None),
        }
    }

    /// When it expires, or when it last did.
    pub fn deadline(&self) -> u64 {
        self.deadline.get()
    }

    /// Whether it is yet to expire.
    pub fn is_pending(&self) -> bool {
        self.place.get().is_some()
    }
}

impl Default for Due {
    fn default() -> Self {
        Self::new()
    }
}

/// A reference to a timer.
pub trait Timed: Linked {
    /// The queue's part of it.
    fn due(&self) -> &Due;
}

/// What one step of expiry did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// This timer expired; there may be more.
    Expired(T),
    /// A timer was moved nearer; there may be more.
    Moved,
    /// Nothing is due before this, at the earliest.
    Idle(Option<u64>),
}

struct Slot<T> {
    timers: List<T>,
    /// No later than any deadline in the slot; meaningless when it is empty.
    earliest: Cell<u64>,
}

/// The timers of one core.
///
/// ```
/// use core_list::{Link, Linked};
/// use core_timer::{Due, Step, Timed, TimerQueue};
///
/// #[derive(Default)]
/// struct Timer<'a> {
///     link: Link<&'a Timer<'a>>,
///     due: Due,
/// }
///
/// impl<'a> Linked for &'a Timer<'a> {
///     fn link(&self) -> &Link<Self> {
///         &self.link
///     }
/// }
///
/// impl<'a> Timed for &'a Timer<'a> {
///     fn due(&self) -> &Due {
///         &self.due
///     }
/// }
///
/// let timer = Timer::default();
/// let queue = TimerQueue::new();
/// queue.start(&timer, 1_000);
/// assert_eq!(queue.next(), Some(1_000)); // what to set the hardware for
/// assert!(matches!(queue.expire(999), Step::Idle(Some(1_000))));
/// assert!(matches!(queue.expire(1_001), Step::Expired(_)));
/// ```
#[repr(C)] // the slots last, so that what every call uses is within reach of one load
pub struct TimerQueue<T> {
    /// No later than any pending deadline, and never after the present.
    base: Cell<u64>,
    /// Bit *n* is set while level *n* is not empty.
    levels: Cell<u16>,
    /// For each level, bit *n* is set while its slot *n* is not empty.
    occupied: [Cell<u16>; LEVELS],
    /// The slot that fell due and is not empty yet: until it is, the base stays.
    dealing: Cell<Option<Place>>,
    slots: [Slot<T>; LEVELS * SLOTS],
}

impl<T> TimerQueue<T> {
    /// An empty queue.
    pub const fn new() -> Self {
        Self {
            base: Cell::new(0),
            levels: Cell::new(0),
            occupied: [const { Cell::new(0) }; LEVELS],
            slots: [const {
                Slot {
                    timers: List::new(),
                    earliest: Cell::new(0),
                }
            }; LEVELS * SLOTS],
            dealing: Cell::new(None),
        }
    }
}

impl<T> Default for TimerQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Timed> TimerQueue<T> {
    /// Starts a timer, anew if it is pending; a deadline that passed is due at once.
    pub fn start(&self, timer: T, deadline: u64) {
        self.cancel(timer);
        timer.due().deadline.set(deadline.max(self.base.get()));
        self.insert(timer);
    }

    /// Takes a timer out; returns whether it was pending.
    pub fn cancel(&self, timer: T) -> bool {
        let Some(place) = timer.due().place.get() else {
            return false;
        };
        timer.due().place.set(None);
        let timers = &self.slot(place).timers;
        timers.remove(timer);
        if timers.is_empty() {
            self.vacate(place);
            if self.dealing.get() == Some(place) {
                self.dealing.set(None);
            }
        }
        true
    }

    /// When [`expire`](TimerQueue::expire) is to be called next: what to set the hardware for.
    pub fn next(&self) -> Option<u64> {
        if self.dealing.get().is_some() {
            return Some(self.base.get());
        }
        self.first().map(|place| self.slot(place).earliest.get())
    }

    /// Takes one step of expiry at the present time; to be repeated until nothing is due.
    pub fn expire(&self, now: u64) -> Step<T> {
        let place = match self.dealing.get() {
            Some(place) => place,
            None => match self.fall_due(now) {
                Ok(place) => place,
                Err(next) => return Step::Idle(next),
            },
        };
        let timers = &self.slot(place).timers;
        let Some(timer) = timers.pop() else {
            // Unreachable: a slot without timers is not found.
            return Step::Idle(None);
        };
        if timers.is_empty() {
            self.vacate(place);
            self.dealing.set(None);
        } else {
            self.dealing.set(Some(place));
        }
        if timer.due().deadline.get() == self.base.get() {
            timer.due().place.set(None);
            return Step::Expired(timer);
        }
        self.insert(timer);
        Step::Moved
    }

    /// The earliest slot, if its time has come, otherwise when it will; the base moves there. All
    /// other timers keep their places: their deadlines differ from the new base in the same digit
    /// as from the old one.
    fn fall_due(&self, now: u64) -> Result<Place, Option<u64>> {
        let place = self.first().ok_or(None)?;
        let earliest = self.slot(place).earliest.get();
        if earliest > now {
            return Err(Some(earliest));
        }
        self.base.set(earliest);
        Ok(place)
    }

    fn insert(&self, timer: T) {
        let deadline = timer.due().deadline.get();
        // The highest digit that differs; if no bit does, level 0, as if the lowest did.
        let shift = ((deadline ^ self.base.get()) | 1).ilog2() & !(BITS - 1);
        let slot = (deadline >> shift) as u8 % SLOTS as u8;
        let level = shift / BITS;
        let place = (level as u8) << BITS | slot;
        let Slot { timers, earliest } = self.slot(place);
        if timers.is_empty() {
            earliest.set(deadline);
            let occupied = self.occupied(place);
            occupied.set(occupied.get() | 1 << slot);
            self.levels.set(self.levels.get() | 1 << level);
        } else if deadline < earliest.get() {
            earliest.set(deadline);
        }
        timers.push(timer);
        timer.due().place.set(Some(place));
    }

    /// Notes that a slot is empty.
    fn vacate(&self, place: Place) {
        let occupied = self.occupied(place);
        occupied.set(occupied.get() & !(1 << (place % SLOTS as u8)));
        if occupied.get() == 0 {
            self.levels.set(self.levels.get() & !(1 << (place >> BITS)));
        }
    }

    /// The earliest slot: the first one of the lowest level that is not empty.
    fn first(&self) -> Option<Place> {
        let levels = self.levels.get();
        if levels == 0 {
            return None;
        }
        let level = (levels.trailing_zeros() as u8) << BITS;
        Some(level | self.occupied(level).get().trailing_zeros() as u8)
    }

    fn occupied(&self, place: Place) -> &Cell<u16> {
        &self.occupied[usize::from(place >> BITS)]
    }

    fn slot(&self, place: Place) -> &Slot<T> {
        &self.slots[usize::from(place)]
    }
}
