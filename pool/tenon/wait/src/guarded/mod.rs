//! [`Guarded`] state, and masked access to it: no blocking, no wake-up.

mod access;

pub use access::{Waiting, Waking};

use crate::thread::Thread;
use core::marker::PhantomData;
use core_trace::Event;
use tenon_kernel::kernel::Kernel;
use tenon_machine::irq_mask::without_irqs;
use tenon_machine::object_lock::ObjectLock;
use tenon_machine::options;

/// State that one core at a time accesses, with interrupts masked. It consists of cells, as it is
/// shared.
#[derive(Debug, Default)]
pub struct Guarded<T> {
    pub(crate) lock: ObjectLock,
    pub(crate) state: T,
}

impl<T> Guarded<T> {
    /// Guards `state`.
    pub const fn new(state: T) -> Self {
        Self {
            lock: ObjectLock::new(),
            state,
        }
    }

    /// Its lock, for a caller that has masked interrupts.
    #[inline(always)]
    pub(crate) fn lock(&self) -> &ObjectLock {
        &self.lock
    }
}

// SAFETY: the state is accessed with interrupts masked, on the only core or with the lock held, and
// no closure that receives a reference to it can keep that. `T: Send`, as several threads access it
// one after the other.
unsafe impl<T: Send> Sync for Guarded<T> {}

/// Token: interrupts of this core are masked while it lives. It cannot leave the core.
pub struct Masked(PhantomData<*const ()>);

impl Masked {
    pub(crate) const NOW: Self = Self(PhantomData);

    /// This core's kernel. Fast paths do not call this, and so do not load it.
    #[inline(always)]
    pub(crate) fn kernel(&self) -> &'static Kernel {
        // SAFETY: the token is made in a thread or a handler, which exist only after `boot`, and
        // interrupts are masked while it lives.
        unsafe { Kernel::this() }
    }

    /// Records an event about an object in the trace.
    #[inline(always)]
    pub(crate) fn record<T>(&self, event: Event, object: &T) {
        if options::trace() {
            self.kernel().record(event, object);
        }
    }

    /// The current thread, or the one that a handler interrupted.
    #[inline(always)]
    pub fn current(&self) -> &'static Thread {
        Thread::of(self.kernel().current())
    }
}

impl<T> Guarded<T> {
    /// The state, for a caller that has entered the object; `kernel` shows that interrupts are
    /// masked.
    #[inline(always)]
    pub(crate) fn state<'a>(&'a self, _kernel: &Kernel) -> &'a T {
        &self.state
    }

    /// Enters the object for an `action` that neither wakes threads nor blocks.
    #[inline(always)]
    pub fn masked<R>(&self, action: impl FnOnce(&T, &Masked) -> R) -> R {
        without_irqs(|| self.lock.locked(|| action(&self.state, &Masked::NOW)))
    }
}
