//! Time slices: round robin among threads of equal priority.
//!
//! A thread without a ready peer is not interrupted: the slice timer is armed only while a thread
//! of the same priority is ready, and a switch does not move it to a later instant. If it expires in
//! the middle of a slice, it is set to the end of the slice. A preempted thread resumes with the
//! rest of its slice, as POSIX demands (IEEE 1003.1, 2.8.4, SCHED_RR). Without [`options::slice`]
//! the image contains nothing of this.
//!
//! The slice timer and that of background work are not in the queue ([`tenon_timer::SliceTimer`]).

use super::Kernel;
use crate::thread::Thread;
use core_timer::TimerQueue;
use tenon_machine::options;
use tenon_timer::{Selected, selected};

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
            if !slice.is_armed() || end < slice.timers.slice() {
                slice.timers.set_slice(end);
                self.set_alarm(self.timers.alarm());
            }
        }
    }

    /// Starts the timer of background work: `handler`, which wakes a thread of this priority, is
    /// called at the counter value `due`, or once no more urgent thread is ready.
    pub fn start_background(&self, due: u64, priority: u8, handler: fn()) {
        self.slice.timers.start_background(due, priority, handler);
        self.set_alarm(self.timers.alarm());
    }

    /// Arms a deferred timer of background work, unless `next`, which is dispatched, or else the
    /// current thread is more urgent.
    #[inline(always)]
    pub fn resume_background(&self, next: Option<&'static Thread>) {
        if options::slice() != 0 && self.slice.timers.is_deferred() {
            self.resume_deferred(next.unwrap_or(self.current()));
        }
    }

    #[cold]
    fn resume_deferred(&self, next: &Thread) {
        let timers = &self.slice.timers;
        if next.effective_priority().number() <= timers.background_priority() {
            timers.resume_background();
            self.set_alarm(self.timers.alarm());
        }
    }

    /// Sets the compare value to the alarm of the timer queue, or to that of another timer before it.
    #[inline(always)]
    pub fn set_alarm(&self, alarm: u64) {
        let due = self.slice.timers.first();
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

    /// Whether a timer outside the queue is due at `now`.
    #[inline(always)]
    pub(crate) fn is_unqueued_due(&self, now: u64) -> bool {
        let first = self.slice.timers.first();
        options::slice() != 0 && first != 0 && first <= now
    }

    /// Expires the timers that are due at `now`, those of the queue first. If that preempts the
    /// current thread, its slice ends when it resumes. Otherwise one other timer is expired at a
    /// time, so that interrupts are masked for one only.
    pub(crate) fn expire_all(&self, now: u64) {
        let timers = &self.slice.timers;
        if self.timers.alarm() <= now {
            timers.defer_background(now);
            let slice_is_due = timers.take_slice(now);
            self.expire_queue(now);
            if !self.scheduler.needs_reschedule() {
                self.resume_background(None);
                if slice_is_due {
                    self.expire_slice(now);
                }
            }
        } else if let Some(handler) = timers.take_background(now) {
            self.set_alarm(self.timers.alarm());
            handler();
        } else {
            timers.set_slice(0);
            self.expire_slice(now);
            self.set_alarm(self.timers.alarm());
        }
    }

    /// Ends the slice, unless the current one began later and has time left.
    fn expire_slice(&self, now: u64) {
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
    use core::sync::atomic::{AtomicUsize, Ordering};
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
        kernel.expire_all(99);
        assert!(!kernel.scheduler.needs_reschedule() && kernel.slice.is_armed());
        kernel.expire_all(100);
        assert!(kernel.scheduler.needs_reschedule() && !kernel.slice.is_armed());
        kernel.preempt();
        assert!(kernel.current().is(&peer) && kernel.slice.is_armed());
        peer.time_slice().enable(false);
        kernel.expire_all(100);
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
        assert_eq!(kernel.slice.timers.slice(), began + 100);
        kernel.yield_current();
        assert!(kernel.current().is(&short));
        assert_eq!(kernel.slice.timers.slice(), began + 10);
        // The end of a longer slice is found when the timer expires.
        kernel.yield_current();
        assert!(kernel.current().is(&long));
        assert_eq!(kernel.slice.timers.slice(), began + 10);
        kernel.expire_all(began + 10);
        assert!(!kernel.scheduler.needs_reschedule());
        assert_eq!(kernel.slice.timers.slice(), began + 1000);
    }
    #[test]
    fn background_work_waits_for_a_thread_that_is_released_with_it() {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let calls = || CALLS.load(Ordering::Relaxed);
        let (kernel, _) = kernel(true);
        let [process, urgent] = [5, 8].map(|number| thread(kernel, Priority::new(number)));
        process.wake(kernel);
        kernel.preempt();
        kernel.start_timer(urgent.timer(), 0);
        kernel.start_background(0, 6, || {
            CALLS.fetch_add(1, Ordering::Relaxed);
        });
        kernel.expire_all(1);
        kernel.preempt();
        assert!(kernel.current().is(&urgent) && calls() == 0);
        assert!(kernel.slice.timers.is_deferred());
        kernel.block();
        assert!(kernel.current().is(&process) && !kernel.slice.timers.is_deferred());
        kernel.expire_all(1);
        assert_eq!(calls(), 1);
        // A timer that wakes no thread, or one that is less urgent, does not defer it.
        kernel.start_timer(urgent.timer(), 0);
        kernel.start_background(0, 6, || {
            CALLS.fetch_add(1, Ordering::Relaxed);
        });
        kernel.cancel_timer(urgent.timer());
        kernel.expire_all(1);
        kernel.expire_all(1);
        assert_eq!(calls(), 2);
    }
}
