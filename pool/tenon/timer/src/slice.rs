//! Time slices: the state of a core, and of a thread.

use crate::UnqueuedTimers;
use core::cell::Cell;

/// The time slice of the thread that runs on a core, with the timer of its end. All of it is zero
/// initially.
pub struct SliceTimer {
    /// The length of a slice in ticks.
    pub length: Cell<u64>,
    /// The start of the current slice, moved back by what the thread used before a preemption.
    pub began: Cell<u64>,
    /// The timer, with that of background work.
    pub timers: UnqueuedTimers,
}

impl SliceTimer {
    /// A timer that is not armed.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            length: Cell::new(0),
            began: Cell::new(0),
            timers: UnqueuedTimers::new(),
        }
    }

    /// Whether the timer is armed.
    #[inline(always)]
    pub fn is_armed(&self) -> bool {
        self.timers.slice() != 0
    }
}

impl Default for SliceTimer {
    fn default() -> Self {
        Self::new()
    }
}

/// A thread's part of time slicing.
pub struct TimeSlice {
    /// Ticks of its slice that it used before it was preempted.
    used: Cell<u64>,
    /// Ticks of its slice, zero for as many as all threads have. A new thread has those of the one
    /// before it: what sets it does so for each, and no other image has code for it.
    pub length: Cell<u32>,
    enabled: Cell<bool>,
}

impl TimeSlice {
    /// One that is not sliced yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            used: Cell::new(0),
            length: Cell::new(0),
            enabled: Cell::new(false),
        }
    }

    /// Initialises it for a new thread.
    pub fn init(&self) {
        self.used.set(0);
        self.enabled.set(true);
    }

    /// Sets whether the thread is sliced.
    #[inline]
    pub fn enable(&self, enabled: bool) {
        self.enabled.set(enabled);
    }

    /// Whether the thread is sliced.
    #[inline(always)]
    pub fn is_enabled(&self) -> bool {
        self.enabled.get()
    }

    /// Ticks of its slice that it used before it was preempted.
    #[inline(always)]
    pub fn used(&self) -> u64 {
        self.used.get()
    }

    /// Sets the ticks that it used.
    #[inline(always)]
    pub fn set_used(&self, ticks: u64) {
        self.used.set(ticks);
    }
}

impl Default for TimeSlice {
    fn default() -> Self {
        Self::new()
    }
}
