//! Time slices: round robin among threads of equal priority.
//!
//! A thread without a ready peer is not interrupted: the slice timer is armed only while a thread
//! of the same priority is ready, and a switch does not move a pending timer. If that timer expires
//! in the middle of a slice, it is set to the end of the slice. A preempted thread resumes with the
//! rest of its slice, as POSIX demands (IEEE 1003.1, 2.8.4, SCHED_RR). Without [`options::slice`]
//! the image contains nothing of this.

use super::Kernel;
use crate::thread::Thread;
use crate::time::Timer;
use core::cell::Cell;
use tenon_machine::analysis_notes as notes;
use tenon_machine::options;

/// The time slice of the thread that runs on a core.
pub(crate) struct SliceTimer {
    timer: Timer,
    /// The length of a slice in ticks.
    length: Cell<u64>,
    /// The start of the current slice, moved back by what the thread used before a preemption.
    began: Cell<u64>,
    /// The timer is pending.
    armed: Cell<bool>,
}

impl SliceTimer {
    /// A timer that is not started. All of it is zero.
    pub(crate) const fn new() -> Self {
        Self {
            timer: Timer::unset(),
            length: Cell::new(0),
            began: Cell::new(0),
            armed: Cell::new(false),
        }
    }
}

impl Kernel {
    /// Starts time slicing; the clock has started.
    pub(crate) fn start_slices(&self) {
        if options::slice() != 0 {
            let nanoseconds = options::slice() as u64 * 1_000;
            let length = self.clock().frequency().ticks(nanoseconds);
            self.slice.length.set(length);
            self.slice.began.set(self.clock().ticks());
            self.slice.timer.set_handler(expired);
        }
    }

    /// Saves what the running thread has used of its slice before a preemption.
    #[inline(always)]
    pub(crate) fn save_slice(&self, thread: &Thread) {
        if options::slice() != 0 {
            let now = self.clock().ticks();
            thread
                .time_slice()
                .set_used(now.saturating_sub(self.slice.began.get()));
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
            let now = self.clock().ticks();
            self.slice
                .began
                .set(now.saturating_sub(thread.time_slice().used()));
            self.arm_slice_timer();
        }
    }

    /// Arms the slice timer if the thread that became ready is a peer of the running one.
    #[inline(always)]
    pub fn update_slice_timer(&self) {
        if options::slice() != 0 {
            self.arm_slice_timer();
        }
    }

    /// Arms the timer for the end of the slice if a peer is ready.
    fn arm_slice_timer(&self) {
        let slice = &self.slice;
        if !slice.armed.get()
            && self.scheduler.has_peers()
            && self.current().time_slice().is_enabled()
        {
            slice.armed.set(true);
            // SAFETY: kernels are statics, so the timer lives for the whole program.
            let timer = unsafe { &*core::ptr::from_ref(&slice.timer) };
            self.start_timer(timer, slice.began.get() + slice.length.get());
        }
    }

    /// Ends the slice when the timer expires, unless the current slice began later and has time
    /// left.
    pub(crate) fn slice_expired(&self) {
        let slice = &self.slice;
        slice.armed.set(false);
        let over = slice.began.get() + slice.length.get() <= self.clock().ticks();
        if over && self.scheduler.has_peers() && self.current().time_slice().is_enabled() {
            slice.began.set(self.clock().ticks());
            self.scheduler.end_slice();
        } else {
            self.arm_slice_timer();
        }
    }
}

/// Handler of the slice timer.
fn expired() {
    notes::note_timer_handler();
    // SAFETY: timers expire in the timer interrupt, which comes after `boot` and masks interrupts.
    unsafe { Kernel::this() }.slice_expired();
}

#[cfg(test)]
mod tests {
    use crate::testing::{kernel, thread};
    use crate::thread::Priority;
    use core_list::Linked;

    #[test]
    fn only_peers_are_a_reason_to_time_a_turn() {
        let (kernel, _) = kernel(true);
        let [first, peer] = [5, 5].map(|number| thread(kernel, Priority::new(number)));
        let urgent = thread(kernel, Priority::new(6));
        for thread in [first, urgent] {
            thread.wake(kernel);
            kernel.preempt();
            assert!(!kernel.slice.armed.get());
        }
        // A peer of a thread that does not run is no reason either.
        peer.wake(kernel);
        assert!(!kernel.slice.armed.get());
        kernel.block();
        assert!(kernel.current().is(&first) && kernel.slice.armed.get());
        // On the host the clock stands still: a slice of length zero is over.
        kernel.slice.length.set(0);
        kernel.slice_expired();
        assert!(kernel.scheduler.needs_reschedule() && !kernel.slice.armed.get());
        kernel.preempt();
        assert!(kernel.current().is(&peer) && kernel.slice.armed.get());
        peer.time_slice().enable(false);
        kernel.slice_expired();
        assert!(!kernel.scheduler.needs_reschedule() && !kernel.slice.armed.get());
    }
}
