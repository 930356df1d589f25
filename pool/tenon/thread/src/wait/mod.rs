//! [`Guarded`] state and [`WaitQueue`]: building blocks of synchronisation objects.
//!
//! For libraries that provide semaphores, queues and the like; applications use those libraries. An
//! object keeps its state and its wait queues in a [`Guarded`]. A fast path enters it by
//! [`masked`](Guarded::masked), code that wakes threads by [`waking`](Guarded::waking), code that
//! blocks by [`waiting`](Guarded::waiting). [`try_or_wake`](Guarded::try_or_wake) and
//! [`try_or_wait`](Guarded::try_or_wait) attempt the fast path first. The token that each of them
//! passes to its closure allows only the matching operations, so that blocking on a fast path does
//! not compile:
//!
//! ```compile_fail
//! # use tenon_thread::wait::{Guarded, WaitQueue};
//! # static QUEUE: Guarded<WaitQueue> = Guarded::new(WaitQueue::new());
//! QUEUE.masked(|_, masked| masked.wait(|queue| queue, None));
//! ```
//!
//! An object must not be entered inside another one. Guarantees: waking a thread is O(1). Waiting
//! takes one step for each less urgent thread in the queue; threads of equal priority are woken in
//! order of arrival.

pub(crate) mod access;
mod condvar;
pub(crate) mod masked;
mod mutex;
pub(crate) mod ownership;
mod queue;

pub use access::{Waiting, Waking};
pub use condvar::RawCondvar;
pub use masked::Masked;
pub use queue::TimedOut;

use crate::thread::Thread;
use core::cell::Cell;
use core::fmt;
use core_list::{Link, Linked, List};
use core_sched::Priority;
use tenon_machine::object_lock::ObjectLock;

/// State that one core at a time accesses, with interrupts masked. It consists of cells, as it is
/// shared.
#[derive(Debug, Default)]
pub struct Guarded<T> {
    lock: ObjectLock,
    state: T,
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

/// A word that a waiter and the thread that wakes it exchange; its meaning is up to their object.
pub type WaitValue = *const ();

/// Threads that wait, the most urgent first.
#[derive(Default)]
pub struct WaitQueue(List<&'static Thread>);

// SAFETY: it is not `Sync`, so threads share it inside a `Guarded` only, which one core at a time
// accesses with interrupts masked.
unsafe impl Send for WaitQueue {}

impl WaitQueue {
    /// An empty queue.
    pub const fn new() -> Self {
        Self(List::new())
    }
}

/// How the owner of a mutex inherits a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// None: the owner keeps its priority.
    None,
    /// Priority inheritance: from the most urgent waiter.
    Inherit,
    /// Priority ceiling: the owner runs at least at this priority. A more urgent thread must not
    /// lock it.
    Protect(Priority),
}

/// What happens to a mutex when its owner ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Robustness {
    /// It stays locked.
    Stalled,
    /// The next owner is told by [`Acquired::OwnerDied`].
    Robust,
}

/// How a mutex was acquired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquired {
    /// After its last owner unlocked it.
    Consistent,
    /// After its owner ended: the protected data is in an unknown state. If it is unlocked before
    /// [`RawMutex::make_consistent`], it becomes unrecoverable.
    OwnerDied,
}

/// Why a mutex was not locked or unlocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MutexError {
    /// The calling thread owns it already.
    AlreadyOwned,
    /// The calling thread does not own it.
    NotOwner,
    /// Another thread owns it.
    Busy,
    /// The wait timed out.
    TimedOut,
    /// An owner ended, and the next one unlocked it without making it consistent.
    Unrecoverable,
    /// The calling thread is more urgent than the mutex's ceiling.
    AboveCeiling,
    /// Other threads wait for the same condition variable with another mutex.
    OtherMutex,
}

#[expect(non_upper_case_globals, reason = "the former name of a variant")]
impl MutexError {
    /// The former name of [`MutexError::AlreadyOwned`].
    #[deprecated(note = "renamed to `AlreadyOwned`")]
    pub const Owned: Self = Self::AlreadyOwned;
}

impl fmt::Display for MutexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AlreadyOwned => "the thread owns the mutex already",
            Self::NotOwner => "the thread does not own the mutex",
            Self::Busy => "another thread owns the mutex",
            Self::TimedOut => "the time to wait was over",
            Self::Unrecoverable => "an owner of the mutex ended and left it inconsistent",
            Self::AboveCeiling => "the thread is more urgent than the mutex's ceiling",
            Self::OtherMutex => "others wait for the condition with another mutex",
        })
    }
}

impl core::error::Error for MutexError {}

/// Owner identifier of a mutex without owner.
const FREE: u64 = 0;
/// Owner identifier of a mutex without owner that the fast path cannot lock.
const FREE_WITH_CEILING: u64 = u64::MAX;
/// Owner identifier of a mutex that cannot be locked any more.
const UNRECOVERABLE: u64 = u64::MAX - 1;

/// MutexState of a mutex.
pub(crate) struct MutexState {
    /// The identifier of its owner, which no later thread has, or one of the constants above.
    owner_id: Cell<u64>,
    /// Its owner; meaningless unless it still has that identifier.
    owner: Cell<Option<&'static Thread>>,
    /// Unlocking takes the slow path.
    needs_slow_unlock: Cell<bool>,
    /// An owner ended, and no later one made it consistent.
    pub(crate) inconsistent: Cell<bool>,
    robustness: Robustness,
    protocol: Cell<Protocol>,
    waiters: WaitQueue,
}

// SAFETY: it is not `Sync`, so threads share it inside a `Guarded` only, which one core at a time
// accesses with interrupts masked.
unsafe impl Send for MutexState {}

impl MutexState {
    const fn new(protocol: Protocol, robustness: Robustness) -> Self {
        let ceiling = matches!(protocol, Protocol::Protect(_));
        Self {
            owner_id: Cell::new(if ceiling { FREE_WITH_CEILING } else { FREE }),
            owner: Cell::new(None),
            needs_slow_unlock: Cell::new(ceiling),
            inconsistent: Cell::new(false),
            robustness,
            protocol: Cell::new(protocol),
            waiters: WaitQueue::new(),
        }
    }

    #[inline(always)]
    fn set_owner(&self, thread: &'static Thread) {
        self.owner_id.set(thread.id());
        self.owner.set(Some(thread));
    }

    /// Updates whether unlocking takes the slow path.
    fn update_slow_unlock(&self) {
        let contended = !self.waiters.is_empty();
        self.needs_slow_unlock
            .set(contended || self.has_ceiling() || self.inconsistent.get());
    }

    fn has_ceiling(&self) -> bool {
        matches!(self.protocol.get(), Protocol::Protect(_))
    }
}

/// A mutex without data: the base of [`Mutex`](../../tenon_sync/struct.Mutex.html) and of
/// interfaces for other languages.
///
/// Guarantees: without contention, neither locking nor unlocking calls the scheduler. Unlocking
/// hands it to the most urgent waiter, the longest waiting among equals, and no other thread can
/// lock it in between. Not for interrupt handlers, which cannot own a mutex.
pub struct RawMutex {
    state: Guarded<MutexState>,
    /// Link in the list of mutexes that donate a priority to their owner.
    link: Link<&'static RawMutex>,
}

// SAFETY: the link is private to this crate, which accesses it with interrupts masked and, with
// several cores, with `PI_CHAIN_LOCK` held.
unsafe impl Sync for RawMutex {}

impl RawMutex {
    /// A free, robust mutex with priority inheritance.
    pub const fn new() -> Self {
        Self::with(Protocol::Inherit, Robustness::Robust)
    }

    /// A free mutex.
    pub const fn with(protocol: Protocol, robustness: Robustness) -> Self {
        Self {
            state: Guarded::new(MutexState::new(protocol, robustness)),
            link: Link::new(),
        }
    }
}

impl Default for RawMutex {
    fn default() -> Self {
        Self::new()
    }
}

impl Linked for &'static RawMutex {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}
