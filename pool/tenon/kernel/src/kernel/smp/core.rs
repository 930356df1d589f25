//! State of one core that other cores access.

use crate::thread::{Migratable, Thread};
use crate::time::Timer;
use ::core::cell::Cell;
use ::core::sync::atomic::{AtomicBool, Ordering};
use core_inbox::{Batch, Inbox};
use core_placement::CoreStatus;
use core_sched::RunQueue;
use core_timer::RadixHeap;
use tenon_irq::Target;
use tenon_machine::object_lock::ObjectLock;

/// The SGI that kicks a core to process its inbox. Mortise reserves SGI 0, in Group 0, and channels
/// use 8 to 15.
pub const KICK_SGI: u32 = 1;

/// Requests for a posted thread, one bit each.
pub(crate) mod request {
    /// End its wait.
    pub(crate) const WAKE: u32 = 1 << 0;
    /// Enqueue it: this core is its new home, and it is ready.
    pub(crate) const ARRIVE: u32 = 1 << 1;
    /// [`unpark`](crate::thread::Thread::unpark) it.
    pub(crate) const UNPARK: u32 = 1 << 2;
    /// Apply its new priority.
    pub(crate) const PRIORITY: u32 = 1 << 3;
}

/// The state of a core that it shares with others, and what it needs for migration.
pub struct Core {
    pub(super) inbox: Inbox<Thread>,
    pub(super) status: CoreStatus,
    /// The core has started.
    present: AtomicBool,
    /// The target of SGIs to this core; written before `present`.
    pub(super) target: Cell<Option<Target>>,
    /// The timer queue of this core; written before `present`.
    pub(super) timers: Cell<Option<&'static RadixHeap<&'static Timer>>>,
    pub(super) timers_lock: ObjectLock,
    /// Another core requests a thread that is ready here and can migrate.
    pub(super) pull_requested: AtomicBool,
    // Only the core itself accesses the fields below, with interrupts masked.
    /// The unpinned threads that are ready and not running.
    pub(super) migratable: RunQueue<Migratable>,
    /// The rest of a batch collected from the inbox.
    pub(super) batch: Cell<Batch<Thread>>,
    /// The thread that ran before, until its context is known to be saved.
    pub(super) outgoing: Cell<Option<&'static Thread>>,
    /// The core that `outgoing` migrates to once its context is saved.
    pub(super) destination: Cell<Option<usize>>,
}

// SAFETY: other cores access only the atomic fields, the inbox and the status, which are made of
// atomics, `target` and `timers` after `present` publishes them, and the timer queue under
// `timers_lock`. The remaining cells belong to the core itself.
unsafe impl Sync for Core {}

impl Core {
    /// A core that has not started.
    pub const fn new() -> Self {
        Self {
            inbox: Inbox::new(),
            status: CoreStatus::new(),
            present: AtomicBool::new(false),
            target: Cell::new(None),
            timers: Cell::new(None),
            timers_lock: ObjectLock::new(),
            pull_requested: AtomicBool::new(false),
            migratable: RunQueue::new(),
            batch: Cell::new(Batch::empty()),
            outgoing: Cell::new(None),
            destination: Cell::new(None),
        }
    }

    /// Sets the timer queue of this core.
    pub(crate) fn set_timers(&self, timers: &'static RadixHeap<&'static Timer>) {
        self.timers.set(Some(timers));
    }

    /// Publishes that the core has started and accepts SGIs.
    #[inline]
    pub fn set_present(&self, target: Target) {
        self.target.set(Some(target));
        self.present.store(true, Ordering::Release);
    }

    /// Whether the core has started.
    #[inline]
    pub fn is_present(&self) -> bool {
        self.present.load(Ordering::Acquire)
    }
}

impl Default for Core {
    fn default() -> Self {
        Self::new()
    }
}
