//! Timers of a core that are not in its queue: for the end of a slice, and for background work.
//!
//! In the queue they could share a slot with the release of a real-time thread, and its interrupt would
//! move them first. The compare value of the hardware is the earlier of [`UnqueuedTimers::first`] and
//! the queue's alarm.

use core::cell::Cell;

/// The timers of a core that are not in its queue. Instants are counter values, zero for a timer that
/// is not armed.
pub struct UnqueuedTimers {
    /// The earlier one of those that are armed.
    first: Cell<u64>,
    slice: Cell<u64>,
    background: Cell<u64>,
    /// The timer of background work is due, and waits for threads that are more urgent.
    deferred: Cell<bool>,
    /// The priority of background work.
    priority: Cell<u8>,
    handler: Cell<Option<fn()>>,
}

impl UnqueuedTimers {
    /// Timers that are not armed. All of it is zero.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            first: Cell::new(0),
            slice: Cell::new(0),
            background: Cell::new(0),
            deferred: Cell::new(false),
            priority: Cell::new(0),
            handler: Cell::new(None),
        }
    }

    /// The earliest instant.
    #[inline(always)]
    pub fn first(&self) -> u64 {
        self.first.get()
    }

    /// The instant of the timer of slices.
    #[inline(always)]
    pub fn slice(&self) -> u64 {
        self.slice.get()
    }

    /// Arms the timer of slices; zero disarms it.
    #[inline(always)]
    pub fn set_slice(&self, due: u64) {
        self.slice.set(due);
        self.update();
    }

    /// Disarms the timer of slices if it is due at `now`; returns whether it was.
    pub fn take_slice(&self, now: u64) -> bool {
        let due = self.slice.get();
        let is_due = due != 0 && due <= now;
        if is_due {
            self.set_slice(0);
        }
        is_due
    }

    /// Arms the timer of background work, in place of an earlier start: `handler` wakes a thread of
    /// this priority.
    pub fn start_background(&self, due: u64, priority: u8, handler: fn()) {
        self.background.set(due.max(1));
        self.priority.set(priority);
        self.handler.set(Some(handler));
        self.resume_background();
    }

    /// Defers the timer of background work if it is due at `now`, as a timer of the queue is: the
    /// thread which that wakes comes first.
    pub fn defer_background(&self, now: u64) {
        let due = self.background.get();
        self.deferred.set(due != 0 && due <= now);
        self.update();
    }

    /// Disarms the timer of background work if it is due at `now`, and returns its handler.
    pub fn take_background(&self, now: u64) -> Option<fn()> {
        let due = self.background.get();
        if due == 0 || due > now {
            return None;
        }
        self.background.set(0);
        self.resume_background();
        self.handler.get()
    }

    /// Whether the timer of background work is deferred.
    #[inline(always)]
    pub fn is_deferred(&self) -> bool {
        self.deferred.get()
    }

    /// The priority of background work.
    pub fn background_priority(&self) -> u8 {
        self.priority.get()
    }

    /// Arms a deferred timer of background work again.
    pub fn resume_background(&self) {
        self.deferred.set(false);
        self.update();
    }

    #[inline(always)]
    fn update(&self) {
        let background = if self.deferred.get() {
            0
        } else {
            self.background.get()
        };
        self.first.set(match (self.slice.get(), background) {
            (0, only) | (only, 0) => only,
            (slice, background) => slice.min(background),
        });
    }
}

impl Default for UnqueuedTimers {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handler() {}

    #[test]
    fn the_earlier_timer_comes_first() {
        let timers = UnqueuedTimers::new();
        assert_eq!(timers.first(), 0);
        timers.set_slice(20);
        timers.start_background(30, 5, handler);
        assert_eq!(timers.first(), 20);
        timers.set_slice(0);
        assert_eq!(timers.first(), 30);
        timers.start_background(10, 5, handler);
        timers.set_slice(20);
        assert_eq!(timers.first(), 10);
        assert!(timers.take_background(9).is_none());
        assert!(timers.take_background(10).is_some());
        assert!(timers.take_background(10).is_none());
        assert_eq!(timers.first(), 20);
        assert!(!timers.take_slice(19) && timers.take_slice(20));
        assert_eq!(timers.first(), 0);
    }

    #[test]
    fn background_work_is_deferred() {
        let timers = UnqueuedTimers::new();
        timers.start_background(10, 5, handler);
        timers.defer_background(9);
        assert!(!timers.is_deferred() && timers.first() == 10);
        timers.defer_background(11);
        assert!(timers.is_deferred() && timers.first() == 0);
        timers.resume_background();
        assert!(!timers.is_deferred() && timers.first() == 10);
        // What takes it, or starts it anew, ends a deferral.
        timers.defer_background(12);
        assert!(timers.take_background(12).is_some() && !timers.is_deferred());
        timers.start_background(20, 5, handler);
        timers.defer_background(20);
        timers.start_background(30, 5, handler);
        assert!(!timers.is_deferred() && timers.first() == 30);
    }
}
