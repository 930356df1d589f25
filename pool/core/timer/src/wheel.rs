//! A hierarchical timing wheel, for time that advances by a fixed tick.
//!
//! The alternative to the tickless queue of [`core_timer`], whose timers it takes: deadlines are
//! whole ticks, and the wheel is turned by each. A timer lies on the level of the highest
//! hexadecimal digit in which its deadline differs from the present tick, in the slot of that
//! digit's value. When a digit of the present tick changes, the slot of its new value is dealt out
//! to lower levels; what lies in the slot of the lowest digit is due. Nothing is looked for, so that
//! starting and cancelling take fewer instructions than in the tickless queue; the price is an
//! interrupt for each tick, whether anything is due or not.
//!
//! Guarantees: starting and cancelling are O(1) for any number of timers; expiry proceeds in steps
//! of O(1) each, between which the caller may let interrupts in; timers expire in order of their
//! ticks, those of one tick in any order; a timer is dealt out at most once per level in its life;
//! nothing is allocated. The caller masks interrupts, or holds its core's lock, during each call.
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

/// Digits are hexadecimal: 16 slots to a level, 16 levels to a 64-bit tick.
const BITS: u32 = 4;
const SLOTS: usize = 1 << BITS;
const LEVELS: usize = (u64::BITS / BITS) as usize;

/// A slot by its level, counted from the lowest digit, in the upper half, and its number there, in
/// the lower. None but the first of the lowest level is 0, as on higher ones a digit of a deadline is
/// higher than that of the present tick.
type Place = u8;

/// Added to a place, so that that of a pending timer is not the one of idle ones, which is 0: no
/// place of use is 0x10.
const PENDING: Place = 0x10;

/// The timers of one core. All of it is zero at first, so that it takes no room in an image.
pub struct TimingWheel<T> {
    /// The tick that is being served, or was the last.
    now: Cell<u64>,
    /// How many levels of the tick that is being served are yet to be dealt out.
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
    /// Lets time begin at a tick, before the first timer is started.
    pub fn begin(&self, tick: u64) {
        self.now.set(tick);
    }

    /// The tick that is being served, or was the last.
    #[inline(always)]
    pub fn tick(&self) -> u64 {
        self.now.get()
    }

    /// Starts a timer, anew if it is pending; for a tick that passed, it is due at the next one.
    #[inline(always)]
    pub fn start(&self, timer: T, tick: u64) {
        self.cancel(timer);
        let now = self.now.get();
        timer.state().set_deadline(tick.max(now.saturating_add(1)));
        self.insert(timer, now);
    }

    /// Takes a timer out; returns whether it was pending.
    #[inline(always)]
    pub fn cancel(&self, timer: T) -> bool {
        let place = timer.state().slot();
        let pending = timer.state().is_pending();
        if pending {
            self.slot(place ^ PENDING).remove(timer);
            timer.state().set_idle();
        }
        pending
    }

    /// Takes one step towards a tick; to be repeated until nothing is due. A step expires or moves
    /// a timer, or turns the wheel by one tick.
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
        // Digits that change, all but the highest of them to zero: that one's slot is dealt out
        // first, so that what is due at once reaches the lowest level in time.
        self.levels
            .set((next.trailing_zeros() / BITS + 1).min(LEVELS as u32));
        Step::Moved
    }

    #[inline(always)]
    fn insert(&self, timer: T, now: u64) {
        let deadline = timer.state().deadline();
        // The highest digit that differs; if no bit does, level 0, as if the lowest did.
        let shift = ((deadline ^ now) | 1).ilog2() & !(BITS - 1);
        let number = (deadline >> shift) as u8 % SLOTS as u8;
        let place = ((shift / BITS) as u8) << BITS | number;
        self.slot(place).push(timer);
        timer.state().set_slot(place ^ PENDING);
    }

    fn slot(&self, place: Place) -> &List<T> {
        &self.slots[usize::from(place)]
    }
}
