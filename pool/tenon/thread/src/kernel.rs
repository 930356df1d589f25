//! What one core knows: who is ready, what is due, who handles which interrupt.

mod timers;
mod vector;

pub(crate) use vector::timer_interrupt;
#[cfg(target_arch = "aarch64")]
pub(crate) use vector::{refuse, reschedule};

use crate::assembly;
use crate::assertions;
use crate::cores::Core;
use crate::options;
use crate::server::ServerState;
use crate::sites;
use crate::slice::Slice;
use crate::thread::Thread;
use crate::timekeeping::TimerStore;
use core::cell::Cell;
use core_guest::Guest;
use core_sched::{FixedPriorityScheduler, Reason};
use core_trace::{Event, Writer};
use hw_arch::El1;
use hw_clock::Clock;
use tenon_irq::{Drivers, Interrupts};

/// Timers that one interrupt expires or moves at most, so that interrupts stay masked for a bounded
/// time whatever is due; the alarm, still due, then interrupts at once again. One whose slot is to
/// be looked after takes twice what one of a circle of peers takes, and counts as two.
pub(crate) const EXPIRY_STEPS: usize = 8;

/// The drivers of interrupt controllers that this image has.
#[derive(Debug)]
pub struct Linked;

impl Drivers for Linked {
    #[inline(always)]
    fn gicv2() -> bool {
        options::gicv2()
    }

    #[inline(always)]
    fn gicv3() -> bool {
        options::gicv3()
    }
}

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

// SAFETY: what is wrapped is private to this crate, which reaches it through `Kernel::with_reschedule` and from
// the vector, each on one core with its interrupts masked.
unsafe impl<T> Sync for PerCore<T> {}

/// The kernel of one core; TPIDR_EL1 points to it.
#[repr(C)] // what the vector loads in pairs first, what is large last
pub struct Kernel {
    pub(crate) interrupts: Interrupts<Linked>,
    /// What happens here, for a timeline.
    pub(crate) trace: Writer,
    pub(crate) scheduler: FixedPriorityScheduler<&'static Thread>,
    /// Whether threads begin with a lock against preemption.
    pub(crate) cooperative: Cell<bool>,
    clock: Cell<Option<Clock<El1>>>,
    /// What this image was told as a guest.
    pub(crate) guest: Cell<Option<Guest<'static>>>,
    /// Threads made so far.
    threads: Cell<u64>,
    /// What the cores share, in an image for several.
    shared: Cell<Option<&'static [Core]>>,
    /// Which of them this is.
    index: Cell<usize>,
    /// The turn of the thread that runs.
    pub(crate) slice: Slice,
    /// The timers of the core.
    pub(crate) timers: TimerStore,
    /// Shares of the core.
    pub(crate) server_state: ServerState,
}

impl Default for Kernel {
    fn default() -> Self {
        Self::new()
    }
}

impl Kernel {
    /// The kernel of a core that has not started. All of it is zero, so that it takes no room in
    /// the image.
    pub const fn new() -> Self {
        Self {
            scheduler: FixedPriorityScheduler::new(),
            cooperative: Cell::new(false),
            interrupts: Interrupts::new(),
            clock: Cell::new(None),
            guest: Cell::new(None),
            threads: Cell::new(0),
            trace: Writer::new(),
            shared: Cell::new(None),
            index: Cell::new(0),
            slice: Slice::new(),
            timers: TimerStore::unset(),
            server_state: ServerState::new(),
        }
    }

    /// Lets it be the kernel of core `index`.
    pub(crate) fn set_core(&'static self, shared: &'static [Core], index: usize) {
        self.shared.set(Some(shared));
        self.index.set(index);
        shared
            .get(index)
            .inspect(|core| core.set_timers(self.timers.heap()));
    }

    /// What the cores share; nothing in an image for one.
    #[inline(always)]
    pub(crate) fn cores(&self) -> &'static [Core] {
        self.shared.get().unwrap_or_default()
    }

    /// The number of this core.
    #[inline(always)]
    pub(crate) fn index(&self) -> usize {
        if options::cores() == 1 {
            return 0;
        }
        self.index.get()
    }

    /// Lets time begin.
    pub(crate) fn start_clock(&self, clock: Clock<El1>) {
        self.clock.set(Some(clock));
        clock.set_alarm(self.timers.begin(clock));
        self.start_slices();
        self.start_servers();
    }

    /// The clock.
    #[inline(always)]
    pub(crate) fn clock(&self) -> Clock<El1> {
        let clock = self.clock.get();
        // SAFETY: `start_clock` is called before there is a thread or a handler to read it.
        unsafe { clock.unwrap_unchecked() }
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
    pub(crate) fn with_reschedule<R>(action: impl FnOnce(&'static Self) -> R) -> R {
        Self::with_reschedule_from(assembly::mask(), action)
    }

    /// [`with_reschedule`](Kernel::with_reschedule), for who has masked interrupts already.
    #[inline(always)]
    pub(crate) fn with_reschedule_from<R>(mask: u64, action: impl FnOnce(&'static Self) -> R) -> R {
        // SAFETY: whoever calls runs in a thread or in a handler, which exist since `boot`;
        // interrupts are masked until the end.
        let this = unsafe { Self::this() };
        let result = action(this);
        if this.scheduler.needs_reschedule() && !assembly::is_bound(mask) {
            this.preempt();
        }
        // SAFETY: every operation on the queues is complete.
        unsafe { assembly::unmask(mask) };
        result
    }

    /// Calls `action` with interrupts masked; it makes nobody ready.
    #[inline(always)]
    pub(crate) fn with_irqs_masked<R>(action: impl FnOnce(&'static Self) -> R) -> R {
        // SAFETY: as in `with`.
        Self::without_irqs(|| action(unsafe { Self::this() }))
    }

    /// Calls `action`, which has nothing to do with the kernel, with interrupts masked.
    #[inline(always)]
    pub(crate) fn without_irqs<R>(action: impl FnOnce() -> R) -> R {
        let mask = assembly::mask();
        let result = action();
        // SAFETY: as in `with`.
        unsafe { assembly::unmask(mask) };
        result
    }

    /// Calls `action`, which may wait: in a thread, outside of any other call. A handler has no
    /// context of its own to come back to, so waiting in one is a mistake of the program: calls that
    /// lead here from a handler do not build, and what no build can see, a call through a pointer,
    /// ends here.
    #[inline(always)]
    pub(crate) fn with_blocking<R>(action: impl FnOnce(&'static Self) -> R) -> R {
        Self::with_blocking_from(assembly::mask(), action)
    }

    /// [`with_blocking`](Kernel::with_blocking), for who has masked interrupts already.
    #[inline(always)]
    pub(crate) fn with_blocking_from<R>(mask: u64, action: impl FnOnce(&'static Self) -> R) -> R {
        sites::note_blocking();
        assert!(
            !assembly::is_bound(mask),
            "an interrupt handler must not wait"
        );
        // SAFETY: as in `with`.
        let result = action(unsafe { Self::this() });
        // SAFETY: they were not masked before, and every operation on the queues is complete.
        unsafe { hw_arch::cpu::unmask_interrupts() };
        result
    }

    /// The clock of this core; it does not change after `boot`, so that nothing needs masking.
    #[inline(always)]
    pub(crate) fn local_clock() -> Clock<El1> {
        // SAFETY: whoever calls runs since `boot`; only what never changes is read.
        unsafe { Self::this() }.clock()
    }

    /// What this guest was told; it does not change after `boot` either.
    pub(crate) fn guest() -> Option<Guest<'static>> {
        // SAFETY: as in `local_clock`.
        unsafe { Self::this() }.guest.get()
    }

    /// The thread that runs.
    #[inline(always)]
    pub(crate) fn current(&self) -> &'static Thread {
        let current = self.scheduler.current();
        // SAFETY: `boot` starts the scheduler, with a current thread, before anything runs that
        // asks; from then on one replaces another.
        unsafe { current.unwrap_unchecked() }
    }

    /// Goes on in the context of `next`, if there is one; returns when this thread's turn comes
    /// again. Interrupts are masked, before and after.
    #[inline(always)]
    fn switch(&self, previous: &'static Thread, next: Option<&'static Thread>) {
        self.switch_server(next.unwrap_or(previous));
        if let Some(next) = next {
            assertions::switches(previous, next);
            self.record(Event::Run, next);
            if options::cores() > 1 {
                self.leave(previous, next);
            }
            self.start_slice(next);
            if options::remote() {
                previous.suspend_remote_work();
                next.resume_remote_work();
            }
            if options::thread_pointer() {
                assembly::set_thread_pointer(next.pointer());
            }
            // SAFETY: interrupts are masked, as everywhere here; `next` is ready and not the
            // current one, so it waits in `switch` or has not begun.
            unsafe {
                assembly::switch(
                    previous.stack_pointer().as_ptr(),
                    next.stack_pointer().get(),
                )
            };
            if options::cores() > 1 {
                self.this_core().finish_switch();
            }
        }
    }

    /// The kernel of the core this is on now: after a wait, a thread may be on another one.
    #[inline(always)]
    pub(crate) fn this_core(&self) -> &Self {
        if options::cores() == 1 {
            return self;
        }
        // SAFETY: who has a kernel has interrupts masked, since `boot`.
        unsafe { Self::this() }
    }

    /// Lets somebody more urgent run, if there is anybody and the current thread may be preempted.
    #[inline(always)]
    pub(crate) fn preempt(&self) {
        let previous = self.current();
        self.update_budgets();
        self.save_slice(previous);
        if options::call_injection() {
            previous.preempted().set(true);
        }
        self.switch(previous, self.scheduler.next(Reason::Preemption));
        if options::call_injection() {
            previous.preempted().set(false);
        }
    }

    /// A number for a new thread, never zero, that no other one bore before.
    pub(crate) fn number(&self) -> u64 {
        let number = self.threads.get() + 1;
        self.threads.set(number);
        if options::cores() > 1 {
            // Each core has its own; the largest number of cores is 4.
            return number << 2 | self.index() as u64;
        }
        number
    }

    /// Blocks the current thread until somebody wakes it.
    #[inline(always)]
    pub(crate) fn block(&self) {
        self.scheduler.block(self.current());
        self.switch_away();
    }

    /// Goes on with somebody else, as the current thread has left the run queue.
    #[inline(always)]
    pub(crate) fn switch_away(&self) {
        let previous = self.current();
        self.update_budgets();
        self.reset_slice(previous);
        self.switch(previous, self.scheduler.next(Reason::Blocking));
    }

    /// Gives way to the others of the current thread's priority.
    #[inline(always)]
    pub(crate) fn yield_current(&self) {
        let previous = self.current();
        self.update_budgets();
        self.yield_background(previous);
        self.reset_slice(previous);
        self.switch(previous, self.scheduler.yield_current());
    }
}

#[cfg(target_arch = "aarch64")]
/// Where the vector finds the table of handlers, from the address in TPIDR_EL1 on.
pub(crate) const TABLE: usize = core::mem::offset_of!(Kernel, interrupts) + tenon_irq::TABLE;
#[cfg(target_arch = "aarch64")]
/// Where it finds the address of a GICv2's CPU interface.
pub(crate) const INTERFACE: usize =
    core::mem::offset_of!(Kernel, interrupts) + tenon_irq::INTERFACE;
#[cfg(target_arch = "aarch64")]
/// Where it sees whether the interrupted thread is to be preempted: a word, zero if not.
pub(crate) const CANDIDATE: usize =
    core::mem::offset_of!(Kernel, scheduler) + FixedPriorityScheduler::<&'static Thread>::CANDIDATE;
