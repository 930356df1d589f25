//! Threads: made in static storage, scheduled by priority, preempted.

use crate::cores::{SmpState, request};
use crate::kernel::Kernel;
use crate::options;
use crate::server::Server;
use crate::slice::TimeSlice;
use crate::timer::Timer;
use crate::trace;
use crate::wait::{Guarded, ObjectLock, PI_CHAIN_LOCK, RawMutex, WaitQueue, WaitValue};
use core::cell::Cell;
use core::fmt;
use core_list::{Link, Linked, List};
use core_sched::{Schedulable, State};
use core_trace::Event;

mod block;
mod current;
mod error;
mod handle;
mod notice;
mod remote;
mod storage;
mod timeout;

pub use block::Block;
pub use core_sched::Priority;
pub use current::{
    PreemptionLock, core, cores, current, disable_fp, park, pointer, relative_priority, relax,
    set_pointer, without_preemption, yield_now,
};
pub use error::Error;
pub use handle::Handle;
pub use remote::{RemoteWork, run_remotely};
pub use storage::{Packed, Stack, StackLayout, Storage};

/// What a thread that is not ready waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// To be made: it has not begun or has ended. Zero, as all of a thread is at first, so that
    /// storage takes no room in the image.
    Dormant = 0,
    /// Nothing: it runs or could.
    None,
    /// Its timer.
    Timer,
    /// [`Thread::unpark`].
    Unpark,
    /// Its turn in the queue it is in.
    Queue,
}

/// A thread, or what its storage holds once it has ended: for who knows that it lives, and the
/// thread itself. Others have a [`Handle`].
pub struct Thread {
    /// Where its context is while it waits; meaningless while it runs.
    stack_pointer: Cell<usize>,
    /// The lowest address of its stack.
    stack: Cell<usize>,
    link: Link<&'static Thread>,
    state: State,
    timer: Timer,
    wait_reason: Cell<Wait>,
    /// An unpark came before the park.
    token: Cell<bool>,
    /// Where it waits for its turn.
    queue: Cell<Option<&'static WaitQueue>>,
    /// It left that queue out of turn, and has not heard of it yet: by the same link as in the queue
    /// it may be in the run queue now, or on its way to another core.
    wait_timed_out: Cell<bool>,
    turn: TimeSlice,
    /// What it and whoever gives it its turn exchange.
    wait_value: Cell<WaitValue>,
    /// What TPIDR_EL0 holds while it runs, in an image with thread pointers.
    pointer: Cell<usize>,
    /// The mutex that queue belongs to, if it does to one.
    blocked_on: Cell<Option<&'static RawMutex>>,
    /// It was preempted, so that it is in no call. In an image with interjections.
    preempted: Cell<bool>,
    /// Its own priority; `state` has the one it is scheduled by.
    priority: Cell<Priority>,
    /// The mutexes it owns that lend it a priority.
    held: List<&'static RawMutex>,
    /// Which of all threads it is; zero while there is none.
    number: Cell<u64>,
    /// Who waits for its end.
    joiners: Guarded<WaitQueue>,
    name: Cell<Option<&'static str>>,
    smp: SmpState,
    /// The lock of the object that queue belongs to, if that is no mutex.
    gate: Cell<Option<&'static ObjectLock>>,
    /// That object is a condition: who notifies it moves it to a mutex.
    requeues: Cell<bool>,
    /// Its share of the core. In an image with servers.
    server: Cell<Option<&'static Server>>,
    /// What is done elsewhere while it has the core, in an image with such threads.
    remote: Cell<Option<&'static dyn RemoteWork>>,
}

// SAFETY: all fields are private to this crate, which touches them with interrupts masked. With
// several cores, `smp` says which one a thread is at home on, and that core touches it; but
// while it waits in a queue, the queue, and its place and priority there, belong to who holds the
// object's lock, and what concerns mutexes (`blocked_on`, `held`, `priority`, `number`) to who holds
// `PI_CHAIN_LOCK`. A name is set before there is anybody to ask for it.
unsafe impl Sync for Thread {}

impl Thread {
    const fn new() -> Self {
        Self {
            stack_pointer: Cell::new(0),
            stack: Cell::new(0),
            link: Link::new(),
            state: State::new(Priority::LOWEST),
            timer: Timer::unset(),
            wait_reason: Cell::new(Wait::Dormant),
            token: Cell::new(false),
            queue: Cell::new(None),
            wait_timed_out: Cell::new(false),
            turn: TimeSlice::new(),
            wait_value: Cell::new(core::ptr::null()),
            pointer: Cell::new(0),
            blocked_on: Cell::new(None),
            preempted: Cell::new(false),
            priority: Cell::new(Priority::LOWEST),
            held: List::new(),
            number: Cell::new(0),
            joiners: Guarded::new(WaitQueue::new()),
            name: Cell::new(None),
            smp: SmpState::new(),
            gate: Cell::new(None),
            requeues: Cell::new(false),
            server: Cell::new(None),
            remote: Cell::new(None),
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name.get().unwrap_or("")
    }

    /// Its own priority.
    pub fn priority(&self) -> Priority {
        Kernel::without_irqs(|| PI_CHAIN_LOCK.locked(|| self.priority.get()))
    }

    /// [`priority`](Thread::priority), for who is in `PI_CHAIN_LOCK`.
    pub(crate) fn own(&self) -> Priority {
        self.priority.get()
    }

    /// The priority it is scheduled by: its own, or a more urgent one that threads lend it which
    /// wait for a mutex of its.
    pub fn effective_priority(&self) -> Priority {
        if options::cores() > 1 {
            return self.smp.priority();
        }
        self.state.priority()
    }

    /// Changes its own priority; it runs, or gives way, accordingly before this returns.
    pub fn set_priority(&'static self, priority: Priority) {
        Kernel::with_reschedule(|kernel| {
            PI_CHAIN_LOCK.locked(|| self.set_base_priority(kernel, priority))
        });
    }

    pub(crate) fn set_base_priority(&'static self, kernel: &Kernel, priority: Priority) {
        self.priority.set(above_idle(priority));
        self.settle(kernel);
    }

    /// Schedules it by another priority, wherever it stands.
    pub(crate) fn set_effective_priority(&'static self, kernel: &Kernel, priority: Priority) {
        self.smp.set_priority(priority);
        // While it waits for a mutex it is in no core's hands.
        if self.blocked_on.get().is_some() || kernel.is_home_core_of(self) {
            self.apply_priority(kernel, priority);
        } else {
            kernel.post(self, request::PRIORITY);
        }
    }

    /// Does so on its core.
    pub(crate) fn apply_priority(&'static self, kernel: &Kernel, priority: Priority) {
        let follow = || {
            let queue = self.queue.get();
            queue.inspect(|queue| queue.leave(self));
            kernel.set_priority(self, priority);
            queue.inspect(|queue| queue.join(self));
        };
        match self.gate.get() {
            Some(gate) if options::cores() > 1 && self.blocked_on.get().is_none() => {
                gate.locked(follow);
            }
            _ => follow(),
        }
    }

    /// Lets it go on from [`park`]; if it has not parked yet, its next park returns at once. Also
    /// from an interrupt handler.
    #[inline(always)]
    pub fn unpark(&'static self) {
        Kernel::with_reschedule(|kernel| self.unpark_in(kernel));
    }

    #[inline(always)]
    pub(crate) fn unpark_in(&'static self, kernel: &Kernel) {
        if kernel.is_home_core_of(self) {
            self.unpark_local(kernel);
        } else {
            kernel.post(self, request::UNPARK);
        }
    }

    #[inline(always)]
    pub(crate) fn unpark_local(&'static self, kernel: &Kernel) {
        if self.wait_reason.get() == Wait::Unpark {
            self.wake_local(kernel);
        } else {
            self.token.set(true);
        }
    }

    pub(crate) fn stack_pointer(&self) -> &Cell<usize> {
        &self.stack_pointer
    }

    pub(crate) fn smp(&self) -> &SmpState {
        &self.smp
    }

    /// Notes, before it waits, whose queue it waits in.
    #[inline(always)]
    pub(crate) fn set_queue_lock(&self, gate: Option<&'static ObjectLock>, requeues: bool) {
        if options::cores() > 1 {
            self.gate.set(gate);
            self.requeues.set(requeues);
        }
    }

    pub(crate) fn stack(&self) -> usize {
        self.stack.get()
    }

    pub(crate) fn pointer(&self) -> usize {
        self.pointer.get()
    }

    pub(crate) fn timer(&self) -> &Timer {
        &self.timer
    }

    pub(crate) fn queue(&self) -> &Cell<Option<&'static WaitQueue>> {
        &self.queue
    }

    pub(crate) fn time_slice(&self) -> &TimeSlice {
        &self.turn
    }

    pub(crate) fn server(&self) -> &Cell<Option<&'static Server>> {
        &self.server
    }

    pub(crate) fn wait_value(&self) -> &Cell<WaitValue> {
        &self.wait_value
    }

    pub(crate) fn preempted(&self) -> &Cell<bool> {
        &self.preempted
    }

    pub(crate) fn blocked_on(&self) -> &Cell<Option<&'static RawMutex>> {
        &self.blocked_on
    }

    pub(crate) fn joiners(&self) -> &Guarded<WaitQueue> {
        &self.joiners
    }

    pub(crate) fn held(&self) -> &List<&'static RawMutex> {
        &self.held
    }

    /// Which of all threads it is; zero while there is none.
    #[inline(always)]
    pub(crate) fn number(&self) -> u64 {
        self.number.get()
    }

    /// Makes it ready on its core.
    #[inline(always)]
    pub(crate) fn wake(&'static self, kernel: &Kernel) {
        if kernel.is_home_core_of(self) {
            self.wake_local(kernel);
        } else {
            kernel.post(self, request::WAKE);
        }
    }

    #[inline(always)]
    pub(crate) fn wake_local(&'static self, kernel: &Kernel) {
        self.wait_reason.set(Wait::None);
        kernel.record(Event::Ready, self);
        kernel.make_ready(self);
    }

    /// Ends it, the current one.
    pub(crate) fn end(&'static self, kernel: &Kernel) {
        kernel.detach_server(self);
        PI_CHAIN_LOCK.locked(|| {
            self.release_held_mutexes(kernel);
            // Who joins looks at the number, and waits, in there.
            self.joiners.lock().locked(|| {
                self.number.set(0);
                self.wake_joiners(kernel);
            });
        });
        self.wait(kernel, Wait::Dormant);
    }

    /// It no longer runs, and its context is saved; if it ended, its storage may be used again.
    pub(crate) fn left(&self) {
        if self.wait_reason.get() == Wait::Dormant {
            self.smp.release();
        }
    }

    /// Blocks it, the current one.
    #[inline(always)]
    pub(crate) fn wait(&self, kernel: &Kernel, reason: Wait) {
        self.wait_reason.set(reason);
        trace::wait_reason(kernel, self, reason);
        kernel.block();
    }

    /// Lets somebody else run until its turn comes, as it has left the run queue for a wait queue.
    #[inline(always)]
    pub(crate) fn wait_in_queue(&self, kernel: &Kernel) {
        self.wait_reason.set(Wait::Queue);
        trace::wait_reason(kernel, self, Wait::Queue);
        kernel.switch_away();
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
        self.comes_before(other)
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {}", self.name())
    }
}

/// The first function of a thread: its body, then its end.
pub(crate) extern "C" fn run<F: FnOnce()>(body: *mut F) -> ! {
    Kernel::begin();
    // SAFETY: `prepare` put it there for this one call.
    let body = unsafe { body.read() };
    body();
    // Its storage may be used again as soon as somebody else runs.
    Kernel::with_blocking(|kernel| kernel.current().end(kernel));
    hw_arch::cpu::park()
}

pub(crate) fn above_idle(priority: Priority) -> Priority {
    priority.max(Priority::new(1))
}
