//! Ownership that threads wait for, and the priority they lend its owner meanwhile.
//!
//! A mutex knows its owner. The owner knows the mutex only while somebody waits for it, or while it
//! has a ceiling: then it is in the owner's list of those held for others, and the owner runs by the
//! most urgent of its own priority and what these lend it. An owner that waits itself passes what it
//! gets on to whom it waits for: [`Thread::settle`] goes along the chain. Without a waiter, locking
//! and unlocking touch the mutex alone.

use super::mutex::{Acquired, MutexError, Protocol, RawMutex, Robustness};
use super::{PI_CHAIN_LOCK, WaitQueue};
use crate::kernel::Kernel;
use crate::thread::{Priority, Thread};
use crate::time::Instant;
use core::cell::Cell;
use core::sync::atomic::{AtomicBool, Ordering};
use core_list::Linked;
use core_trace::Event;

/// In place of an owner: nobody.
pub(super) const FREE: u64 = 0;
/// Nobody, and taking it takes more than to note the owner.
const FREE_WITH_CEILING: u64 = u64::MAX;
/// Nobody ever again.
const UNRECOVERABLE: u64 = u64::MAX - 1;

/// Some thread has waited for a mutex, or had one with a ceiling. In an image without mutexes nothing
/// sets it, so that the linker knows its value, and threads are left with nothing of this.
static PI_USED: AtomicBool = AtomicBool::new(false);

/// Whether threads may have to do with mutexes at all.
#[inline(always)]
pub(crate) fn pi_used() -> bool {
    PI_USED.load(Ordering::Relaxed)
}

pub(crate) struct State {
    /// The number of its owner, which no thread after it bears, or one of the above.
    pub(super) number: Cell<u64>,
    /// Its owner; meaningless unless it still bears that number.
    owner: Cell<Option<&'static Thread>>,
    /// Unlocking takes more than to forget the owner.
    pub(super) needs_slow_unlock: Cell<bool>,
    /// An owner ended, and no owner after it made it consistent.
    pub(crate) inconsistent: Cell<bool>,
    robustness: Robustness,
    pub(super) protocol: Cell<Protocol>,
    waiters: WaitQueue,
}

// SAFETY: it is not `Sync`; threads reach it inside a `Guarded`, with interrupts masked.
unsafe impl Send for State {}

impl State {
    pub(super) const fn new(protocol: Protocol, robustness: Robustness) -> Self {
        let ceiling = matches!(protocol, Protocol::Protect(_));
        Self {
            number: Cell::new(if ceiling { FREE_WITH_CEILING } else { FREE }),
            owner: Cell::new(None),
            needs_slow_unlock: Cell::new(ceiling),
            inconsistent: Cell::new(false),
            robustness,
            protocol: Cell::new(protocol),
            waiters: WaitQueue::new(),
        }
    }

    #[inline(always)]
    pub(super) fn set_owner(&self, thread: &'static Thread) {
        self.number.set(thread.number());
        self.owner.set(Some(thread));
    }

    pub(super) fn update_slow_unlock(&self) {
        let waited_for = !self.waiters.is_empty();
        self.needs_slow_unlock
            .set(waited_for || self.has_ceiling() || self.inconsistent.get());
    }

    fn has_ceiling(&self) -> bool {
        matches!(self.protocol.get(), Protocol::Protect(_))
    }
}

impl RawMutex {
    pub(crate) fn state<'a>(&'a self, kernel: &Kernel) -> &'a State {
        self.state.inside(kernel)
    }

    /// Calls `action`, which concerns this mutex and whoever is lent a priority on account of it,
    /// while no other core does anything of the kind. What uncontended locking changes is changed
    /// within the gate of the mutex, so that this excludes that too; of a mutex that is waited for,
    /// uncontended locking changes nothing, and being in `PI_CHAIN_LOCK` is enough.
    #[inline(always)]
    pub(super) fn pi_locked<R>(&self, action: impl FnOnce() -> R) -> R {
        PI_CHAIN_LOCK.locked(|| self.locked(action))
    }

    /// As [`pi_locked`](RawMutex::alone), for who is in `PI_CHAIN_LOCK` already.
    #[inline(always)]
    pub(super) fn locked<R>(&self, action: impl FnOnce() -> R) -> R {
        self.state.lock().locked(action)
    }

    /// Who owns it, while that thread has not ended.
    pub(crate) fn owner(&self, kernel: &Kernel) -> Option<&'static Thread> {
        let state = self.state(kernel);
        let owner = state.owner.get()?;
        (owner.number() == state.number.get()).then_some(owner)
    }

    pub(crate) fn is_owned_by(&self, kernel: &Kernel, thread: &Thread) -> bool {
        self.state(kernel).number.get() == thread.number()
    }

    /// How its owner got it.
    pub(crate) fn acquired(&self, kernel: &Kernel) -> Acquired {
        if self.state(kernel).inconsistent.get() {
            Acquired::OwnerDied
        } else {
            Acquired::Consistent
        }
    }

    pub(crate) fn lock_in(
        &'static self,
        kernel: &Kernel,
        deadline: Option<Instant>,
    ) -> Result<Acquired, MutexError> {
        let (state, thread) = (self.state(kernel), kernel.current());
        let at_once = self.pi_locked(|| {
            if let Some(acquired) = self.acquire(kernel, thread) {
                return Some(acquired);
            }
            if !kernel.limit_wait(thread, deadline) {
                return Some(Err(MutexError::TimedOut));
            }
            kernel.scheduler.block(thread);
            self.join(kernel, thread);
            None
        });
        let result = at_once.unwrap_or_else(|| {
            thread.wait_in_queue(kernel);
            self.pi_locked(|| match state.number.get() {
                number if number == thread.number() => Ok(self.acquired(kernel)),
                UNRECOVERABLE => Err(MutexError::Unrecoverable),
                _ => Err(MutexError::TimedOut),
            })
        });
        if result.is_ok() {
            kernel.this_core().record(Event::Acquire, self);
        }
        result
    }

    pub(crate) fn unlock_in(&'static self, kernel: &Kernel) -> Result<(), MutexError> {
        let thread = kernel.current();
        if !self.is_owned_by(kernel, thread) {
            return Err(MutexError::NotOwner);
        }
        self.release(kernel, thread);
        Ok(())
    }

    /// Takes it from its owner.
    pub(crate) fn release(&'static self, kernel: &Kernel, owner: &'static Thread) {
        kernel.record(Event::Release, self);
        if self.state(kernel).inconsistent.get() {
            self.make_unrecoverable(kernel);
        } else {
            self.hand_over(kernel);
        }
        owner.settle(kernel);
    }

    /// Gives it to `thread`, which does not wait, or says why not, unless it has to wait.
    pub(crate) fn acquire(
        &'static self,
        kernel: &Kernel,
        thread: &'static Thread,
    ) -> Option<Result<Acquired, MutexError>> {
        let state = self.state(kernel);
        match state.number.get() {
            FREE | FREE_WITH_CEILING => {}
            UNRECOVERABLE => return Some(Err(MutexError::Unrecoverable)),
            number if number == thread.number() => return Some(Err(MutexError::AlreadyOwned)),
            _ if self.owner(kernel).is_some() || state.robustness == Robustness::Stalled => {
                return None;
            }
            // It ended, and nobody waited then.
            _ => state.inconsistent.set(true),
        }
        if let Protocol::Protect(ceiling) = state.protocol.get()
            && thread.own() > ceiling
        {
            return Some(Err(MutexError::AboveCeiling));
        }
        self.grant(kernel, thread);
        thread.settle(kernel);
        Some(Ok(self.acquired(kernel)))
    }

    pub(crate) fn recover_in(&'static self, kernel: &Kernel) -> Result<(), MutexError> {
        let (state, thread) = (self.state(kernel), kernel.current());
        if state.number.get() == UNRECOVERABLE {
            self.grant(kernel, thread);
        } else {
            self.acquire(kernel, thread)
                .unwrap_or(Err(MutexError::Busy))?;
        }
        state.inconsistent.set(false);
        state.update_slow_unlock();
        thread.settle(kernel);
        Ok(())
    }

    /// Gives it to `thread`, which waits and is in no list, or lets it wait for it from here on.
    pub(crate) fn receive(&'static self, kernel: &Kernel, thread: &'static Thread) {
        match self.acquire(kernel, thread) {
            // If it is refused, it finds out why by itself.
            Some(_) => thread.wake(kernel),
            None => self.join(kernel, thread),
        }
    }

    /// Puts `thread`, which is in no list, among those that wait.
    pub(crate) fn join(&'static self, kernel: &Kernel, thread: &'static Thread) {
        PI_USED.store(true, Ordering::Relaxed);
        let state = self.state(kernel);
        state.waiters.enqueue(thread);
        thread.blocked_on().set(Some(self));
        state.needs_slow_unlock.set(true);
        if let Some(owner) = self.owner(kernel) {
            if !self.is_linked() {
                owner.held().push(self);
            }
            owner.settle(kernel);
        }
    }

    /// Notes that somebody who waited no longer does.
    pub(crate) fn waiter_left(&'static self, kernel: &Kernel) {
        let state = self.state(kernel);
        self.locked(|| state.update_slow_unlock());
        if let Some(owner) = self.owner(kernel) {
            if state.waiters.is_empty() && !state.has_ceiling() {
                owner.held().remove(self);
            }
            owner.settle(kernel);
        }
    }

    /// Makes `thread` its owner; who waits for it already lends it nothing before it settles.
    fn grant(&'static self, kernel: &Kernel, thread: &'static Thread) {
        let state = self.state(kernel);
        state.set_owner(thread);
        state.update_slow_unlock();
        if !state.waiters.is_empty() || state.has_ceiling() {
            PI_USED.store(true, Ordering::Relaxed);
            thread.held().push(self);
        }
    }

    /// Takes it from its owner, who has to settle then, for the first who waits.
    fn hand_over(&'static self, kernel: &Kernel) {
        let state = self.state(kernel);
        if let Some(owner) = self.owner(kernel) {
            owner.held().remove(self);
        }
        match state.waiters.pop(kernel) {
            Some(next) => {
                next.blocked_on().set(None);
                self.grant(kernel, next);
                next.settle(kernel);
                next.wake(kernel);
            }
            None => {
                let ceiling = state.has_ceiling();
                let free = if ceiling { FREE_WITH_CEILING } else { FREE };
                state.number.set(free);
                state.update_slow_unlock();
            }
        }
    }

    /// Takes it from its owner, who has to settle then, for good: all who wait go on without it.
    fn make_unrecoverable(&'static self, kernel: &Kernel) {
        let state = self.state(kernel);
        if let Some(owner) = self.owner(kernel) {
            owner.held().remove(self);
        }
        state.number.set(UNRECOVERABLE);
        while let Some(next) = state.waiters.pop(kernel) {
            next.blocked_on().set(None);
            next.wake(kernel);
        }
    }

    /// Its owner, which holds it for others, ends.
    fn owner_exits(&'static self, kernel: &Kernel, owner: &'static Thread) {
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

    /// The priority its owner has from it.
    fn donated_priority(&self, kernel: &Kernel) -> Priority {
        let state = self.state(kernel);
        match state.protocol.get() {
            Protocol::None => Priority::LOWEST,
            Protocol::Inherit => state.waiters.priority(),
            Protocol::Protect(ceiling) => ceiling,
        }
    }
}

impl Thread {
    /// Its own priority or, if that is more urgent, what is lent to it, from here on; whoever it
    /// waits for in turn follows. A chain ends, and so does a circle of threads that wait for each
    /// other: as soon as nothing changes.
    pub(crate) fn settle(&'static self, kernel: &Kernel) {
        let mut thread = self;
        loop {
            let donated_priority = thread
                .held()
                .iter()
                .map(|mutex| mutex.donated_priority(kernel));
            let priority = donated_priority.fold(thread.own(), Priority::max);
            if priority == thread.effective_priority() {
                return;
            }
            thread.set_effective_priority(kernel, priority);
            let owner = thread.blocked_on().get();
            let Some(owner) = owner.and_then(|mutex| mutex.owner(kernel)) else {
                return;
            };
            thread = owner;
        }
    }

    /// Passes on what it holds for others as it ends.
    pub(crate) fn release_held_mutexes(&'static self, kernel: &Kernel) {
        while pi_used()
            && let Some(mutex) = self.held().first()
        {
            mutex.owner_exits(kernel, self);
        }
    }
}
