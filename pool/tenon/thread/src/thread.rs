//! Threads: made in static storage, scheduled by priority, preempted.

use crate::assembly;
use crate::kernel::Kernel;
use crate::timer::Timer;
use crate::wait::WaitQueue;
use core::cell::{Cell, UnsafeCell};
use core::fmt;
use core::mem::MaybeUninit;
use core_list::{Link, Linked};
use core_sched::{Schedulable, State};

pub use core_sched::Priority;

/// Why a thread was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The storage holds a thread that has not ended.
    InUse,
    /// The stack has no room for what the thread takes with it.
    StackTooSmall,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InUse => "the thread's storage is in use",
            Self::StackTooSmall => "the thread's stack is too small for its closure",
        })
    }
}

impl core::error::Error for Error {}

/// What a thread that is not ready waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// To be made: it has not begun or has ended. Zero, as all of a thread is at first, so that
    /// storage takes no room in the image.
    Spawn = 0,
    /// Nothing: it runs or could.
    Nothing,
    /// Its timer.
    Timer,
    /// [`Thread::unpark`].
    Unpark,
    /// Its turn in the queue it is in.
    Turn,
}

/// A thread.
pub struct Thread {
    /// Where its context is while it waits; meaningless while it runs.
    stack_pointer: Cell<usize>,
    link: Link<&'static Thread>,
    state: State,
    timer: Timer,
    waits: Cell<Wait>,
    /// An unpark came before the park.
    token: Cell<bool>,
    /// Where it waits for its turn.
    queue: Cell<Option<&'static WaitQueue>>,
    name: Cell<Option<&'static str>>,
}

// SAFETY: all fields are private to this crate, which touches them with interrupts masked, on the
// core the thread belongs to.
unsafe impl Sync for Thread {}

impl Thread {
    const fn new() -> Self {
        Self {
            stack_pointer: Cell::new(0),
            link: Link::new(),
            state: State::new(Priority::LOWEST),
            timer: Timer::of_thread(),
            waits: Cell::new(Wait::Spawn),
            token: Cell::new(false),
            queue: Cell::new(None),
            name: Cell::new(None),
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name.get().unwrap_or("")
    }

    /// Its priority.
    pub fn priority(&self) -> Priority {
        self.state.priority()
    }

    /// Changes its priority; it runs, or gives way, accordingly before this returns.
    pub fn set_priority(&'static self, priority: Priority) {
        Kernel::with(|kernel| {
            let queue = self.queue.get();
            queue.inspect(|queue| queue.leave(self));
            kernel.scheduler.set_priority(self, at_least_one(priority));
            queue.inspect(|queue| queue.join(self));
        });
    }

    /// Lets it go on from [`park`]; if it has not parked yet, its next park returns at once. Also
    /// from an interrupt handler.
    #[inline(always)]
    pub fn unpark(&'static self) {
        Kernel::with(|kernel| {
            if self.waits.get() == Wait::Unpark {
                self.wake(kernel);
            } else {
                self.token.set(true);
            }
        });
    }

    pub(crate) fn stack_pointer(&self) -> &Cell<usize> {
        &self.stack_pointer
    }

    pub(crate) fn timer(&self) -> &Timer {
        &self.timer
    }

    pub(crate) fn queue(&self) -> &Cell<Option<&'static WaitQueue>> {
        &self.queue
    }

    /// Its timer expired: makes it ready, out of turn if it waits for its turn.
    #[inline(always)]
    pub(crate) fn time_out(&'static self, kernel: &Kernel) {
        if let Some(queue) = self.queue.get() {
            queue.leave(self);
        }
        self.wake(kernel);
    }

    /// Makes it ready.
    #[inline(always)]
    pub(crate) fn wake(&'static self, kernel: &Kernel) {
        self.waits.set(Wait::Nothing);
        kernel.scheduler.wake(self);
    }

    /// Blocks it, the current one.
    #[inline(always)]
    pub(crate) fn wait(&self, kernel: &Kernel, reason: Wait) {
        self.waits.set(reason);
        kernel.block();
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
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {}", self.name())
    }
}

/// The stack and control block of one thread, made at build time.
///
/// ```no_run
/// use tenon_thread::thread::{Priority, Storage};
///
/// static BLINKER: Storage<2048> = Storage::new();
///
/// BLINKER.spawn("blinker", Priority::new(10), || { /* ... */ })?;
/// # Ok::<(), tenon_thread::thread::Error>(())
/// ```
#[repr(C, align(16))]
pub struct Storage<const STACK: usize> {
    stack: UnsafeCell<[MaybeUninit<u8>; STACK]>,
    thread: Thread,
}

// SAFETY: the stack is touched by its thread alone, and by `prepare` while there is none.
unsafe impl<const STACK: usize> Sync for Storage<STACK> {}

impl<const STACK: usize> Storage<STACK> {
    /// Storage without a thread.
    pub const fn new() -> Self {
        const {
            assert!(
                STACK.is_multiple_of(16),
                "a stack is a multiple of 16 bytes"
            )
        };
        Self {
            stack: UnsafeCell::new([MaybeUninit::uninit(); STACK]),
            thread: Thread::new(),
        }
    }

    /// Makes a thread that runs `body` and ends with it; if it is more urgent than the current one,
    /// it runs before this returns. Priority 0 is the idle thread's: it counts as 1.
    pub fn spawn<F: FnOnce() + Send + 'static>(
        &'static self,
        name: &'static str,
        priority: Priority,
        body: F,
    ) -> Result<&'static Thread, Error> {
        Kernel::with(|kernel| {
            let thread = self.prepare(kernel, name, at_least_one(priority), body)?;
            thread.wake(kernel);
            Ok(thread)
        })
    }

    /// Everything but the waking: `boot` makes its threads before there is anybody to preempt.
    pub(crate) fn prepare<F: FnOnce() + Send + 'static>(
        &'static self,
        kernel: &Kernel,
        name: &'static str,
        priority: Priority,
        body: F,
    ) -> Result<&'static Thread, Error> {
        let thread = &self.thread;
        if thread.waits.get() != Wait::Spawn {
            return Err(Error::InUse);
        }
        const { assert!(align_of::<F>() <= 16, "a stack aligns to 16 bytes") };
        let closure = size_of::<F>().next_multiple_of(16);
        let context = size_of::<[usize; assembly::CONTEXT]>();
        if closure + context > STACK {
            return Err(Error::StackTooSmall);
        }
        let top = self.stack.get() as usize + STACK;
        let (closure, context) = (top - closure, top - closure - context);
        // SAFETY: both lie within the stack, which no thread uses, and are aligned to 16 bytes as
        // it is.
        unsafe {
            (closure as *mut F).write(body);
            (context as *mut [usize; assembly::CONTEXT]).write(assembly::first_context(
                run::<F> as *const () as usize,
                closure,
            ));
        }
        thread.stack_pointer.set(context);
        thread.name.set(Some(name));
        thread.token.set(false);
        thread.timer.wakes(thread);
        kernel.scheduler.set_priority(thread, priority);
        thread.waits.set(Wait::Nothing);
        Ok(thread)
    }
}

impl<const STACK: usize> Default for Storage<STACK> {
    fn default() -> Self {
        Self::new()
    }
}

/// The first function of a thread: its body, then its end.
extern "C" fn run<F: FnOnce()>(body: *mut F) -> ! {
    // SAFETY: `prepare` put it there for this one call.
    let body = unsafe { body.read() };
    body();
    // Its storage may be used again as soon as somebody else runs.
    Kernel::waiting(|kernel| kernel.current().wait(kernel, Wait::Spawn));
    hw_arch::cpu::park()
}

fn at_least_one(priority: Priority) -> Priority {
    priority.max(Priority::new(1))
}

/// The thread that runs.
pub fn current() -> &'static Thread {
    Kernel::aside(Kernel::current)
}

/// Gives way to the others of the same priority.
#[inline(always)]
pub fn yield_now() {
    Kernel::waiting(Kernel::give_way);
}

/// Blocks the current thread until somebody calls its [`Thread::unpark`].
#[inline(always)]
pub fn park() {
    Kernel::waiting(|kernel| {
        let thread = kernel.current();
        if !thread.token.take() {
            thread.wait(kernel, Wait::Unpark);
        }
    });
}

/// Runs `action` without being preempted by other threads; interrupts are served all the while.
pub fn without_preemption<R>(action: impl FnOnce() -> R) -> R {
    let thread = current();
    thread.state.lock();
    let result = action();
    // What became ready meanwhile runs at the end of this.
    Kernel::with(|_| thread.state.unlock());
    result
}
