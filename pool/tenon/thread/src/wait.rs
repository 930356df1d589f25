//! What synchronisation is made of: state behind masked interrupts, and queues of waiting threads.
//!
//! For libraries that offer semaphores, queues and the like; applications use those. An object keeps
//! its state, and the queues of who waits for it, in a [`Guarded`]: a fast path enters it by
//! [`masked`](Guarded::masked), who wakes somebody by [`waking`](Guarded::waking), who has to wait by
//! [`waiting`](Guarded::waiting), and by [`try_or_wake`](Guarded::try_or_wake) and
//! [`try_or_wait`](Guarded::try_or_wait) who finds out inside. What each of them may do is what its
//! token offers, so that a wait on the fast path does not build:
//!
//! ```compile_fail
//! # use tenon_thread::wait::{Guarded, WaitQueue};
//! # static QUEUE: Guarded<WaitQueue> = Guarded::new(WaitQueue::new());
//! QUEUE.masked(|_, masked| masked.wait(|queue| queue, None));
//! ```
//!
//! Nobody enters one object inside another. Guarantees: waking is O(1). Waiting takes one step for
//! each less urgent thread that waits already; among equals it is first come, first served.

mod condvar;
mod mutex;
mod object_lock;
mod ownership;

pub use condvar::RawCondvar;
pub use mutex::{Acquired, MutexError, Protocol, RawMutex, Robustness};
pub(crate) use object_lock::{ObjectLock, PI_CHAIN_LOCK};
pub(crate) use ownership::pi_used;

use self::object_lock::Guard;
use crate::assembly;
use crate::kernel::Kernel;
use crate::options;
use crate::thread::{Priority, Thread};
use crate::time::Instant;
use core::marker::PhantomData;
use core::ops::Deref;
use core_list::List;
use core_trace::Event;

/// Interrupts are masked, on this core, as long as this lives; so it stays on this core.
pub struct Masked(PhantomData<*const ()>);

impl Masked {
    const NOW: Self = Self(PhantomData);

    /// This core's kernel, looked up by who needs it: a fast path does not.
    #[inline(always)]
    pub(crate) fn kernel(&self) -> &'static Kernel {
        // SAFETY: made in a thread or a handler, which exist since `boot`; interrupts are masked
        // while this lives.
        unsafe { Kernel::this() }
    }

    /// Records an event about an object, for a timeline.
    #[inline(always)]
    pub(crate) fn record<T>(&self, event: Event, object: &T) {
        if options::trace() {
            self.kernel().record(event, object);
        }
    }

    /// The thread that runs, or that a handler interrupted.
    #[inline(always)]
    pub fn current(&self) -> &'static Thread {
        self.kernel().current()
    }
}

/// As [`Masked`]; and whoever is woken meanwhile runs in time.
pub struct Waking(Masked);

impl Waking {
    const NOW: Self = Self(Masked::NOW);
}

impl Deref for Waking {
    type Target = Masked;

    #[inline(always)]
    fn deref(&self) -> &Masked {
        &self.0
    }
}

/// As [`Masked`], in a thread that entered `object` and may wait there.
pub struct Waiting<T: 'static> {
    object: &'static Guarded<T>,
    guard: Guard<'static>,
    masked: Masked,
}

impl<T> Waiting<T> {
    /// Waits in a queue of the object for its turn, at the latest until `deadline`. Meanwhile others
    /// enter the object: what was seen of it is the past.
    #[inline(always)]
    pub fn wait(
        &self,
        queue: impl for<'a> FnOnce(&'a T) -> &'a WaitQueue,
        deadline: Option<Instant>,
    ) -> Result<(), TimedOut> {
        queue(&self.object.state).wait_in(self.kernel(), deadline, &self.guard)
    }

    /// As [`wait`](Waiting::wait), with a word for whoever gives the turn to read, by
    /// [`wake_each`](WaitQueue::wake_each), and to change; returns what became of it.
    #[inline(always)]
    pub fn wait_with(
        &self,
        queue: impl for<'a> FnOnce(&'a T) -> &'a WaitQueue,
        deadline: Option<Instant>,
        wait_value: WaitValue,
    ) -> Result<WaitValue, TimedOut> {
        let thread = self.kernel().current();
        thread.wait_value().set(wait_value);
        self.wait(queue, deadline)?;
        Ok(thread.wait_value().get())
    }

    /// Ends the thread after an `action`, whoever is woken in which finds it ended.
    pub fn end(&self, action: impl FnOnce(&Waking)) -> ! {
        action(&Waking::NOW);
        self.current().end(self.kernel());
        hw_arch::cpu::park()
    }
}

impl<T> Deref for Waiting<T> {
    type Target = Masked;

    #[inline(always)]
    fn deref(&self) -> &Masked {
        &self.masked
    }
}

/// Interrupts are masked and an object is entered, for what goes on out of line; the mask was that.
struct Locked(u64);

/// State that one core at a time reaches, with interrupts masked; all of it is cells.
#[derive(Debug, Default)]
pub struct Guarded<T> {
    gate: ObjectLock,
    state: T,
}

impl<T> Guarded<T> {
    /// Guards `state`.
    pub const fn new(state: T) -> Self {
        Self {
            gate: ObjectLock::new(),
            state,
        }
    }

    /// The state, for who has entered already, as `kernel` proves.
    #[inline(always)]
    pub(crate) fn inside<'a>(&'a self, _kernel: &Kernel) -> &'a T {
        &self.state
    }

    /// Its gate, for who knows that it is masked.
    #[inline(always)]
    pub(crate) fn lock(&self) -> &ObjectLock {
        &self.gate
    }

    /// Enters for an `action` that wakes nobody and does not wait.
    #[inline(always)]
    pub fn masked<R>(&self, action: impl FnOnce(&T, &Masked) -> R) -> R {
        Kernel::without_irqs(|| self.gate.locked(|| action(&self.state, &Masked::NOW)))
    }

    /// Enters for an `action` that may wake: somebody more urgent runs before this returns, or at
    /// the end of the interrupt handler this is called in.
    #[inline(always)]
    pub fn waking<R>(&self, action: impl FnOnce(&T, &Waking) -> R) -> R {
        Kernel::with_reschedule(|_| self.gate.locked(|| action(&self.state, &Waking::NOW)))
    }

    /// Enters for an `attempt` that wakes nobody and does not wait; if it comes to nothing, for an
    /// `action` as in [`waking`](Guarded::waking). Nobody enters in between.
    #[inline(always)]
    pub fn try_or_wake<R>(
        &self,
        attempt: impl FnOnce(&T, &Masked) -> Option<R>,
        action: impl FnOnce(&T, &Waking) -> R,
    ) -> R {
        self.attempt(attempt)
            .unwrap_or_else(|Locked(mask)| self.wake_slow(mask, action))
    }

    #[cold]
    #[inline(never)]
    fn wake_slow<R>(&self, mask: u64, action: impl FnOnce(&T, &Waking) -> R) -> R {
        Kernel::with_reschedule_from(mask, |_| {
            // SAFETY: the attempt went on into this.
            let _guard = unsafe { self.gate.adopt_guard() };
            action(&self.state, &Waking::NOW)
        })
    }

    /// Enters for an `attempt` that wakes nobody and does not wait; if it comes to nothing, for an
    /// `action` as in [`waiting`](Guarded::waiting). Nobody enters in between.
    #[inline(always)]
    pub fn try_or_wait<R>(
        &'static self,
        attempt: impl FnOnce(&T, &Masked) -> Option<R>,
        action: impl FnOnce(&T, &Waiting<T>) -> R,
    ) -> R {
        self.attempt(attempt)
            .unwrap_or_else(|Locked(mask)| self.wait_slow(mask, action))
    }

    /// Enters for an `attempt`, and stays within if it comes to nothing.
    #[inline(always)]
    fn attempt<R>(&self, attempt: impl FnOnce(&T, &Masked) -> Option<R>) -> Result<R, Locked> {
        let mask = assembly::mask();
        let guard = self.gate.lock();
        let Some(result) = attempt(&self.state, &Masked::NOW) else {
            guard.leak();
            return Err(Locked(mask));
        };
        drop(guard);
        // SAFETY: the attempt is over.
        unsafe { assembly::unmask(mask) };
        Ok(result)
    }

    #[cold]
    #[inline(never)]
    fn wait_slow<R>(&'static self, mask: u64, action: impl FnOnce(&T, &Waiting<T>) -> R) -> R {
        Kernel::with_blocking_from(mask, |_| {
            let waiting = Waiting {
                object: self,
                // SAFETY: as above.
                guard: unsafe { self.gate.adopt_guard() },
                masked: Masked::NOW,
            };
            action(&self.state, &waiting)
        })
    }

    /// Enters for an `action` that may wait; an interrupt handler that calls this is ended with a
    /// message.
    #[inline(always)]
    pub fn waiting<R>(&'static self, action: impl FnOnce(&T, &Waiting<T>) -> R) -> R {
        Kernel::with_blocking(|_| {
            let waiting = Waiting {
                object: self,
                guard: self.gate.lock(),
                masked: Masked::NOW,
            };
            action(&self.state, &waiting)
        })
    }
}

// SAFETY: the state is reached with interrupts masked, on the only core or within the gate; no action
// gets a reference that outlives it, and `T: Send` as different threads reach it.
unsafe impl<T: Send> Sync for Guarded<T> {}

/// The time was over before the turn came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedOut;

/// A word that who waits and who gives the turn exchange; what it means is up to their object.
pub type WaitValue = *const ();

/// Threads that wait for their turn, the most urgent first.
#[derive(Default)]
pub struct WaitQueue(List<&'static Thread>);

// SAFETY: it is not `Sync`, so that threads reach one together inside a `Guarded` only: one core at a
// time, with interrupts masked.
unsafe impl Send for WaitQueue {}

impl WaitQueue {
    /// A queue in which nobody waits.
    pub const fn new() -> Self {
        Self(List::new())
    }

    /// Whether nobody waits.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline(always)]
    pub(crate) fn wait_in(
        &'static self,
        kernel: &Kernel,
        deadline: Option<Instant>,
        guard: &Guard<'static>,
    ) -> Result<(), TimedOut> {
        let thread = kernel.current();
        if !kernel.limit_wait(thread, deadline) {
            return Err(TimedOut);
        }
        // It leaves the run queue first: it is in one list at a time.
        kernel.scheduler.block(thread);
        self.enqueue(thread);
        thread.set_queue_lock(Some(guard.object_lock()), false);
        guard.release();
        thread.wait_in_queue(kernel);
        guard.reacquire();
        thread.set_queue_lock(None, false);
        if thread.take_wait_timed_out() {
            return Err(TimedOut);
        }
        Ok(())
    }

    /// Gives the first one its turn and returns it.
    #[inline(always)]
    pub fn wake(&self, waking: &Waking) -> Option<&'static Thread> {
        self.wake_in(waking.kernel())
    }

    /// Gives the first one its turn and this note; returns whether there was anybody.
    #[inline(always)]
    pub fn wake_with_value(&self, waking: &Waking, wait_value: WaitValue) -> bool {
        let woken = self.wake(waking);
        woken
            .inspect(|thread| thread.wait_value().set(wait_value))
            .is_some()
    }

    /// Gives their turn to those whose note has an `answer`, which they get, the most urgent first;
    /// asks it of each once.
    pub fn wake_each(
        &self,
        waking: &Waking,
        mut answer: impl FnMut(WaitValue) -> Option<WaitValue>,
    ) {
        let mut next = self.0.first();
        while let Some(thread) = next {
            // Whoever is woken is in the run queue next.
            next = self.0.after(thread);
            if let Some(wait_value) = answer(thread.wait_value().get()) {
                thread.wait_value().set(wait_value);
                self.0.remove(thread);
                Self::end_wait(waking.kernel(), thread);
                thread.wake(waking.kernel());
            }
        }
    }

    #[inline(always)]
    pub(crate) fn wake_in(&self, kernel: &Kernel) -> Option<&'static Thread> {
        let thread = self.pop(kernel)?;
        thread.wake(kernel);
        Some(thread)
    }

    /// Takes the first one out; it waits for nothing from here on, but is not ready yet.
    #[inline(always)]
    pub(crate) fn pop(&self, kernel: &Kernel) -> Option<&'static Thread> {
        let thread = self.0.pop()?;
        Self::end_wait(kernel, thread);
        Some(thread)
    }

    #[inline(always)]
    fn end_wait(kernel: &Kernel, thread: &'static Thread) {
        thread.queue().set(None);
        // Its own core stops the timer when it hears of this.
        if kernel.is_home_core_of(thread) {
            kernel.cancel_timer(thread.timer());
        }
    }

    /// Puts in a thread that is in no list.
    #[inline(always)]
    pub(crate) fn enqueue(&'static self, thread: &'static Thread) {
        thread.queue().set(Some(self));
        self.join(thread);
    }

    /// The priority of the first one; the lowest if nobody waits.
    pub fn priority(&self) -> Priority {
        let first = self.0.first();
        first.map_or(Priority::LOWEST, Thread::effective_priority)
    }

    pub(crate) fn join(&self, thread: &'static Thread) {
        crate::assertions::joins(thread);
        self.0.insert(thread, |one, other| {
            one.effective_priority() > other.effective_priority()
        });
    }

    pub(crate) fn leave(&self, thread: &'static Thread) {
        self.0.remove(thread);
    }
}
