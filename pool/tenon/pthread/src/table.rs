//! The thread table of a program in C.

use crate::cancel_state::CancelState;
use crate::pending::{Set, Signals};
use crate::policy;
use crate::stack::Memory;
use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;
use tenon_libc::{Errno, tls};
use tenon_thread::options;
use tenon_thread::thread::{self, Block, Priority, Thread};
use tenon_thread::trace::{self, Kind, Name};
use tenon_thread::wait::{Guarded, WaitQueue, Waking};

/// Protects the thread table. Its holder does not allocate memory.
pub static LOCK: Guarded<()> = Guarded::new(());

/// State of a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlotState {
    /// No thread.
    #[default]
    Free,
    /// A thread that can be joined exists or is being created.
    Joinable,
    /// A detached thread exists or is being created.
    Detached,
    /// The thread has ended and can be joined.
    Ended,
    /// The detached thread has ended; its memory is to be freed.
    Reclaimable,
}

/// Identifier of a thread: `pthread_t`.
pub type ThreadId = u64;

/// `PTHREAD_KEYS_MAX` of `<limits.h>`.
pub const KEYS: usize = 128;

/// What interrupts the wait of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interruptible {
    /// Nothing.
    No,
    /// A signal or an asynchronous cancellation request; the wait continues after the handlers.
    /// Waits for locks are of this kind, as they are no cancellation points (POSIX.1-2017,
    /// `pthread_mutex_lock`).
    Restartable,
    /// A signal or any cancellation request.
    Full,
}

/// A slot of the thread table.
pub struct Slot {
    pub(crate) block: Block,
    /// The thread, from its creation to its end.
    pub(crate) thread: Cell<Option<&'static Thread>>,
    pub(crate) state: Cell<SlotState>,
    /// The thread has left the program and runs its termination, or serves the program only.
    pub(crate) ending: Cell<bool>,
    /// Number of this use of the slot, which detects a stale `pthread_t`.
    pub(crate) number: Cell<u32>,
    /// The thread's start routine until it ends, then its exit value.
    pub(crate) result: Cell<*mut c_void>,
    /// Threads that wait for the end of this one.
    pub(crate) joiners: WaitQueue,
    /// The stack, until it is freed.
    pub(crate) memory: Cell<Option<Memory>>,
    pub(crate) cancel: CancelState,
    pub(crate) values: [Cell<*mut c_void>; KEYS],
    /// A signal or cancellation request is pending: see [`crate::wait`].
    pub(crate) attention: Cell<bool>,
    /// What interrupts the current wait.
    pub(crate) interruptible: Cell<Interruptible>,
    /// What is pending acts at once, also in a wait for a lock.
    pub(crate) urgent: Cell<bool>,
    /// A private queue, for waits without an object.
    pub alone: Guarded<WaitQueue>,
    /// Signal state.
    pub signals: Signals,
    /// Scheduling policy: `SCHED_FIFO` and the like.
    pub(crate) policy: Cell<u8>,
}

// SAFETY: all fields are accessed with `LOCK` held, or only by the slot's own thread.
unsafe impl Sync for Slot {}

impl Slot {
    /// A free slot.
    pub const fn new() -> Self {
        Self {
            block: Block::new(),
            thread: Cell::new(None),
            state: Cell::new(SlotState::Free),
            ending: Cell::new(false),
            number: Cell::new(0),
            result: Cell::new(ptr::null_mut()),
            joiners: WaitQueue::new(),
            memory: Cell::new(None),
            cancel: CancelState::new(),
            values: [const { Cell::new(ptr::null_mut()) }; KEYS],
            attention: Cell::new(false),
            interruptible: Cell::new(Interruptible::No),
            urgent: Cell::new(false),
            alone: Guarded::new(WaitQueue::new()),
            signals: Signals::new(),
            policy: Cell::new(policy::OTHER),
        }
    }

    /// The `pthread_t` of the slot's thread.
    pub fn id(&'static self) -> ThreadId {
        let index = (ptr::from_ref(self) as usize - slots().as_ptr() as usize) / size_of::<Self>();
        u64::from(self.number.get()) << 32 | index as u64
    }

    /// The slot's thread, from its creation to its end.
    pub fn thread(&self) -> Option<&'static Thread> {
        self.thread.get()
    }

    /// Describes the slot in a trace, with the name of its thread.
    #[inline(always)]
    pub fn describe(&self, name: Name<'_>) {
        trace::describe(self, Kind::Thread, name);
        trace::describe(&self.alone, Kind::Suspension, Name::None);
    }

    /// Marks the thread as a service thread: the program exits although it runs.
    pub fn exclude_from_exit(&self) {
        self.ending.set(true);
    }

    /// Claims the slot for a new thread with a signal mask.
    pub(crate) fn claim(&self, state: SlotState, blocked: Set) {
        self.state.set(state);
        self.ending.set(false);
        self.number.set(self.number.get().wrapping_add(1).max(1));
        self.result.set(ptr::null_mut());
        self.memory.set(None);
        self.cancel.reset();
        self.values.iter().for_each(|v| v.set(ptr::null_mut()));
        self.attention.set(false);
        self.urgent.set(false);
        self.signals.reset(blocked);
    }

    /// Notifies the thread of a pending signal or request: at once if it is in an interruptible
    /// wait, otherwise at its next one. The caller holds `LOCK`.
    pub fn notify(&self, waking: &Waking) {
        self.attention.set(true);
        if let (Some(thread), Interruptible::Full) = (self.thread.get(), self.interruptible.get()) {
            thread.interrupt_wait(waking);
        }
    }

    /// As [`notify`](Slot::notify); a wait for a lock is interrupted too, and restarted afterwards.
    pub fn notify_urgent(&self, waking: &Waking) {
        self.urgent.set(true);
        self.notify(waking);
        if let (Some(thread), Interruptible::Restartable) =
            (self.thread.get(), self.interruptible.get())
        {
            thread.interrupt_queue_wait(waking);
        }
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self::new()
    }
}

/// Defines the thread table of an image: `define_threads!(64, 16384);`
#[macro_export]
macro_rules! define_threads {
    ($count:expr, $stack:expr) => {
        $crate::define_table!(TENON_PTHREAD_SLOTS: [$crate::Slot; $count] = $crate::Slot::new());
        #[cfg_attr(target_os = "none", unsafe(no_mangle))]
        static TENON_PTHREAD_STACK_SIZE: usize = $stack;
    };
}

tenon_libc::table! {
    /// All slots; the first belongs to the main thread. On the host there are none.
    pub fn slots: Slot = TENON_PTHREAD_SLOTS
}

/// The slot of the calling thread, which is a POSIX thread.
#[inline(always)]
pub fn current() -> &'static Slot {
    let block = tls::current();
    // SAFETY: the first word of each POSIX thread's block points to its slot.
    unsafe { &*(*block).owner.get().cast::<Slot>() }
}

/// The slot of a `pthread_t`, unless the thread is gone. The caller holds `LOCK`.
pub fn find(name: ThreadId) -> Result<&'static Slot, Errno> {
    let slot = slots().get(name as u32 as usize).ok_or(Errno::ESRCH)?;
    let there = !matches!(slot.state.get(), SlotState::Free | SlotState::Reclaimable);
    let same = u64::from(slot.number.get()) == name >> 32;
    (there && same).then_some(slot).ok_or(Errno::ESRCH)
}

/// Makes the calling thread the main thread; returns the address for the first word of its block.
pub fn adopt_main() -> *const c_void {
    thread::current().set_slicing(true);
    thread::current().set_priority(Priority::new(1));
    LOCK.masked(|(), masked| {
        let slot = slots().first()?;
        slot.claim(SlotState::Joinable, 0);
        slot.thread.set(Some(masked.current()));
        if options::trace() {
            slot.describe(Name::Text(masked.current().name().as_bytes()));
        }
        Some(ptr::from_ref(slot).cast())
    })
    .unwrap_or(ptr::null())
}
