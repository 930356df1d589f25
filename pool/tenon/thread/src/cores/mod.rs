//! Several cores: each with a kernel of its own, and what they want of each other.
//!
//! A thread has a home, the core in whose run queue it is when it is ready; that core alone touches
//! its context, its timer and its place in the queue. Who wants something of a thread that is at
//! home elsewhere posts it there, with the matter as a bit, and calls that core by an SGI if its
//! inbox was empty. Only the home changes the home: it passes a free thread on once that is ready
//! and its context saved. A post that comes to a former home is passed on.
//!
//! What of this an image with one core would run is behind `options::cores() > 1`, a constant.

mod place;
mod start;
mod timers;

pub use start::boot_secondary;
pub(crate) use start::start_secondaries;

use crate::kernel::{EXPIRY_STEPS, Kernel, Linked as Drivers};
use crate::options;
use crate::sites;
use crate::thread::Thread;
use crate::timer::Timer;
use crate::trace;
use crate::wait::{ObjectLock, PI_CHAIN_LOCK};
use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use core_inbox::{Batch, Inbox, Post, Slip};
use core_list::{Link, Linked};
use core_placement::Standing;
use core_sched::{Priority, RunQueue, Schedulable, State};
use core_timer::RadixHeap;
use tenon_irq::Target;

/// The SGI that calls a core to its inbox. Mortise keeps SGI 0 of Group 0 for itself, and channels
/// come by 8 to 15.
pub(crate) const KICK_SGI: u32 = 1;

/// What is wanted of a posted thread, one bit each.
pub(crate) mod request {
    /// Its wait is over.
    pub const WAKE: u32 = 1 << 0;
    /// It is at home here now, and ready.
    pub const ARRIVE: u32 = 1 << 1;
    /// [`unpark`](super::Thread::unpark).
    pub const UNPARK: u32 = 1 << 2;
    /// Its priority changed.
    pub const PRIORITY: u32 = 1 << 3;
}

/// What a core shares with the others, and what it needs on account of them.
pub struct Core {
    inbox: Inbox<Thread>,
    standing: Standing,
    /// It is there.
    present: AtomicBool,
    /// Where SGIs find it; written before it is there.
    target: Cell<Option<Target>>,
    /// Its timers, likewise.
    timers: Cell<Option<&'static RadixHeap<&'static Timer>>>,
    timers_lock: ObjectLock,
    /// Somebody wants what waits here and could run elsewhere.
    pull_requested: AtomicBool,
    // What follows is touched by the core itself, with interrupts masked.
    /// The free threads that are ready and do not run.
    migratable: RunQueue<Migratable>,
    /// What is left of what was collected from the inbox.
    batch: Cell<Batch<Thread>>,
    /// Who ran before, until its context is known to be saved.
    outgoing: Cell<Option<&'static Thread>>,
    /// Where it goes then.
    destination: Cell<Option<usize>>,
}

// SAFETY: other cores touch the atomic part, the target once it does not change, and the timers within
// their gate; all fields are private to this module.
unsafe impl Sync for Core {}

impl Core {
    /// A core that has not started.
    pub const fn new() -> Self {
        Self {
            inbox: Inbox::new(),
            standing: Standing::new(),
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

    /// Says where its timers are.
    pub(crate) fn set_timers(&self, timers: &'static RadixHeap<&'static Timer>) {
        self.timers.set(Some(timers));
    }

    /// Notes that it is there.
    fn announce(&self, target: Target) {
        self.target.set(Some(target));
        self.present.store(true, Ordering::Release);
    }

    fn is_present(&self) -> bool {
        self.present.load(Ordering::Acquire)
    }
}

impl Default for Core {
    fn default() -> Self {
        Self::new()
    }
}

/// Where a thread lives: its part of all this.
pub(crate) struct SmpState {
    /// The number of its core.
    home: AtomicUsize,
    /// It stays there.
    pinned: Cell<bool>,
    slip: Slip<Thread>,
    link: Link<Migratable>,
    state: State,
    /// What it is to be scheduled by, as last decided; its core follows.
    priority: AtomicU8,
    /// Its storage holds a thread.
    claimed: AtomicBool,
}

impl SmpState {
    pub(crate) const fn new() -> Self {
        Self {
            home: AtomicUsize::new(0),
            pinned: Cell::new(false),
            slip: Slip::new(),
            link: Link::new(),
            state: State::new(Priority::LOWEST),
            priority: AtomicU8::new(0),
            claimed: AtomicBool::new(false),
        }
    }

    /// For a life to begin: on the core of that number, for good or for a start.
    pub(crate) fn settle(&self, home: usize, pinned: bool) {
        self.home.store(home, Ordering::Relaxed);
        self.pinned.set(pinned);
    }

    /// The number of its core.
    pub(crate) fn home(&self) -> usize {
        // Acquire: who finds itself to be the home sees what the former one did.
        self.home.load(Ordering::Acquire)
    }

    pub(crate) fn set_priority(&self, priority: Priority) {
        if options::cores() > 1 {
            self.priority.store(priority.number(), Ordering::Relaxed);
        }
    }

    pub(crate) fn priority(&self) -> Priority {
        Priority::new(self.priority.load(Ordering::Relaxed))
    }

    /// Takes the storage for a thread to come; returns whether it was to be had.
    pub(crate) fn claim(&self) -> bool {
        !self.claimed.swap(true, Ordering::Acquire)
    }

    pub(crate) fn is_claimed(&self) -> bool {
        self.claimed.load(Ordering::Acquire)
    }

    /// Gives the storage back.
    pub(crate) fn release(&self) {
        self.claimed.store(false, Ordering::Release);
    }
}

/// A thread by its second link: among those that could run elsewhere.
#[derive(Clone, Copy)]
struct Migratable(&'static Thread);

impl Linked for Migratable {
    fn link(&self) -> &Link<Self> {
        &self.0.smp().link
    }
}

impl Schedulable for Migratable {
    fn state(&self) -> &State {
        &self.0.smp().state
    }
}

impl Post for Thread {
    fn slip(&self) -> &Slip<Self> {
        &self.smp().slip
    }
}

impl Kernel {
    /// What this core has on account of the others; nothing in an image for one core.
    #[inline(always)]
    fn core(&self) -> Option<&'static Core> {
        self.cores().get(self.index())
    }

    /// Whether a thread is at home on this core.
    #[inline(always)]
    pub(crate) fn is_home_core_of(&self, thread: &Thread) -> bool {
        options::cores() == 1 || thread.smp().home() == self.index()
    }

    /// Whether there is a core of that number.
    pub(crate) fn has_core(&self, number: usize) -> bool {
        number == self.index() || self.cores().get(number).is_some_and(Core::is_present)
    }

    /// Wants `requests` done about `thread` by the core it is at home on.
    #[cold]
    pub(crate) fn post(&self, thread: &'static Thread, requests: u32) {
        if let Some(core) = self.cores().get(thread.smp().home())
            && core.inbox.post(thread, requests)
        {
            self.call(core);
        }
    }

    /// Interrupts a core, which sees all that was stored before.
    fn call(&self, core: &Core) {
        if let Some(target) = core.target.get() {
            self.interrupts
                .controller()
                .send::<Drivers>(KICK_SGI, target);
        }
    }

    /// Does what others want of this core: the call's work. As many matters at a time as one
    /// interrupt may expire timers; the core calls itself for the rest.
    fn receive(&self) {
        let Some(core) = self.core() else {
            return;
        };
        let mut batch = core.batch.take();
        if batch.is_empty() {
            batch = core.inbox.collect();
        }
        for (thread, requests) in batch.by_ref().take(EXPIRY_STEPS) {
            self.handle_requests(thread, requests);
        }
        let over = batch.is_empty() && core.inbox.is_empty();
        core.batch.set(batch);
        if !over {
            self.call(core);
        }
        if core.pull_requested.swap(false, Ordering::AcqRel) {
            self.balance();
        }
    }

    fn handle_requests(&self, thread: &'static Thread, requests: u32) {
        if !self.is_home_core_of(thread) {
            // It moved on; what is wanted of it follows.
            return self.post(thread, requests);
        }
        if requests & request::PRIORITY != 0 {
            PI_CHAIN_LOCK.locked(|| thread.apply_priority(self, thread.smp().priority()));
        }
        if requests & request::WAKE != 0 {
            self.cancel_timer(thread.timer());
            thread.wake_local(self);
        }
        if requests & request::ARRIVE != 0 {
            self.place(thread, place::Origin::Sent);
        }
        if requests & request::UNPARK != 0 {
            thread.unpark_local(self);
        }
    }
}

/// The handler of the call.
pub(crate) extern "C" fn kicked(intid: u32) {
    sites::note_handler();
    trace::serving(intid, || {
        // SAFETY: handlers are called by the vector alone.
        let this = unsafe { Kernel::this() };
        this.receive();
    });
}
