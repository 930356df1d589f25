//! State of a thread, and of the server that a thread can have.
//!
//! The modules below have what the kernel does with a thread: initialise, block and wake it, change
//! its priority, end a wait by a timeout, end the thread.

mod inheritance;
pub mod init;
mod priority;
mod remote;
mod timeout;
pub mod wake;

pub use core_sched::Priority;
pub use init::above_idle;

use crate::time::Timer;
use crate::wait::{LockedQueue, Mutex, WaitQueue, WaitValue};
use core::cell::Cell;
use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use core::time::Duration;
use core_inbox::{InboxEntry, Postable};
use core_list::{Link, Linked, List};
use core_placement::Urgency;
use core_sched::{EndedPeriods, FairServer, HasFairServer, HasServer, Schedulable, State};
use tenon_machine::object_lock::ObjectLock;
use tenon_machine::options;
use tenon_machine::server_record::ServerRecord;
use tenon_timer::TimeSlice;

/// Work that runs elsewhere while its thread runs. Both functions are called with interrupts
/// masked, and wake no thread.
pub trait RemoteWork: Sync {
    /// Suspends the work: the thread is descheduled.
    fn suspend(&self);

    /// Resumes the work: the thread is dispatched.
    fn resume(&self);
}

/// The priority of threads in the background; only the idle thread is below.
pub(crate) const BACKGROUND: Priority = Priority::new(1);

/// What a thread that is not ready waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// To be spawned: it has not started or has ended. Zero, as the whole thread is at first, so
    /// that storage takes no space in the image file.
    Dormant = 0,
    /// Nothing: it is ready or running.
    None,
    /// Its timer.
    Timer,
    /// [`Thread::unpark`].
    Unpark,
    /// To be woken from the wait queue it is in.
    Queue,
}

/// The control block of a thread, or of storage whose thread has ended.
pub struct Thread {
    /// The address of its context while it does not run; meaningless while it runs.
    stack_pointer: Cell<usize>,
    /// The lowest address of its stack.
    stack: Cell<usize>,
    link: Link<&'static Thread>,
    state: State,
    timer: Timer,
    wait_reason: Cell<Wait>,
    /// It was unparked before it parked.
    unpark_token: Cell<bool>,
    /// The queue in which it waits.
    queue: Cell<Option<&'static WaitQueue>>,
    /// Its wait ended before it was woken from the queue, and it has not read this yet. By the same
    /// link as before in the queue it can be in the run queue now, or on its way to another core.
    wait_timed_out: Cell<bool>,
    time_slice: TimeSlice,
    wait_value: Cell<WaitValue>,
    /// TPIDR_EL0 while it runs, in an image with thread pointers.
    pointer: Cell<usize>,
    /// The mutex for which it waits.
    blocked_on: Cell<Option<&'static Mutex>>,
    /// It was preempted, and is not inside a blocking call. In an image with call injection.
    preempted: Cell<bool>,
    /// Its base priority; `state` holds the priority by which it is scheduled.
    priority: Cell<Priority>,
    /// The mutexes it owns that donate a priority to it.
    held: List<&'static Mutex>,
    /// Its identifier; zero while there is no thread.
    id: Cell<u64>,
    /// The threads that wait for its end.
    joiners: LockedQueue,
    name: Cell<Option<&'static str>>,
    smp: SmpState,
    /// The lock that protects the queue in which it waits, unless that is the queue of a mutex.
    queue_lock: Cell<Option<&'static ObjectLock>>,
    /// That object is a condition variable, which requeues it to a mutex.
    requeues: Cell<bool>,
    /// Its server, in an image with servers.
    server: Cell<Option<&'static Server>>,
    /// Work that runs elsewhere while this thread runs, in an image with remote work.
    remote: Cell<Option<&'static dyn RemoteWork>>,
}

// SAFETY: the crates of the kernel alone use this type, and access it with interrupts masked. With
// several cores, only the home core of a thread, which `smp` names, accesses them. While the thread
// waits in a queue, its queue links and its priority there are protected by the lock of the object,
// and `blocked_on`, `held`, `priority` and `id` by `PI_CHAIN_LOCK`. The name is set before any
// other code can reach the thread.
unsafe impl Sync for Thread {}

impl Thread {
    /// Storage without a thread.
    pub const fn new() -> Self {
        Self {
            stack_pointer: Cell::new(0),
            stack: Cell::new(0),
            link: Link::new(),
            state: State::new(Priority::LOWEST),
            timer: Timer::unset(),
            wait_reason: Cell::new(Wait::Dormant),
            unpark_token: Cell::new(false),
            queue: Cell::new(None),
            wait_timed_out: Cell::new(false),
            time_slice: TimeSlice::new(),
            wait_value: Cell::new(core::ptr::null()),
            pointer: Cell::new(0),
            blocked_on: Cell::new(None),
            preempted: Cell::new(false),
            priority: Cell::new(Priority::LOWEST),
            held: List::new(),
            id: Cell::new(0),
            joiners: LockedQueue {
                lock: ObjectLock::new(),
                queue: WaitQueue::new(),
            },
            name: Cell::new(None),
            smp: SmpState::new(),
            queue_lock: Cell::new(None),
            requeues: Cell::new(false),
            server: Cell::new(None),
            remote: Cell::new(None),
        }
    }

    /// Its name.
    #[inline]
    pub fn name(&self) -> &'static str {
        self.name.get().unwrap_or("")
    }

    /// Its base priority; the caller holds `PI_CHAIN_LOCK`.
    #[inline]
    pub fn base_priority(&self) -> Priority {
        self.priority.get()
    }

    /// The priority by which it is scheduled: its base priority, or a more urgent one that it
    /// inherits from threads that wait for a mutex it owns.
    pub fn effective_priority(&self) -> Priority {
        if options::cores() > 1 {
            return self.smp.priority();
        }
        self.state.priority()
    }

    /// Its priority in the run queue, for placement.
    pub(crate) fn urgency(&'static self) -> Urgency {
        self.state.priority().number().into()
    }

    /// Whether it can migrate to another core.
    pub(crate) fn is_migratable(&self) -> bool {
        !self.smp.pinned.get()
    }

    /// The address of its context while it does not run.
    #[inline]
    pub fn stack_pointer(&self) -> &Cell<usize> {
        &self.stack_pointer
    }

    /// Its state in an image for several cores.
    #[inline]
    pub fn smp(&self) -> &SmpState {
        &self.smp
    }

    /// Sets the lock that protects the queue in which it is about to wait.
    #[inline(always)]
    pub fn set_queue_lock(&self, lock: Option<&'static ObjectLock>, requeues: bool) {
        if options::cores() > 1 {
            self.queue_lock.set(lock);
            self.requeues.set(requeues);
        }
    }

    /// The lowest address of its stack.
    #[inline]
    pub fn stack(&self) -> usize {
        self.stack.get()
    }

    /// Sets its thread pointer.
    #[inline]
    pub fn set_pointer(&self, pointer: usize) {
        self.pointer.set(pointer);
    }

    /// TPIDR_EL0 while it runs, in an image with thread pointers.
    #[inline]
    pub fn pointer(&self) -> usize {
        self.pointer.get()
    }

    /// Its timer, for sleep and timeouts.
    #[inline]
    pub fn timer(&self) -> &Timer {
        &self.timer
    }

    pub(crate) fn queue(&self) -> &Cell<Option<&'static WaitQueue>> {
        &self.queue
    }

    /// Its part of time slicing.
    #[inline]
    pub fn time_slice(&self) -> &TimeSlice {
        &self.time_slice
    }

    /// Its server.
    #[inline]
    pub fn server(&self) -> &Cell<Option<&'static Server>> {
        &self.server
    }

    /// The word that it exchanges with the thread that wakes it.
    #[inline]
    pub fn wait_value(&self) -> &Cell<WaitValue> {
        &self.wait_value
    }

    /// Whether it was preempted and is not inside a blocking call, in an image with call injection.
    #[inline]
    pub fn preempted(&self) -> &Cell<bool> {
        &self.preempted
    }

    /// The mutex for which it waits.
    #[inline]
    pub fn blocked_on(&self) -> &Cell<Option<&'static Mutex>> {
        &self.blocked_on
    }

    /// The lock of the threads that wait for its end.
    #[inline(always)]
    pub fn joiners(&self) -> &ObjectLock {
        &self.joiners.lock
    }

    /// The mutexes that it owns and that donate a priority to it.
    #[inline]
    pub fn held(&self) -> &List<&'static Mutex> {
        &self.held
    }

    /// What it waits for.
    #[inline(always)]
    pub fn wait_reason(&self) -> Wait {
        self.wait_reason.get()
    }

    /// Its identifier; zero while there is no thread.
    #[inline(always)]
    pub fn id(&self) -> u64 {
        self.id.get()
    }

    /// Whether it precedes a peer that is ahead of it: both are in the background, and it has run
    /// less.
    #[inline(always)]
    fn has_run_less_than(&self, other: &Self) -> bool {
        let background = |thread: &Self| {
            let server = thread.server.get();
            server.filter(|server| server.is_in_background())
        };
        match (background(self), background(other)) {
            (Some(one), Some(other)) => one.fair.precedes(&other.fair),
            _ => false,
        }
    }
}

impl Default for Thread {
    fn default() -> Self {
        Self::new()
    }
}

impl Linked for &'static Thread {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

impl Schedulable for &'static Thread {
    fn state(&self) -> &State {
        &self.state
    }

    #[inline(always)]
    fn is_ordered() -> bool {
        options::servers()
    }

    #[inline(always)]
    fn precedes(&self, other: &Self) -> bool {
        self.has_run_less_than(other)
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {}", self.name())
    }
}

/// State of a thread in an image for several cores.
pub struct SmpState {
    /// The number of its home core.
    home: AtomicUsize,
    /// It does not migrate.
    pinned: Cell<bool>,
    inbox_entry: InboxEntry<Thread>,
    link: Link<Migratable>,
    state: State,
    /// The effective priority as last decided; the home core applies it.
    priority: AtomicU8,
    /// Its storage holds a thread.
    claimed: AtomicBool,
}

impl SmpState {
    const fn new() -> Self {
        Self {
            home: AtomicUsize::new(0),
            pinned: Cell::new(false),
            inbox_entry: InboxEntry::new(),
            link: Link::new(),
            state: State::new(Priority::LOWEST),
            priority: AtomicU8::new(0),
            claimed: AtomicBool::new(false),
        }
    }

    /// Initialises it for a new thread with that home core, pinned or not.
    #[inline]
    pub fn init(&self, home: usize, pinned: bool) {
        self.home.store(home, Ordering::Relaxed);
        self.pinned.set(pinned);
    }

    /// The number of its home core.
    pub(crate) fn home(&self) -> usize {
        // Acquire: a core that finds itself to be the home observes all writes of the former one.
        self.home.load(Ordering::Acquire)
    }

    /// Changes its home core.
    pub(crate) fn set_home(&self, home: usize) {
        // Release: the new home core observes all writes of this one.
        self.home.store(home, Ordering::Release);
    }

    pub(crate) fn set_priority(&self, priority: Priority) {
        if options::cores() > 1 {
            self.priority.store(priority.number(), Ordering::Relaxed);
        }
    }

    pub(crate) fn priority(&self) -> Priority {
        Priority::new(self.priority.load(Ordering::Relaxed))
    }

    /// Claims the storage for a new thread. Returns whether it was free.
    fn claim(&self) -> bool {
        !self.claimed.swap(true, Ordering::Acquire)
    }

    fn is_claimed(&self) -> bool {
        self.claimed.load(Ordering::Acquire)
    }

    /// Releases the storage.
    fn release(&self) {
        self.claimed.store(false, Ordering::Release);
    }
}

/// A thread by its second link, in the queue of threads that can migrate.
#[derive(Clone, Copy)]
pub(crate) struct Migratable(pub(crate) &'static Thread);

impl Linked for Migratable {
    fn link(&self) -> &Link<Self> {
        &self.0.smp.link
    }
}

impl Schedulable for Migratable {
    fn state(&self) -> &State {
        &self.0.smp.state
    }
}

impl Postable for Thread {
    fn inbox_entry(&self) -> &InboxEntry<Self> {
        &self.smp.inbox_entry
    }
}

/// The server of one thread.
pub struct Server {
    fair: FairServer<&'static Server>,
    /// Budget and period.
    share: Cell<Option<(Duration, Duration)>>,
    thread: Cell<Option<&'static Thread>>,
    /// The priority of the thread while it has budget.
    foreground: Cell<Priority>,
    /// The base priority of the thread before it was attached.
    before: Cell<Priority>,
    /// Where the use of the budget is counted.
    record: Cell<Option<&'static ServerRecord>>,
}

// SAFETY: the crates of the kernel alone use this type, and access it on the only core with
// interrupts masked. `Server::attach` of `tenon-thread` alone reads the list of attached servers under a preemption
// lock instead, and no interrupt changes that list.
unsafe impl Sync for Server {}

impl Server {
    /// A server that is not attached, with budget and period or without.
    pub const fn new(share: Option<(Duration, Duration)>) -> Self {
        Self {
            fair: FairServer::new(),
            share: Cell::new(share),
            thread: Cell::new(None),
            foreground: Cell::new(BACKGROUND),
            before: Cell::new(BACKGROUND),
            record: Cell::new(None),
        }
    }

    /// Where the use of its budget is counted.
    #[inline]
    pub fn record(&self) -> &Cell<Option<&'static ServerRecord>> {
        &self.record
    }

    /// Its thread.
    #[inline]
    pub fn thread(&self) -> &Cell<Option<&'static Thread>> {
        &self.thread
    }

    /// Budget and period.
    #[inline]
    pub fn share(&self) -> &Cell<Option<(Duration, Duration)>> {
        &self.share
    }

    /// The base priority of the thread before it was attached.
    #[inline]
    pub fn before(&self) -> &Cell<Priority> {
        &self.before
    }

    /// The priority of the thread while it has budget.
    #[inline]
    pub fn foreground(&self) -> &Cell<Priority> {
        &self.foreground
    }

    /// Whether its thread runs in the background: it has no budget, or has depleted it.
    #[inline(always)]
    pub fn is_in_background(&self) -> bool {
        self.fair.is_background()
    }
}

impl HasServer for &'static Server {
    fn server(&self) -> &core_sched::Server<Self> {
        &self.fair.server
    }

    #[inline(always)]
    fn periods_ended(&self, ended: impl FnOnce() -> EndedPeriods) {
        if options::server_counters()
            && let Some(record) = self.record.get()
        {
            record.add(ended());
        }
    }
}

impl HasFairServer for &'static Server {
    fn fair_server(&self) -> &FairServer<Self> {
        &self.fair
    }
}
