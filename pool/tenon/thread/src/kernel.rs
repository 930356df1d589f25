//! What one core knows: who is ready, what is due, who handles which interrupt.

use crate::assembly;
use crate::console::Console;
use crate::thread::Thread;
use crate::timer::Timer;
use core::cell::Cell;
use core_sched::Scheduler;
use core_timer::{Step, TimerQueue};
use hw_arch::El1;
use hw_clock::{Clock, Frequency};
use tenon_irq::{Interrupts, Line};

/// Timers that one interrupt expires or moves at most, so that interrupts stay masked for a bounded
/// time whatever is due; the alarm, still due, then interrupts at once again.
pub(crate) const STEPS: usize = 8;

/// State of one core: reached from that core alone, and only with interrupts masked.
pub struct PerCore<T>(T);

impl<T> PerCore<T> {
    /// Wraps what a core will own.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    pub(crate) const fn get(&self) -> &T {
        &self.0
    }
}

// SAFETY: what is wrapped is private to this crate, which reaches it through `Kernel::with` and from
// the vector, each on one core with its interrupts masked.
unsafe impl<T> Sync for PerCore<T> {}

/// The kernel of one core; TPIDR_EL1 points to it.
pub struct Kernel {
    pub(crate) scheduler: Scheduler<&'static Thread>,
    timers: &'static Timers,
    pub(crate) interrupts: Interrupts,
    pub(crate) clock: Cell<Clock<El1>>,
    /// The device tree this image was given as a guest.
    pub(crate) tree: Cell<Option<&'static [u8]>>,
    /// What the alarm is set for, the end of time if nothing is pending.
    alarm: Cell<u64>,
    pub(crate) console: Cell<Console>,
}

/// The timers of a core. Large and zero at first, so not inside [`Kernel`], which is neither.
pub type Timers = TimerQueue<&'static Timer>;

impl Kernel {
    /// The kernel of a core that has not started.
    pub const fn new<const LINES: usize>(
        lines: &'static PerCore<[Line; LINES]>,
        timers: &'static PerCore<Timers>,
        preemptive: bool,
    ) -> Self {
        // Nothing is timed before `boot` reads the frequency; one hertz stands for unknown.
        let Some(unknown) = Frequency::from_hertz(1) else {
            panic!("one is not zero")
        };
        Self {
            scheduler: Scheduler::new(preemptive),
            timers: timers.get(),
            interrupts: Interrupts::new(lines.get()),
            clock: Cell::new(Clock::with_frequency(unknown)),
            tree: Cell::new(None),
            alarm: Cell::new(u64::MAX),
            console: Cell::new(Console::None),
        }
    }

    /// This core's kernel.
    ///
    /// # Safety
    ///
    /// `boot` has run on this core, and interrupts are masked as long as the reference is used.
    #[cfg(target_arch = "aarch64")]
    pub(crate) unsafe fn this() -> &'static Self {
        let this = <El1 as hw_arch::ExceptionLevel>::read_tpidr() as *const Self;
        // SAFETY: `boot` put the address of a static there.
        unsafe { &*this }
    }

    #[cfg(not(target_arch = "aarch64"))]
    pub(crate) unsafe fn this() -> &'static Self {
        unreachable!("Tenon does not run on the host: test what is below it")
    }

    /// Calls `action` with interrupts masked; if somebody more urgent became ready in it, they run
    /// before this returns. Not to be nested: the inner call would let others run.
    #[inline(always)]
    pub(crate) fn with<R>(action: impl FnOnce(&'static Self) -> R) -> R {
        let mask = assembly::mask();
        // SAFETY: whoever calls runs in a thread or in a handler, which exist since `boot`;
        // interrupts are masked until the end.
        let this = unsafe { Self::this() };
        let result = action(this);
        if this.scheduler.is_needed() && !assembly::is_masked(mask) {
            this.switch(false);
        }
        // SAFETY: every operation on the queues is complete.
        unsafe { assembly::unmask(mask) };
        result
    }

    /// Calls `action` with interrupts masked; it makes nobody ready.
    #[inline(always)]
    pub(crate) fn aside<R>(action: impl FnOnce(&'static Self) -> R) -> R {
        // SAFETY: as in `with`.
        Self::masked(|| action(unsafe { Self::this() }))
    }

    /// Calls `action`, which has nothing to do with the kernel, with interrupts masked.
    #[inline(always)]
    pub(crate) fn masked<R>(action: impl FnOnce() -> R) -> R {
        let mask = assembly::mask();
        let result = action();
        // SAFETY: as in `with`.
        unsafe { assembly::unmask(mask) };
        result
    }

    /// Calls `action`, which may wait: in a thread, outside of any other call. A handler has no
    /// context of its own to come back to, so waiting in one is a mistake of the program.
    #[inline(always)]
    pub(crate) fn waiting<R>(action: impl FnOnce(&'static Self) -> R) -> R {
        assert!(
            !assembly::is_masked(assembly::mask()),
            "an interrupt handler must not wait"
        );
        // SAFETY: as in `with`.
        let result = action(unsafe { Self::this() });
        // SAFETY: they were not masked before, and every operation on the queues is complete.
        unsafe { hw_arch::cpu::unmask_interrupts() };
        result
    }

    /// The clock; it does not change after `boot`, so that nothing needs masking.
    #[inline(always)]
    pub(crate) fn clock() -> Clock<El1> {
        // SAFETY: whoever calls runs since `boot`; only what never changes is read.
        unsafe { Self::this() }.clock.get()
    }

    /// The device tree of this guest; it does not change after `boot` either.
    pub(crate) fn tree() -> Option<&'static [u8]> {
        // SAFETY: as in `clock`.
        unsafe { Self::this() }.tree.get()
    }

    /// The thread that runs.
    #[inline(always)]
    pub(crate) fn current(&self) -> &'static Thread {
        match self.scheduler.current() {
            Some(thread) => thread,
            // Unreachable after `boot`, which starts the scheduler before the first thread.
            None => hw_arch::cpu::park(),
        }
    }

    /// Lets the scheduler decide, and switches if it says so; returns when this thread's turn comes
    /// again. Interrupts are masked, before and after.
    #[inline(always)]
    pub(crate) fn switch(&self, yielding: bool) {
        let previous = self.current();
        let next = if yielding {
            self.scheduler.give_way()
        } else {
            self.scheduler.next(false)
        };
        if let Some(next) = next {
            // SAFETY: interrupts are masked, as everywhere here; `next` is ready and not the
            // current one, so it waits in `switch` or has not begun.
            unsafe {
                assembly::switch(
                    previous.stack_pointer().as_ptr(),
                    next.stack_pointer().get(),
                )
            };
        }
    }

    /// Blocks the current thread until somebody wakes it.
    #[inline(always)]
    pub(crate) fn block(&self) {
        self.scheduler.block(self.current());
        self.switch(false);
    }

    /// Gives way to the others of the current thread's priority.
    #[inline(always)]
    pub(crate) fn give_way(&self) {
        self.switch(true);
    }

    /// Starts a timer at a counter value.
    #[inline(always)]
    pub(crate) fn start_timer(&self, timer: &'static Timer, ticks: u64) {
        self.timers.start(timer, ticks);
        if ticks < self.alarm.get() {
            self.set_alarm(ticks);
        }
    }

    /// Stops a timer; returns whether it was pending. The alarm stays: most timers that are stopped
    /// are timeouts far ahead, and one that was next costs an interrupt that finds nothing due.
    #[inline(always)]
    pub(crate) fn cancel_timer(&self, timer: &'static Timer) -> bool {
        self.timers.cancel(timer)
    }

    #[inline(always)]
    fn set_alarm(&self, ticks: u64) {
        self.alarm.set(ticks);
        self.clock.get().move_alarm(ticks);
    }

    /// Expires what is due: the timer interrupt's work.
    #[inline(always)]
    pub(crate) fn expire(&self) {
        let now = self.clock.get().ticks();
        for _ in 0..STEPS {
            match self.timers.expire(now) {
                Step::Expired(timer) => timer.fire(self),
                Step::Moved => {}
                // The end of time is no alarm.
                Step::Idle(next) => return self.set_alarm(next.unwrap_or(u64::MAX)),
            }
        }
        // There may be more: the alarm is still due and interrupts at once again.
    }
}

#[cfg(target_arch = "aarch64")]
/// Where the vector finds the table of handlers, from the address in TPIDR_EL1 on.
pub(crate) const TABLE: usize = core::mem::offset_of!(Kernel, interrupts) + Interrupts::TABLE;
#[cfg(target_arch = "aarch64")]
/// Where it sees whether the interrupted thread is to be preempted: a byte.
pub(crate) const NEEDED: usize =
    core::mem::offset_of!(Kernel, scheduler) + Scheduler::<&'static Thread>::NEEDED;

/// Deals with what the vector found no handler for.
#[cfg_attr(
    not(target_arch = "aarch64"),
    expect(dead_code, reason = "for the vectors")
)]
pub(crate) extern "C" fn refuse(intid: u32) {
    // SAFETY: the vectors are in place since `boot`; an exception masks interrupts.
    unsafe { Kernel::this() }.interrupts.refuse(intid);
}

/// Preempts the current thread: the vector's second half, on the thread's own stack.
#[cfg_attr(
    not(target_arch = "aarch64"),
    expect(dead_code, reason = "for the vectors")
)]
pub(crate) extern "C" fn reschedule() {
    // SAFETY: as in `refuse`.
    let this = unsafe { Kernel::this() };
    this.switch(false);
}

/// The handler of the timer interrupt.
pub(crate) extern "C" fn timer_interrupt(_: u32) {
    // SAFETY: handlers are called by the vector alone.
    let this = unsafe { Kernel::this() };
    this.expire();
}
