//! State of wait queues and mutexes.
//!
//! `tenon-wait` has the objects that contain these states, and the operations of a thread on them.
//! A thread whose wait times out leaves its queue, and one that exits passes on its mutexes, so
//! that the states, and the inheritance of priorities through them, belong to the kernel.

mod ownership;
mod queue;

pub(crate) use ownership::pi_used;
pub use ownership::{FREE, FREE_WITH_CEILING, UNRECOVERABLE};
pub use queue::TimedOut;

use crate::thread::Thread;
use core::cell::Cell;
use core_list::{Link, Linked, List};
use core_sched::Priority;
use tenon_machine::object_lock::ObjectLock;

/// A word that a waiter and the thread that wakes it exchange; its meaning is up to their object.
pub type WaitValue = *const ();

/// Threads that wait, the most urgent first.
#[derive(Default)]
pub struct WaitQueue(List<&'static Thread>);

// SAFETY: it is not `Sync`, so threads share it only inside an object whose lock they hold, with
// interrupts masked.
unsafe impl Send for WaitQueue {}

/// A wait queue and the lock that protects it.
pub(crate) struct LockedQueue {
    pub(crate) lock: ObjectLock,
    pub(crate) queue: WaitQueue,
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
    /// The next owner is told that the last one died.
    Robust,
}

/// Owner, waiters and protocol of a mutex.
pub struct MutexState {
    /// The identifier of its owner, which no later thread has, or one of the constants [`FREE`],
    /// [`FREE_WITH_CEILING`] and [`UNRECOVERABLE`].
    pub owner_id: Cell<u64>,
    /// Its owner; meaningless unless it still has that identifier.
    owner: Cell<Option<&'static Thread>>,
    /// Unlocking takes the slow path.
    pub needs_slow_unlock: Cell<bool>,
    /// An owner ended, and no later one made it consistent.
    pub inconsistent: Cell<bool>,
    /// What happens when its owner ends.
    pub robustness: Robustness,
    /// How its owner inherits a priority.
    pub protocol: Cell<Protocol>,
    /// The threads that wait for it.
    pub waiters: WaitQueue,
}

/// The state of a mutex, with its lock and its link in the list of mutexes that donate a priority
/// to their owner.
pub struct Mutex {
    lock: ObjectLock,
    state: MutexState,
    link: Link<&'static Mutex>,
}

// SAFETY: its owner and waiters are accessed with interrupts masked and, with several cores, with
// the lock of the mutex or `PI_CHAIN_LOCK` held; the link with `PI_CHAIN_LOCK` held.
unsafe impl Sync for Mutex {}

impl Mutex {
    /// A free mutex.
    pub const fn new(protocol: Protocol, robustness: Robustness) -> Self {
        let ceiling = matches!(protocol, Protocol::Protect(_));
        Self {
            lock: ObjectLock::new(),
            state: MutexState {
                owner_id: Cell::new(if ceiling { FREE_WITH_CEILING } else { FREE }),
                owner: Cell::new(None),
                needs_slow_unlock: Cell::new(ceiling),
                inconsistent: Cell::new(false),
                robustness,
                protocol: Cell::new(protocol),
                waiters: WaitQueue::new(),
            },
            link: Link::new(),
        }
    }
}

impl Linked for &'static Mutex {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}
