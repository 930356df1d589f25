//! A hierarchical timing wheel, for time that advances by a fixed tick.
//!
//! Deadlines are whole ticks, and each tick turns the wheel. A timer is on the level of the highest
//! hexadecimal digit in which its deadline differs from the current tick, in the slot of that
//! digit's value. When a digit of the current tick changes, the slot of its new value is cascaded
//! to lower levels; the timers in the slot of the lowest digit are due. Nothing is searched, so
//! that start and cancel take fewer instructions than in a [`RadixHeap`](crate::RadixHeap). The
//! price is one interrupt per tick, whether or not a timer is due.
//!
//! Timers of one tick expire in any order. Each is cascaded at most once per level.
//!
//! ```
//! use core_list::{Link, Linked};
//! use core_timer::{Step, Timed, TimerState, TimingWheel};
//!
//! #[derive(Default)]
//! struct Timer<'a> {
//!     link: Link<&'a Timer<'a>>,
//!     state: TimerState<&'a Timer<'a>>,
//! }
//!
//! impl<'a> Linked for &'a Timer<'a> {
//!     fn link(&self) -> &Link<Self> {
//!         &self.link
//!     }
//! }
//!
//! impl<'a> Timed for &'a Timer<'a> {
//!     fn state(&self) -> &TimerState<Self> {
//!         &self.state
//!     }
//! }
//!
//! let timer = Timer::default();
//! let wheel = TimingWheel::new();
//! wheel.start(&timer, 2);
//! let mut turn = |tick| loop {
//!     match wheel.expire(tick) {
//!         Step::Expired(_) => break true,
//!         Step::Moved => {}
//!         Step::Idle => break false,
//!     }
//! };
//! assert_eq!([turn(1), turn(2)], [false, true]);
//! ```

#[cfg(test)]
mod tests;

use crate::{Step, Timed};
use core::cell::Cell;
use core_list::List;

/// Digits are hexadecimal: 16 slots per level, 16 levels for a 64-bit tick.
const BITS: u32 = 4;
const SLOTS: usize = 1 << BITS;
const LEVELS: usize = (u64::BITS / BITS) as usize;

/// A slot: its level, counted from the least significant digit, in the upper half, its number in
/// the lower. None but the first of the lowest level is 0, because on higher levels the digit of a
/// deadline is greater than that of the current tick.
type SlotIndex = u8;

/// Added to a slot, so that a pending timer never has the value of an idle one, 0: slot 0x10 is not
/// used.
const PENDING: SlotIndex = 0x10;

/// The timers of one core. All fields are zero initially, so that it takes no space in an image.
pub struct TimingWheel<T> {
    /// The tick that is being served, or the last one.
    now: Cell<u64>,
    /// The number of levels of the current tick that are yet to be cascaded.
    levels: Cell<u32>,
    slots: [List<T>; LEVELS * SLOTS],
}

impl<T> TimingWheel<T> {
    /// A wheel without timers, at tick zero.
    pub const fn new() -> Self {
        Self {
            now: Cell::new(0),
            levels: Cell::new(0),
            slots: [const { List::new() }; LEVELS * SLOTS],
        }
    }
}

impl<T> Default for TimingWheel<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Timed> TimingWheel<T> {
    /// Sets the current tick, before the first timer is started.
    pub fn begin(&self, tick: u64) {
        self.now.set(tick);
    }

    /// The tick that is being served, or the last one.
    #[inline(always)]
    pub fn tick(&self) -> u64 {
        self.now.get()
    }

    /// Starts or restarts a timer. For a tick in the past, it expires at the next one.
    #[inline(always)]
    pub fn start(&self, timer: T, tick: u64) {
        self.cancel(timer);
        let now = self.now.get();
        timer.state().set_deadline(tick.max(now.saturating_add(1)));
        self.insert(timer, now);
    }

    /// Cancels a timer; returns whether it was pending.
    #[inline(always)]
    pub fn cancel(&self, timer: T) -> bool {
        let slot = timer.state().slot();
        let pending = timer.state().is_pending();
        if pending {
            self.slot(slot ^ PENDING).remove(timer);
            timer.state().set_idle();
        }
        pending
    }

    /// Takes one step towards a tick; to be repeated until it returns [`Step::Idle`]. A step
    /// expires or moves a timer, or advances the wheel by one tick.
    pub fn expire(&self, tick: u64) -> Step<T> {
        let now = self.now.get();
        while let Some(level) = self.levels.get().checked_sub(1) {
            let digit = (now >> (level * BITS)) as u8 % SLOTS as u8;
            if let Some(timer) = self.slot((level as u8) << BITS | digit).pop() {
                if level == 0 {
                    timer.state().set_idle();
                    return Step::Expired(timer);
                }
                self.insert(timer, now);
                return Step::Moved;
            }
            self.levels.set(level);
        }
        if now >= tick {
            return Step::Idle;
        }
        let next = now + 1;
        self.now.set(next);
        // All digits below the highest one that changed become zero. The slot of the highest one is
        // cascaded first, so that timers that are due reach the lowest level in time.
        self.levels
            .set((next.trailing_zeros() / BITS + 1).min(LEVELS as u32));
        Step::Moved
    }

    #[inline(always)]
    fn insert(&self, timer: T, now: u64) {
        let deadline = timer.state().deadline();
        // The highest digit that differs; level 0 if none does.
        let shift = ((deadline ^ now) | 1).ilog2() & !(BITS - 1);
        let number = (deadline >> shift) as u8 % SLOTS as u8;
        let slot = ((shift / BITS) as u8) << BITS | number;
        self.slot(slot).push(timer);
        timer.state().set_slot(slot ^ PENDING);
    }

    fn slot(&self, slot: SlotIndex) -> &List<T> {
        &self.slots[usize::from(slot)]
    }
}
