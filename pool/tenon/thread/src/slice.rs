//! Round robin: threads of one priority take turns of bounded length.
//!
//! A thread that has no peer is never interrupted for it: the end of a turn is timed only while
//! somebody of the same priority is ready, and a switch does not move a timer that is pending
//! already. If it expires in the middle of somebody's turn, it is set to the end of that. A thread
//! that is preempted goes on with what was left of its turn, as POSIX has it (IEEE 1003.1, 2.8.4,
//! SCHED_RR). Without [`options::slice`] nothing of this is in the image.

use crate::kernel::Kernel;
use crate::options;
use crate::sites;
use crate::thread::Thread;
use crate::timer::Timer;
use core::cell::Cell;

/// The turn of who runs on a core.
pub(crate) struct Slice {
    timer: Timer,
    /// A whole turn in ticks.
    length: Cell<u64>,
    /// When the present one began, or would have, had it not been interrupted by preemptions.
    began: Cell<u64>,
    /// The timer is pending.
    timed: Cell<bool>,
}

impl Slice {
    /// No turn, all of it zero.
    pub(crate) const fn new() -> Self {
        Self {
            timer: Timer::unset(),
            length: Cell::new(0),
            began: Cell::new(0),
            timed: Cell::new(false),
        }
    }
}

/// A thread's part of it.
pub(crate) struct TimeSlice {
    /// Ticks of its turn that it had before it was preempted.
    used: Cell<u64>,
    /// It takes turns with its peers.
    taken: Cell<bool>,
}

impl TimeSlice {
    pub(crate) const fn new() -> Self {
        Self {
            used: Cell::new(0),
            taken: Cell::new(false),
        }
    }

    /// For a thread to begin.
    pub(crate) fn begin(&self) {
        self.used.set(0);
        self.taken.set(true);
    }

    /// Whether it takes turns from here on; for a thread that does not run.
    pub(crate) fn take(&self, taken: bool) {
        self.taken.set(taken);
    }
}

impl Thread {
    /// Whether it lets its peers run after each time slice, as threads do at first in an image with
    /// slices, or runs until it waits or yields. In other images it makes no difference.
    pub fn set_slicing(&'static self, slicing: bool) {
        Kernel::with_reschedule(|kernel| {
            self.time_slice().taken.set(slicing);
            kernel.update_slice_timer();
        });
    }
}

impl Kernel {
    /// Lets turns end from here on; the clock has started.
    pub(crate) fn start_slices(&self) {
        if options::slice() != 0 {
            let nanoseconds = options::slice() as u64 * 1_000;
            let length = self.clock().frequency().ticks(nanoseconds);
            self.slice.length.set(length);
            self.slice.began.set(self.clock().ticks());
            self.slice.timer.set_handler(expired);
        }
    }

    /// A thread that runs stops, and may have more of its turn to come.
    #[inline(always)]
    pub(crate) fn save_slice(&self, thread: &Thread) {
        if options::slice() != 0 {
            let now = self.clock().ticks();
            thread
                .time_slice()
                .used
                .set(now.saturating_sub(self.slice.began.get()));
        }
    }

    /// A thread that runs stops of its own accord: its next turn is a whole one.
    #[inline(always)]
    pub(crate) fn reset_slice(&self, thread: &Thread) {
        if options::slice() != 0 {
            thread.time_slice().used.set(0);
        }
    }

    /// A thread begins to run, or goes on.
    #[inline(always)]
    pub(crate) fn start_slice(&self, thread: &Thread) {
        if options::slice() != 0 {
            let now = self.clock().ticks();
            self.slice
                .began
                .set(now.saturating_sub(thread.time_slice().used.get()));
            self.arm_slice_timer();
        }
    }

    /// Somebody became ready, maybe a peer of the thread that runs.
    #[inline(always)]
    pub(crate) fn update_slice_timer(&self) {
        if options::slice() != 0 {
            self.arm_slice_timer();
        }
    }

    /// Sees to it that the turn ends if somebody waits for that.
    fn arm_slice_timer(&self) {
        let slice = &self.slice;
        if !slice.timed.get()
            && self.scheduler.has_peers()
            && self.current().time_slice().taken.get()
        {
            slice.timed.set(true);
            // SAFETY: kernels are statics.
            let timer = unsafe { &*core::ptr::from_ref(&slice.timer) };
            self.start_timer(timer, slice.began.get() + slice.length.get());
        }
    }

    /// The timer expired: the turn ends, unless it is a later one that has time left.
    pub(crate) fn slice_expired(&self) {
        let slice = &self.slice;
        slice.timed.set(false);
        let over = slice.began.get() + slice.length.get() <= self.clock().ticks();
        if over && self.scheduler.has_peers() && self.current().time_slice().taken.get() {
            slice.began.set(self.clock().ticks());
            self.scheduler.end_slice();
        } else {
            self.arm_slice_timer();
        }
    }
}

/// The handler of the timer.
fn expired() {
    sites::note_timer_handler();
    // SAFETY: timers expire since `boot`, with interrupts masked.
    unsafe { Kernel::this() }.slice_expired();
}

#[cfg(test)]
mod tests {
    use crate::tests::{kernel, thread};
    use crate::thread::Priority;
    use core_list::Linked;

    #[test]
    fn only_peers_are_a_reason_to_time_a_turn() {
        let (kernel, _) = kernel();
        let [first, peer] = [5, 5].map(|number| thread(kernel, Priority::new(number)));
        let urgent = thread(kernel, Priority::new(6));
        for thread in [first, urgent] {
            thread.wake(kernel);
            kernel.preempt();
            assert!(!kernel.slice.timed.get());
        }
        // A peer of somebody who does not run is none either.
        peer.wake(kernel);
        assert!(!kernel.slice.timed.get());
        kernel.block();
        assert!(kernel.current().is(&first) && kernel.slice.timed.get());
        // On the host the clock stands: a turn is over if it has no length.
        kernel.slice.length.set(0);
        kernel.slice_expired();
        assert!(kernel.scheduler.needs_reschedule() && !kernel.slice.timed.get());
        kernel.preempt();
        assert!(kernel.current().is(&peer) && kernel.slice.timed.get());
        peer.time_slice().taken.set(false);
        kernel.slice_expired();
        assert!(!kernel.scheduler.needs_reschedule() && !kernel.slice.timed.get());
    }
}
