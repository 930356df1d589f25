//! [`Slot`]: the storage of a thread of a process.

use core::cell::UnsafeCell;
use core::fmt;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use tenon_address_space::PAGE;
use tenon_program::Errno;
use tenon_sync::Semaphore;
use tenon_thread::options;
use tenon_thread::thread::{Block, Priority, StackLayout};
use tenon_thread::time::Instant;
use tenon_user::{Context, Space};

/// Bytes of a kernel stack.
const STACK: usize = 2 * PAGE;

/// Storage of a thread of a process: guard page, kernel stack, control block, registers of EL0.
#[repr(C, align(4096))]
pub struct Slot {
    guard: MaybeUninit<[u8; PAGE]>,
    stack: UnsafeCell<MaybeUninit<[u8; STACK]>>,
    block: Block,
    context: UnsafeCell<Context>,
    pub(crate) space: Space,
    process: AtomicU32,
    parent: AtomicU32,
    number: AtomicU32,
    /// The thread is to leave EL0 for good.
    ended: AtomicBool,
    /// Ends a wait of the thread.
    wake: Semaphore,
}

// SAFETY: the thread that runs on the stack has the context for itself, but for its attention, which
// is atomic; others access it only while there is no such thread. The other fields are `Sync`.
unsafe impl Sync for Slot {}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread of process {}", self.process())
    }
}

impl Slot {
    /// Storage without a thread.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            guard: MaybeUninit::uninit(),
            stack: UnsafeCell::new(MaybeUninit::uninit()),
            block: Block::new(),
            context: UnsafeCell::new(Context::new()),
            space: Space::new(),
            process: AtomicU32::new(0),
            parent: AtomicU32::new(0),
            number: AtomicU32::new(0),
            ended: AtomicBool::new(false),
            wake: Semaphore::bounded(0, 1),
        }
    }

    /// Whether no thread uses it.
    pub(crate) fn is_free(&'static self) -> bool {
        self.block.is_free()
    }

    /// The number of its process.
    pub(crate) fn process(&self) -> u32 {
        self.process.load(Ordering::Relaxed)
    }

    /// The number of its process's parent.
    pub(crate) fn parent(&self) -> u32 {
        self.parent.load(Ordering::Relaxed)
    }

    pub(crate) fn set_parent(&self, parent: u32) {
        self.parent.store(parent, Ordering::Relaxed);
    }

    /// The number of the thread.
    pub(crate) fn number(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }

    pub(crate) fn set_number(&self, number: u32) {
        self.number.store(number, Ordering::Relaxed);
    }

    /// Ends the present or the next [`block`](Self::block).
    pub(crate) fn wake(&self) {
        // One wake-up is as good as several.
        let _ = self.wake.give();
    }

    /// Blocks the thread until it is woken, at the latest until a deadline. Returns whether it was.
    pub(crate) fn block(&'static self, deadline: Option<Instant>) -> bool {
        match deadline {
            Some(deadline) => self.wake.take_until(deadline).is_ok(),
            None => {
                self.wake.take();
                true
            }
        }
    }

    /// Removes a wake-up that has not ended a wait.
    pub(crate) fn forget_wake(&self) {
        self.wake.try_take();
    }

    /// The context, for the thread itself or before it runs.
    pub(crate) fn context(&self) -> *mut Context {
        self.context.get()
    }

    /// A general register of EL0.
    #[inline(always)]
    pub(crate) fn register(&self, index: usize) -> u64 {
        // SAFETY: only the thread itself calls this, while it is not at EL0.
        unsafe { (&(*self.context()).x)[index] }
    }

    /// Has the thread leave EL0 for good, at the next interrupt if it is there.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        self.attend();
    }

    /// Whether the thread is to leave EL0 for good.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Has the thread leave EL0 at the next interrupt.
    pub(crate) fn attend(&self) {
        // SAFETY: the attention is atomic.
        unsafe { (*self.context()).set_attention(true) };
    }

    /// Begins a program, for the thread itself or before it runs.
    pub(crate) fn begin(&self, pc: usize, sp: usize) {
        // SAFETY: the thread itself calls this, while it is not at EL0, or nothing runs.
        unsafe { (*self.context()).start(pc as u64, sp as u64) };
    }

    /// Copies the registers of the calling thread, with x0 = 0; a stack pointer of its own if not
    /// zero.
    pub(crate) fn copy(&self, caller: &Self, stack: u64) {
        // SAFETY: no thread uses this slot yet, and the caller is not at EL0.
        let (own, other) = unsafe { (&mut *self.context(), &*caller.context()) };
        own.start(other.pc, if stack == 0 { other.sp } else { stack });
        own.x = other.x;
        own.x[0] = 0;
        own.set_flags(other.pstate);
        self.space.copy_from(&caller.space);
    }

    /// Starts the thread with its body, once its context and space are set: for a process of a number,
    /// with a number of its own.
    pub(crate) fn spawn(
        &'static self,
        (process, number): (u32, u32),
        parent: u32,
        base: u64,
        body: fn(&'static Self),
    ) -> Result<(), Errno> {
        self.process.store(process, Ordering::Relaxed);
        self.set_number(number);
        self.set_parent(parent);
        self.ended.store(false, Ordering::Relaxed);
        self.forget_wake();
        // SAFETY: no thread runs yet.
        unsafe { (*self.context()).set_attention(false) };
        self.space.set_base(base);
        let stack = StackLayout {
            start: self.stack.get().cast(),
            size: STACK,
            guarded: true,
        };
        let priority = Priority::new(options::process_priority() as u8);
        // SAFETY: the stack is aligned, has a page below it, and is of this slot alone.
        let spawned = unsafe {
            self.block
                .spawn(stack, "process", (priority, true), move || body(self))
        };
        spawned.map(drop).map_err(|_| Errno::EAGAIN)
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `statics!` defines them with these types, and no code writes them.
    safe static TENON_PROCESS_SLOTS: &'static [Slot];
    safe static TENON_PROCESS_LIMIT: usize;
}

/// The storage of the threads of processes.
pub(crate) fn slots() -> &'static [Slot] {
    #[cfg(target_os = "none")]
    return TENON_PROCESS_SLOTS;
    #[cfg(not(target_os = "none"))]
    return &[];
}

/// Processes at a time.
pub(crate) fn limit() -> usize {
    #[cfg(target_os = "none")]
    return TENON_PROCESS_LIMIT;
    #[cfg(not(target_os = "none"))]
    return 0;
}
