//! Time slices: round robin among threads of equal priority.
//!
//! A thread without a ready peer is not interrupted: the slice timer is armed only while a thread
//! of the same priority is ready, and a switch does not move it to a later instant. If it expires in
//! the middle of a slice, it is set to the end of the slice. A preempted thread resumes with the
//! rest of its slice, as POSIX demands (IEEE 1003.1, 2.8.4, SCHED_RR). Without [`options::slice`]
//! the image contains nothing of this.
//!
//! The slice timer is not in the queue: its steps would mask interrupts longer when a slice ends. The
//! compare value is the earlier of its instant and the queue's alarm ([`Kernel::set_alarm`]).

use super::Kernel;
use crate::thread::Thread;
use core::cell::Cell;
use core_timer::TimerQueue;
use tenon_machine::options;
use tenon_timer::{Selected, selected};

/// The time slice of the thread that runs on a core.
pub(crate) struct SliceTimer {
    /// The length of a slice in ticks.
    length: Cell<u64>,
    /// The start of the current slice, moved back by what the thread used before a preemption.
    began: Cell<u64>,
    /// The counter value for which the timer is armed; zero if it is not.
    due: Cell<u64>,
}

impl SliceTimer {
    /// A timer that is not armed. All of it is zero.
    pub(crate) const fn new() -> Self {
        Self {
            length: Cell::new(0),
            began: Cell::new(0),
            due: Cell::new(0),
        }
    }

    /// Whether the timer is armed.
    #[inline(always)]
    fn is_armed(&self) -> bool {
        self.due.get() != 0
    }
}

impl Kernel {
    /// Starts time slicing; the clock has started.
    pub(crate) fn start_slices(&self) {
        if options::slice() != 0 {
            let (clock, length) = (self.clock(), options::slice() as u64 * 1_000);
            self.slice.length.set(clock.frequency().ticks(length));
            self.slice.began.set(clock.ticks());
        }
    }

    /// Saves what the running thread has used of its slice before a preemption.
    #[inline(always)]
    pub(crate) fn save_slice(&self, thread: &Thread) {
        if options::slice() != 0 {
            let began = self.slice.began.get();
            let used = self.clock().ticks().saturating_sub(began);
            thread.time_slice().set_used(used);
        }
    }

    /// Gives a thread that blocks or yields a full slice for its next run.
    #[inline(always)]
    pub(crate) fn reset_slice(&self, thread: &Thread) {
        if options::slice() != 0 {
            thread.time_slice().set_used(0);
        }
    }

    /// Starts or resumes the slice of a thread that is dispatched.
    #[inline(always)]
    pub(crate) fn start_slice(&self, thread: &Thread) {
        if options::slice() != 0 {
            let used = thread.time_slice().used();
            let began = self.clock().ticks().saturating_sub(used);
            self.slice.began.set(began);
            self.update_slice_timer();
        }
    }

    /// Arms the timer for the end of the slice if a peer of the running thread is ready.
    pub fn update_slice_timer(&self) {
        if options::slice() == 0 {
            return;
        }
        let slice = &self.slice;
        let own = self.current().time_slice();
        let unarmed = !slice.is_armed() || own.length.get() != 0;
        if unarmed && self.scheduler.has_peers() && own.is_enabled() {
            let end = self.slice_end();
            // It may be armed for the end of another thread's slice, which is longer.
            if !slice.is_armed() || end < slice.due.get() {
                slice.due.set(end);
                self.set_alarm(self.timers.alarm());
            }
        }
    }

    /// Sets the compare value to the alarm of the timer queue, or to the end of a slice before it.
    #[inline(always)]
    pub fn set_alarm(&self, alarm: u64) {
        let due = self.slice.due.get();
        let earlier = options::slice() != 0 && due != 0 && due < alarm;
        self.clock().rearm_timer(if earlier { due } else { alarm });
    }

    /// The counter value at which the slice of the current thread ends; with a fixed tick, the one of
    /// the next tick.
    #[inline(always)]
    fn slice_end(&self) -> u64 {
        let own = self.current().time_slice().length.get();
        let all = self.slice.length.get();
        let end = self.slice.began.get() + if own == 0 { all } else { own.into() };
        match selected() {
            Selected::Heap | Selected::List => end,
            Selected::Wheel => end.next_multiple_of(self.timers.tick_length()),
        }
    }

    /// Ends the slice if the timer is due at `now`, unless the current slice began later and has
    /// time left; the caller sets the compare value.
    #[inline(always)]
    pub(crate) fn expire_slice(&self, now: u64) {
        if options::slice() == 0 || !self.slice.is_armed() || self.slice.due.get() > now {
            return;
        }
        self.slice.due.set(0);
        let over = self.slice_end() <= now;
        if over && self.scheduler.has_peers() && self.current().time_slice().is_enabled() {
            self.slice.began.set(now);
            self.scheduler.end_slice();
        } else {
            self.update_slice_timer();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{kernel, thread};
    use crate::thread::Priority;
    use core_list::Linked;

    #[test]
    fn only_peers_are_a_reason_to_time_a_turn() {
        let (kernel, _) = kernel(true);
        kernel.slice.length.set(100);
        let [first, peer] = [5, 5].map(|number| thread(kernel, Priority::new(number)));
        let urgent = thread(kernel, Priority::new(6));
        for thread in [first, urgent] {
            thread.wake(kernel);
            kernel.preempt();
            assert!(!kernel.slice.is_armed());
        }
        // A peer of a thread that does not run is no reason either.
        peer.wake(kernel);
        assert!(!kernel.slice.is_armed());
        kernel.block();
        assert!(kernel.current().is(&first) && kernel.slice.is_armed());
        kernel.expire_slice(99);
        assert!(!kernel.scheduler.needs_reschedule() && kernel.slice.is_armed());
        kernel.expire_slice(100);
        assert!(kernel.scheduler.needs_reschedule() && !kernel.slice.is_armed());
        kernel.preempt();
        assert!(kernel.current().is(&peer) && kernel.slice.is_armed());
        peer.time_slice().enable(false);
        kernel.expire_slice(100);
        assert!(!kernel.scheduler.needs_reschedule() && !kernel.slice.is_armed());
    }

    #[test]
    fn a_thread_with_a_shorter_slice_has_the_timer_moved() {
        let (kernel, _) = kernel(true);
        let [first, short, long] = [5, 5, 5].map(|number| thread(kernel, Priority::new(number)));
        kernel.slice.length.set(100);
        for thread in [first, short, long] {
            thread.wake(kernel);
        }
        short.time_slice().length.set(10);
        long.time_slice().length.set(1000);
        kernel.preempt();
        assert!(kernel.current().is(&first));
        let began = kernel.slice.began.get();
        assert_eq!(kernel.slice.due.get(), began + 100);
        kernel.yield_current();
        assert!(kernel.current().is(&short));
        assert_eq!(kernel.slice.due.get(), began + 10);
        // The end of a longer slice is found when the timer expires.
        kernel.yield_current();
        assert!(kernel.current().is(&long));
        assert_eq!(kernel.slice.due.get(), began + 10);
        kernel.expire_slice(began + 10);
        assert!(!kernel.scheduler.needs_reschedule());
        assert_eq!(kernel.slice.due.get(), began + 1000);
    }
}
