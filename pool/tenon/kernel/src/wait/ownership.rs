//! Owner of a mutex, and priority inheritance through it.
//!
//! A mutex refers to its owner. The owner refers to the mutex only while another thread waits for
//! it, or while it has a ceiling: then the mutex is in the owner's list of those that donate a
//! priority, and the owner runs at the most urgent of its base priority and the donated ones. An
//! owner that waits itself passes its priority on to the owner it waits for:
//! [`Thread::propagate_priority`] follows the chain. Without contention, locking and unlocking
//! access the mutex only.

use super::{Mutex, MutexState, Protocol, Robustness};
use crate::kernel::Kernel;
use crate::thread::Thread;
use core::sync::atomic::{AtomicBool, Ordering};
use core_list::Linked;
use core_sched::Priority;
use tenon_machine::object_lock::PI_CHAIN_LOCK;

/// Owner identifier of a mutex without owner.
pub const FREE: u64 = 0;
/// Owner identifier of a mutex without owner that the fast path cannot lock.
pub const FREE_WITH_CEILING: u64 = u64::MAX;
/// Owner identifier of a mutex that cannot be locked any more.
pub const UNRECOVERABLE: u64 = u64::MAX - 1;

/// Some thread has waited for a mutex or owned one with a ceiling. In an image without mutexes no
/// code sets this, so that the linker knows its value and removes what depends on it from the paths
/// of threads. Only functions that other crates do not inline name it: it has to stay internal to
/// this crate for that.
static PI_USED: AtomicBool = AtomicBool::new(false);

/// Whether a thread can own or wait for a mutex.
#[inline(always)]
pub(crate) fn pi_used() -> bool {
    PI_USED.load(Ordering::Relaxed)
}

impl MutexState {
    /// Makes `thread` the owner.
    #[inline(always)]
    pub fn set_owner(&self, thread: &'static Thread) {
        self.owner_id.set(thread.id());
        self.owner.set(Some(thread));
    }

    /// Updates whether unlocking takes the slow path.
    pub fn update_slow_unlock(&self) {
        let contended = !self.waiters.is_empty();
        self.needs_slow_unlock
            .set(contended || self.has_ceiling() || self.inconsistent.get());
    }

    fn has_ceiling(&self) -> bool {
        matches!(self.protocol.get(), Protocol::Protect(_))
    }
}

impl Mutex {
    /// Its state, for a caller that holds its lock; `kernel` shows that interrupts are masked.
    #[inline(always)]
    pub fn state<'a>(&'a self, _kernel: &Kernel) -> &'a MutexState {
        &self.state
    }

    /// Calls `action` with the state, the lock of the mutex held; the caller has masked interrupts.
    #[inline(always)]
    pub fn with_state<R>(&self, action: impl FnOnce(&MutexState) -> R) -> R {
        self.lock.locked(|| action(&self.state))
    }

    /// Calls `action`, which concerns this mutex and the threads that inherit a priority through
    /// it, with `PI_CHAIN_LOCK` and the lock of the mutex held. The fast paths change the mutex
    /// under its own lock, so this excludes them. They do not change a contended mutex, for which
    /// `PI_CHAIN_LOCK` is sufficient.
    #[inline(always)]
    pub fn pi_locked<R>(&self, action: impl FnOnce() -> R) -> R {
        PI_CHAIN_LOCK.locked(|| self.locked(action))
    }

    /// Calls `action` with the lock of the mutex held; the caller holds `PI_CHAIN_LOCK`.
    #[inline(always)]
    pub fn locked<R>(&self, action: impl FnOnce() -> R) -> R {
        self.lock.locked(action)
    }

    /// Its owner, if that has not ended.
    pub fn owner(&self, kernel: &Kernel) -> Option<&'static Thread> {
        let state = self.state(kernel);
        let owner = state.owner.get()?;
        (owner.id() == state.owner_id.get()).then_some(owner)
    }

    /// Adds `thread`, which is in no list, to the waiters.
    pub fn add_waiter(&'static self, kernel: &Kernel, thread: &'static Thread) {
        PI_USED.store(true, Ordering::Relaxed);
        let state = self.state(kernel);
        state.waiters.enqueue(thread);
        thread.blocked_on().set(Some(self));
        state.needs_slow_unlock.set(true);
        if let Some(owner) = self.owner(kernel) {
            if !self.is_linked() {
                owner.held().push(self);
            }
            owner.propagate_priority(kernel);
        }
    }

    /// Updates the mutex after a waiter has left its queue.
    pub(crate) fn waiter_left(&'static self, kernel: &Kernel) {
        let state = self.state(kernel);
        self.locked(|| state.update_slow_unlock());
        if let Some(owner) = self.owner(kernel) {
            if state.waiters.is_empty() && !state.has_ceiling() {
                owner.held().remove(self);
            }
            owner.propagate_priority(kernel);
        }
    }

    /// Makes `thread` the owner. It inherits from the remaining waiters once its priority is
    /// propagated.
    pub fn grant(&'static self, kernel: &Kernel, thread: &'static Thread) {
        let state = self.state(kernel);
        state.set_owner(thread);
        state.update_slow_unlock();
        if !state.waiters.is_empty() || state.has_ceiling() {
            PI_USED.store(true, Ordering::Relaxed);
            thread.held().push(self);
        }
    }

    /// Hands it over from its owner to the first waiter. The caller then propagates the priority of
    /// the former owner.
    pub fn hand_over(&'static self, kernel: &Kernel) {
        let state = self.state(kernel);
        if let Some(owner) = self.owner(kernel) {
            owner.held().remove(self);
        }
        match state.waiters.pop(kernel) {
            Some(next) => {
                next.blocked_on().set(None);
                self.grant(kernel, next);
                next.propagate_priority(kernel);
                next.wake(kernel);
            }
            None => {
                let ceiling = state.has_ceiling();
                let free = if ceiling { FREE_WITH_CEILING } else { FREE };
                state.owner_id.set(free);
                state.update_slow_unlock();
            }
        }
    }

    /// Passes it on as its owner, for which it is in the list of donating mutexes, exits.
    pub(crate) fn owner_exits(&'static self, kernel: &Kernel, owner: &'static Thread) {
        let state = self.state(kernel);
        match state.robustness {
            Robustness::Stalled => {
                owner.held().remove(self);
            }
            Robustness::Robust => self.locked(|| {
                state.inconsistent.set(true);
                self.hand_over(kernel);
            }),
        }
    }

    /// The priority that it donates to its owner.
    pub(crate) fn donated_priority(&self, kernel: &Kernel) -> Priority {
        let state = self.state(kernel);
        match state.protocol.get() {
            Protocol::None => Priority::LOWEST,
            Protocol::Inherit => state.waiters.priority(),
            Protocol::Protect(ceiling) => ceiling,
        }
    }
}
