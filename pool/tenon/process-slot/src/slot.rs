//! [`Slot`]: the storage of a thread of a process.

use crate::served::serves;
use core::cell::UnsafeCell;
use core::fmt;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use tenon_address_space::PAGE;
use tenon_program::Errno;
use tenon_sync::Semaphore;
use tenon_thread::options;
use tenon_thread::thread::{Block, Priority, StackLayout};
use tenon_thread::time::{Duration, Instant};
use tenon_user::{Context, Space};

/// The number of the system call by which threads get budgets.
const SCHED_SETATTR: usize = 274;
/// Bytes of a kernel stack.
const STACK: usize = 2 * PAGE;

/// A kernel stack behind its guard page. It has no bytes in an image, as slots have.
#[repr(C, align(4096))]
#[expect(missing_debug_implementations, reason = "a thread uses its bytes")]
pub struct Stack {
    guard: MaybeUninit<[u8; PAGE]>,
    bytes: UnsafeCell<MaybeUninit<[u8; STACK]>>,
}

// SAFETY: only the thread that runs on it accesses its bytes.
unsafe impl Sync for Stack {}

impl Stack {
    /// A stack without a thread.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            guard: MaybeUninit::uninit(),
            bytes: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }
}

impl Default for Stack {
    fn default() -> Self {
        Self::new()
    }
}

/// Storage of a thread of a process: its kernel stack, control block, registers of EL0.
#[repr(C)]
pub struct Slot {
    stack: &'static Stack,
    /// Its own index.
    index: usize,
    block: Block,
    context: UnsafeCell<Context>,
    /// What a switch between threads saves and restores.
    pub space: Space,
    /// The index of its process plus one, or zero.
    home: AtomicUsize,
    process: AtomicU32,
    parent: AtomicU32,
    number: AtomicU32,
    /// The thread is to leave EL0 for good.
    ended: AtomicBool,
    /// The deadline of the call that is made again after a stop, or zero.
    resumption: AtomicU64,
    /// The deadline of its wait has passed.
    expired: AtomicBool,
    /// It has a budget of execution time.
    reserved: AtomicBool,
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
    /// Storage of an index without a thread, which runs on a stack of its own.
    #[must_use]
    pub const fn new(stack: &'static Stack, index: usize) -> Self {
        Self {
            stack,
            index,
            block: Block::new(),
            context: UnsafeCell::new(Context::new()),
            space: Space::new(),
            home: AtomicUsize::new(0),
            process: AtomicU32::new(0),
            parent: AtomicU32::new(0),
            number: AtomicU32::new(0),
            ended: AtomicBool::new(false),
            resumption: AtomicU64::new(0),
            expired: AtomicBool::new(false),
            reserved: AtomicBool::new(false),
            wake: Semaphore::bounded(0, 1),
        }
    }

    /// Whether no thread uses it.
    #[must_use]
    pub fn is_free(&'static self) -> bool {
        self.block.is_free()
    }

    /// The index of its process, if it has a thread; else one that no process has.
    #[inline(always)]
    #[must_use]
    pub fn home(&self) -> usize {
        self.home.load(Ordering::Relaxed).wrapping_sub(1)
    }

    /// Sets the index of its process, or that it has no thread.
    pub fn set_home(&self, process: Option<usize>) {
        let home = process.map_or(0, |process| process + 1);
        self.home.store(home, Ordering::Relaxed);
    }

    /// The number of its process.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.process.load(Ordering::Relaxed)
    }

    /// The number of its process's parent.
    #[must_use]
    pub fn parent(&self) -> u32 {
        self.parent.load(Ordering::Relaxed)
    }

    /// Sets the number of the parent.
    pub fn set_parent(&self, parent: u32) {
        self.parent.store(parent, Ordering::Relaxed);
    }

    /// The number of the thread.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }

    /// Sets the number of the thread.
    pub fn set_number(&self, number: u32) {
        self.number.store(number, Ordering::Relaxed);
    }

    /// Ends the present or the next [`block`](Self::block).
    pub fn wake(&self) {
        // One wake-up is as good as several.
        let _ = self.wake.give();
    }

    /// Blocks the thread until it is woken, at the latest until a deadline. Returns whether it was.
    #[inline]
    pub fn block(&'static self, deadline: Option<Instant>) -> bool {
        if deadline.is_none() && !self.is_reserved() {
            self.wake.take();
            return true;
        }
        self.block_slow(deadline)
    }

    /// [`block`](Self::block) until a deadline, or with an account.
    fn block_slow(&'static self, deadline: Option<Instant>) -> bool {
        if !self.is_reserved() {
            return self.block_only(deadline);
        }
        let place = index_of(self);
        crate::budget::block(place);
        let woken = self.block_only(deadline);
        crate::budget::wake(place);
        woken
    }

    /// [`block`](Self::block) without an account.
    fn block_only(&'static self, deadline: Option<Instant>) -> bool {
        let Some(deadline) = deadline else {
            self.wake.take();
            return true;
        };
        crate::deadline::start(self, deadline);
        self.wake.take();
        if self.expired.swap(false, Ordering::Relaxed) {
            return false;
        }
        crate::deadline::cancel(self);
        if self.expired.swap(false, Ordering::Relaxed) {
            // It has passed since, with a wake-up of its own; nothing else wakes a thread that does
            // not wait.
            self.wake.try_take();
        }
        true
    }

    /// Whether the thread has a budget of execution time.
    pub fn is_reserved(&self) -> bool {
        self.reserved.load(Ordering::Relaxed) && serves(SCHED_SETATTR)
    }

    pub(crate) fn set_reserved(&self, reserved: bool) {
        self.reserved.store(reserved, Ordering::Relaxed);
    }

    /// The instant up to which the thread has no budget, if its budget is depleted.
    #[inline]
    pub fn throttled_until(&self) -> Option<Instant> {
        if !self.is_reserved() {
            return None;
        }
        let until = crate::budget::throttled_until(index_of(self));
        until.map(Instant::from_nanoseconds)
    }

    /// Whether the budget of the thread was depleted since the last call.
    pub fn take_overrun(&self) -> bool {
        self.is_reserved() && crate::budget::take_overrun(index_of(self))
    }

    /// Gives up what is left of the budget of the thread, if it has one. Returns whether it has.
    pub fn give_up_budget(&self) -> bool {
        let reserved = self.is_reserved();
        if reserved {
            crate::budget::give_up(index_of(self));
        }
        reserved
    }

    /// Ends the wait of the thread after its deadline.
    pub(crate) fn expire(&self) {
        self.expired.store(true, Ordering::Relaxed);
        self.wake();
    }

    /// Removes a wake-up that has not ended a wait.
    pub fn forget_wake(&self) {
        self.wake.try_take();
    }

    /// The context, for the thread itself or before it runs.
    #[must_use]
    pub fn context(&self) -> *mut Context {
        self.context.get()
    }

    /// A general register of EL0.
    ///
    /// # Safety
    ///
    /// The thread itself calls this.
    #[inline(always)]
    #[must_use]
    pub unsafe fn register(&self, index: usize) -> u64 {
        // SAFETY: the thread is not at EL0, and nothing else uses its registers.
        unsafe { (&(*self.context()).x)[index] }
    }

    /// Has the thread leave EL0 for good, at the next interrupt if it is there.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        self.attend();
    }

    /// Whether the thread is to leave EL0 for good.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Sets the length of its time slices; none for a thread that runs until it blocks.
    pub fn set_slice(&'static self, slice: Option<Duration>) {
        let thread = self.block.thread();
        thread.set_slicing(slice.is_some());
        thread.set_slice(slice.unwrap_or_default());
    }

    /// Sets its priority in the kernel.
    pub fn set_level(&'static self, level: u8) {
        let (thread, priority) = (self.block.thread(), Priority::new(level));
        if thread.priority() != priority {
            thread.set_priority(priority);
        }
    }

    /// Has the thread leave EL0 at the next interrupt.
    pub fn attend(&self) {
        // SAFETY: the attention is atomic.
        unsafe { (*self.context()).set_attention(true) };
    }

    /// Whether the thread is to leave EL0, or not to go there.
    #[inline(always)]
    pub fn has_attention(&self) -> bool {
        // SAFETY: the attention is atomic.
        unsafe { (*self.context()).has_attention() }
    }

    /// The thread looks at what it was to leave EL0 for.
    pub fn forget_attention(&self) {
        // SAFETY: the attention is atomic.
        unsafe { (*self.context()).set_attention(false) };
    }

    /// Sets the deadline of the next call, in nanoseconds, if that is the present one again.
    pub fn set_resumption(&self, deadline: u64) {
        self.resumption.store(deadline, Ordering::Relaxed);
    }

    /// Takes the deadline of a call that is made again.
    pub fn take_resumption(&self) -> Option<u64> {
        let deadline = self.resumption.load(Ordering::Relaxed);
        self.resumption.store(0, Ordering::Relaxed);
        (deadline != 0).then_some(deadline)
    }

    /// Ends a call that a signal has interrupted: by `EINTR`, or the thread makes it again.
    ///
    /// # Safety
    ///
    /// The thread itself calls this, with its first argument in x0 still.
    pub unsafe fn finish_call(&self, again: bool) {
        /// Bytes of an instruction.
        const INSTRUCTION: u64 = 4;
        // SAFETY: the thread is not at EL0, and nothing else uses its registers.
        let context = unsafe { &mut *self.context() };
        if again {
            context.pc = context.pc.wrapping_sub(INSTRUCTION);
        } else {
            context.x[0] = 0u64.wrapping_sub(Errno::EINTR.0.into());
        }
    }

    /// Begins a program.
    ///
    /// # Safety
    ///
    /// The thread itself calls this, or no thread uses the slot.
    pub unsafe fn begin(&self, pc: usize, sp: usize) {
        // SAFETY: the thread is not at EL0, and nothing else uses its registers.
        unsafe { (*self.context()).start(pc as u64, sp as u64) };
    }

    /// Copies the registers of the calling thread, with x0 = 0; a stack pointer of its own if not
    /// zero.
    ///
    /// # Safety
    ///
    /// No thread uses this slot, and the caller is the current thread.
    pub unsafe fn copy(&self, caller: &Self, stack: u64) {
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
    ///
    /// # Safety
    ///
    /// No thread uses this slot; `base` is that of tables that stay until the thread ends.
    pub unsafe fn spawn(
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
        self.set_resumption(0);
        self.forget_wake();
        // SAFETY: no thread runs yet.
        unsafe { (*self.context()).set_attention(false) };
        self.space.set_base(base);
        self.space.forget_time();
        let stack = StackLayout {
            start: self.stack.bytes.get().cast(),
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

/// Storage of a thread for each stack.
#[must_use]
pub const fn slots_of<const N: usize>(stacks: &'static [Stack; N]) -> [Slot; N] {
    let mut slots = [const { MaybeUninit::uninit() }; N];
    let mut index = 0;
    while index < N {
        slots[index] = MaybeUninit::new(Slot::new(&stacks[index], index));
        index += 1;
    }
    // SAFETY: the loop has written each slot, and an array of `MaybeUninit` has the layout of one of
    // their values.
    unsafe { core::mem::transmute_copy(&slots) }
}

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `statics!` defines them with these types, and no code writes them.
    safe static TENON_PROCESS_SLOTS: &'static [Slot];
    safe static TENON_PROCESS_LIMIT: usize;
    safe static TENON_PROCESS_DESCRIPTORS: u32;
}

/// The storage of the threads of processes.
#[must_use]
pub fn slots() -> &'static [Slot] {
    #[cfg(target_os = "none")]
    return TENON_PROCESS_SLOTS;
    #[cfg(not(target_os = "none"))]
    return &[];
}

/// Processes at a time.
#[must_use]
pub fn limit() -> usize {
    #[cfg(target_os = "none")]
    return TENON_PROCESS_LIMIT;
    #[cfg(not(target_os = "none"))]
    return 0;
}

/// Descriptors of a process at most.
#[must_use]
pub fn descriptor_limit() -> u32 {
    #[cfg(target_os = "none")]
    return TENON_PROCESS_DESCRIPTORS;
    #[cfg(not(target_os = "none"))]
    return 64;
}

/// The index of a slot, which is that of its thread.
#[inline(always)]
#[must_use]
pub fn index_of(slot: &Slot) -> usize {
    slot.index
}
