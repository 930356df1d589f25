//! What synchronisation is made of: state behind masked interrupts, and queues of waiting threads.
//!
//! For libraries that offer semaphores, queues and the like; applications use those. A fast path
//! takes [`masked`] and touches its own state only; who finds somebody waiting takes [`waking`], who
//! has to wait takes [`waiting`].
//!
//! Guarantees: waking is O(1). Waiting takes one step for each less urgent thread that waits
//! already, as those are passed; among equals it is first come, first served.

use crate::kernel::Kernel;
use crate::thread::{Thread, Wait};
use crate::time::Instant;
use core::marker::PhantomData;
use core_list::List;

/// Interrupts are masked, on this core, as long as this lives; so it stays on this core.
pub struct Masked(PhantomData<*const ()>);

impl Masked {
    const NOW: Self = Self(PhantomData);

    /// This core's kernel, looked up by who needs it: a fast path does not.
    #[inline(always)]
    fn kernel(&self) -> &'static Kernel {
        // SAFETY: made in a thread or a handler, which exist since `boot`; interrupts are masked
        // while this lives.
        unsafe { Kernel::this() }
    }
}

/// Calls `action` with interrupts masked; it wakes nobody and does not wait.
#[inline(always)]
pub fn masked<R>(action: impl FnOnce(&Masked) -> R) -> R {
    Kernel::masked(|| action(&Masked::NOW))
}

/// Calls `action` with interrupts masked; if it wakes somebody more urgent, they run before this
/// returns, or at the end of the interrupt handler this is called in.
#[inline(always)]
pub fn waking<R>(action: impl FnOnce(&Masked) -> R) -> R {
    Kernel::with(|_| action(&Masked::NOW))
}

/// Calls `action` with interrupts masked; it may wait, so that an interrupt handler that calls this
/// is ended with a message.
#[inline(always)]
pub fn waiting<R>(action: impl FnOnce(&Masked) -> R) -> R {
    Kernel::waiting(|_| action(&Masked::NOW))
}

/// State that is reached with interrupts masked only.
#[derive(Debug, Default)]
pub struct Guarded<T>(T);

impl<T> Guarded<T> {
    /// Guards `state`.
    pub const fn new(state: T) -> Self {
        Self(state)
    }

    /// The state; what is seen of it may have changed once somebody else ran.
    #[inline(always)]
    pub fn get(&self, _: &Masked) -> &T {
        &self.0
    }
}

// SAFETY: the state is reached through a `Masked`, which exists while interrupts are masked, on the
// only core; references to it do not outlive it, and `T: Send` as different threads reach it.
unsafe impl<T: Send> Sync for Guarded<T> {}

/// The time was over before the turn came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedOut;

/// Threads that wait for their turn, the most urgent first.
#[derive(Default)]
pub struct WaitQueue(List<&'static Thread>);

// SAFETY: as for a thread: touched with interrupts masked, on the core its threads belong to.
unsafe impl Send for WaitQueue {}
// SAFETY: all methods that touch the list take a `Masked` or are private to this crate.
unsafe impl Sync for WaitQueue {}

impl WaitQueue {
    /// A queue in which nobody waits.
    pub const fn new() -> Self {
        Self(List::new())
    }

    /// Whether nobody waits.
    #[inline(always)]
    pub fn is_empty(&self, _: &Masked) -> bool {
        self.0.is_empty()
    }

    /// Waits for its turn, at the latest until `deadline`.
    pub fn wait(&'static self, masked: &Masked, deadline: Option<Instant>) -> Result<(), TimedOut> {
        self.wait_in(masked.kernel(), deadline)
    }

    #[inline(always)]
    pub(crate) fn wait_in(
        &'static self,
        kernel: &Kernel,
        deadline: Option<Instant>,
    ) -> Result<(), TimedOut> {
        let thread = kernel.current();
        if let Some(deadline) = deadline {
            let clock = kernel.clock.get();
            let ticks = clock.frequency().ticks(deadline.nanoseconds());
            if ticks <= clock.ticks() {
                return Err(TimedOut);
            }
            kernel.start_timer(thread.timer(), ticks);
        }
        // It leaves the run queue first: it is in one list at a time.
        kernel.scheduler.block(thread);
        thread.queue().set(Some(self));
        self.join(thread);
        thread.wait(kernel, Wait::Turn);
        // Who gave it its turn took it out.
        match thread.queue().take() {
            None => Ok(()),
            Some(_) => Err(TimedOut),
        }
    }

    /// Gives the first one its turn and returns it.
    pub fn wake(&self, masked: &Masked) -> Option<&'static Thread> {
        self.wake_in(masked.kernel())
    }

    #[inline(always)]
    pub(crate) fn wake_in(&self, kernel: &Kernel) -> Option<&'static Thread> {
        let thread = self.0.pop()?;
        thread.queue().set(None);
        kernel.cancel_timer(thread.timer());
        thread.wake(kernel);
        Some(thread)
    }

    pub(crate) fn join(&self, thread: &'static Thread) {
        self.0
            .insert(thread, |one, other| one.priority() > other.priority());
    }

    pub(crate) fn leave(&self, thread: &'static Thread) {
        self.0.remove(thread);
    }
}
