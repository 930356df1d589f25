//! The table of threads.

use crate::cancel_state::CancelState;
use crate::pending::{Set, Signals};
use crate::policy;
use crate::stack::Memory;
use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;
use tenon_libc::{Errno, tls};
use tenon_thread::thread::{self, Block, Priority, Thread};
use tenon_thread::wait::{Guarded, WaitQueue, Waking};

/// What is known of threads is behind this. Who holds it calls nothing that allocates.
pub static LOCK: Guarded<()> = Guarded::new(());

/// A thread's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Life {
    /// There is no thread.
    #[default]
    None,
    /// It is being made, runs or could; somebody may join it.
    Joinable,
    /// The same, and nobody may.
    Detached,
    /// It has ended, and somebody may join it.
    Ended,
    /// It has ended, and nobody will ask for it.
    Forgotten,
}

/// What C calls a thread: `pthread_t`.
pub type Name = u64;

/// `PTHREAD_KEYS_MAX` of `<limits.h>`.
pub const KEYS: usize = 128;

/// What may cut a thread's wait short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interruptible {
    /// Nothing.
    Not,
    /// A signal or an asynchronous cancel: after the handlers the wait goes on. So it is for a lock,
    /// which is no cancellation point (POSIX.1-2017, `pthread_mutex_lock`).
    ForAWhile,
    /// These, and any cancel.
    ForGood,
}

/// One thread of C.
pub struct Slot {
    pub(crate) block: Block,
    /// The thread, from its beginning to its end.
    pub(crate) thread: Cell<Option<&'static Thread>>,
    pub(crate) life: Cell<Life>,
    /// It runs the program no more, and does what is to be done at its end.
    pub(crate) ending: Cell<bool>,
    /// Which of its threads it is, so that a stale `pthread_t` is known as such.
    pub(crate) number: Cell<u32>,
    pub(crate) result: Cell<*mut c_void>,
    /// Who waits for its end.
    pub(crate) joiners: WaitQueue,
    /// Its stack, until it is given back.
    pub(crate) memory: Cell<Option<Memory>>,
    pub(crate) cancel: CancelState,
    pub(crate) values: [Cell<*mut c_void>; KEYS],
    /// There is something it has to see to: see [`crate::wait`].
    pub(crate) attention: Cell<bool>,
    /// It is in a wait that may be cut short.
    pub(crate) interruptible: Cell<Interruptible>,
    /// Of what it has to see to, something is to be seen to at once.
    pub(crate) urgent: Cell<bool>,
    /// For waits that no queue of an object is for.
    pub alone: Guarded<WaitQueue>,
    /// What it has to do with signals.
    pub signals: Signals,
    /// `SCHED_FIFO` and the like.
    pub(crate) policy: Cell<u8>,
}

// SAFETY: all of it is touched behind `LOCK`, or by its own thread alone.
unsafe impl Sync for Slot {}

impl Slot {
    /// A slot without a thread.
    pub const fn new() -> Self {
        Self {
            block: Block::new(),
            thread: Cell::new(None),
            life: Cell::new(Life::None),
            ending: Cell::new(false),
            number: Cell::new(0),
            result: Cell::new(ptr::null_mut()),
            joiners: WaitQueue::new(),
            memory: Cell::new(None),
            cancel: CancelState::new(),
            values: [const { Cell::new(ptr::null_mut()) }; KEYS],
            attention: Cell::new(false),
            interruptible: Cell::new(Interruptible::Not),
            urgent: Cell::new(false),
            alone: Guarded::new(WaitQueue::new()),
            signals: Signals::new(),
            policy: Cell::new(policy::OTHER),
        }
    }

    /// The `pthread_t` of its thread.
    pub fn name(&'static self) -> Name {
        let index = (ptr::from_ref(self) as usize - slots().as_ptr() as usize) / size_of::<Self>();
        u64::from(self.number.get()) << 32 | index as u64
    }

    /// Its thread, while there is one.
    pub fn thread(&self) -> Option<&'static Thread> {
        self.thread.get()
    }

    /// Has its thread serve the program, which does not go on for its sake.
    pub fn serve(&self) {
        self.ending.set(true);
    }

    /// Takes the slot for a thread to come, which blocks those signals.
    pub(crate) fn claim(&self, life: Life, blocked: Set) {
        self.life.set(life);
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
}

impl Slot {
    /// Lets its thread attend to something: at once if it is in a wait that may be interrupted,
    /// otherwise at its next one. To be called behind `LOCK`.
    pub fn notify(&self, waking: &Waking) {
        self.attention.set(true);
        if let (Some(thread), Interruptible::ForGood) =
            (self.thread.get(), self.interruptible.get())
        {
            thread.interrupt_wait(waking);
        }
    }

    /// As [`notify`](Slot::notify), and a wait for a lock ends early too, after which it goes on.
    pub fn rouse(&self, waking: &Waking) {
        self.urgent.set(true);
        self.notify(waking);
        if let (Some(thread), Interruptible::ForAWhile) =
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

/// Defines the table of an image: `define_threads!(64, 16384);`
#[macro_export]
macro_rules! define_threads {
    ($count:expr, $stack:expr) => {
        $crate::define_table!(TENON_PTHREAD_SLOTS: [$crate::Slot; $count] = $crate::Slot::new());
        #[cfg_attr(target_os = "none", unsafe(no_mangle))]
        static TENON_PTHREAD_STACK_SIZE: usize = $stack;
    };
}

tenon_libc::table! {
    /// All slots; the first is the main thread's. On the host there are no threads of C.
    pub fn slots: Slot = TENON_PTHREAD_SLOTS
}

/// The slot of the calling thread, which is one of C.
#[inline(always)]
pub fn current() -> &'static Slot {
    let block = tls::current();
    // SAFETY: every thread of C has a block, which leads to its slot.
    unsafe { &*(*block).owner.get().cast::<Slot>() }
}

/// The slot that a `pthread_t` means, while its thread has not been forgotten. To be called behind
/// `LOCK`.
pub fn find(name: Name) -> Result<&'static Slot, Errno> {
    let slot = slots().get(name as u32 as usize).ok_or(Errno::ESRCH)?;
    let there = !matches!(slot.life.get(), Life::None | Life::Forgotten);
    let same = u64::from(slot.number.get()) == name >> 32;
    (there && same).then_some(slot).ok_or(Errno::ESRCH)
}

/// Makes the calling thread the main thread of C; returns what its block leads to.
pub fn adopt_main() -> *const c_void {
    thread::current().set_slicing(true);
    thread::current().set_priority(Priority::new(1));
    LOCK.masked(|(), masked| {
        let slot = slots().first()?;
        slot.claim(Life::Joinable, 0);
        slot.thread.set(Some(masked.current()));
        Some(ptr::from_ref(slot).cast())
    })
    .unwrap_or(ptr::null())
}
