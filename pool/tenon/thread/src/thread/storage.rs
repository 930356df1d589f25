//! Memory for threads, made at build time.
//!
//! | | below its stack | takes |
//! |---|---|---|
//! | [`Storage`] | a page that is not mapped: an overflow is reported with the thread's name | whole pages, one of them the guard |
//! | [`Packed`] | whatever the linker put there | its stack and some 200 bytes |

use super::{Block, Error, Handle, Priority, Thread, above_idle};
use crate::kernel::Kernel;
use crate::sites;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use tenon_map::PAGE;

/// Where a thread's stack is.
#[derive(Clone, Copy, Debug)]
pub struct StackLayout {
    /// Its first byte, a multiple of 16.
    pub start: *mut u8,
    /// Its bytes, a multiple of 16.
    pub size: usize,
    /// It begins with a page, and the page below it is for nothing else: an access to that is a
    /// fault, by which an overflow is known.
    pub guarded: bool,
}

/// Bytes that only their thread touches.
#[repr(C, align(16))]
struct Bytes<const SIZE: usize>(UnsafeCell<[MaybeUninit<u8>; SIZE]>);

// SAFETY: a stack is touched by its thread alone, and by `prepare` while there is none.
unsafe impl<const SIZE: usize> Sync for Bytes<SIZE> {}

impl<const SIZE: usize> Bytes<SIZE> {
    const fn new() -> Self {
        const { assert!(SIZE.is_multiple_of(16), "a stack is a multiple of 16 bytes") };
        Self(UnsafeCell::new([MaybeUninit::uninit(); SIZE]))
    }

    fn ground(&'static self, guarded: bool) -> StackLayout {
        StackLayout {
            start: self.0.get().cast(),
            size: SIZE,
            guarded,
        }
    }
}

/// A page below a stack.
#[repr(C, align(4096))]
struct Guard([MaybeUninit<u8>; PAGE]);

impl Guard {
    const NEW: Self = Self([MaybeUninit::uninit(); PAGE]);
}

/// A stack over a page that is taken out of the address space.
#[repr(C, align(4096))]
pub struct Stack<const SIZE: usize> {
    guard: Guard,
    bytes: Bytes<SIZE>,
}

impl<const SIZE: usize> Stack<SIZE> {
    /// Where its end lies from its start on.
    pub const END: usize = PAGE + SIZE;

    /// A stack that nobody uses.
    pub const fn new() -> Self {
        Self {
            guard: Guard::NEW,
            bytes: Bytes::new(),
        }
    }

    /// Makes a thread of `block` on it, to be woken.
    pub(crate) fn prepare<F: FnOnce() + Send + 'static>(
        &'static self,
        block: &'static Block,
        kernel: &Kernel,
        name: &'static str,
        priority: Priority,
        body: F,
    ) -> Result<&'static Thread, Error> {
        sites::note_thread::<F, SIZE>();
        let ground = self.bytes.ground(true);
        // SAFETY: `boot` gives each stack to one block.
        unsafe { block.0.prepare(kernel, ground, name, priority, body) }
    }
}

impl<const SIZE: usize> Default for Stack<SIZE> {
    fn default() -> Self {
        Self::new()
    }
}

/// The stack and control block of one thread, for hundreds of small ones: nothing catches an
/// overflow, which is another thread's damage.
///
/// ```no_run
/// use tenon_thread::thread::{Packed, Priority};
///
/// static PEERS: [Packed<1024>; 100] = [const { Packed::new() }; 100];
///
/// for peer in &PEERS {
///     peer.spawn("peer", Priority::new(10), || { /* ... */ })?;
/// }
/// # Ok::<(), tenon_thread::thread::Error>(())
/// ```
#[repr(C)]
pub struct Packed<const STACK: usize> {
    stack: Bytes<STACK>,
    thread: Thread,
}

impl<const STACK: usize> Packed<STACK> {
    /// Storage without a thread.
    pub const fn new() -> Self {
        Self {
            stack: Bytes::new(),
            thread: Thread::new(),
        }
    }

    /// Whether there is no thread in it: none has begun, or it has ended.
    pub fn is_free(&self) -> bool {
        Kernel::with_irqs_masked(|_| self.thread.has_ended())
    }

    /// As [`Storage::spawn`].
    pub fn spawn<F: FnOnce() + Send + 'static>(
        &'static self,
        name: &'static str,
        priority: Priority,
        body: F,
    ) -> Result<Handle, Error> {
        self.spawn_over(false, None, name, priority, body)
    }

    /// As [`Storage::spawn_on`].
    pub fn spawn_on<F: FnOnce() + Send + 'static>(
        &'static self,
        core: usize,
        name: &'static str,
        priority: Priority,
        body: F,
    ) -> Result<Handle, Error> {
        self.spawn_over(false, Some(core), name, priority, body)
    }

    fn spawn_over<F: FnOnce() + Send + 'static>(
        &'static self,
        guarded: bool,
        core: Option<usize>,
        name: &'static str,
        priority: Priority,
        body: F,
    ) -> Result<Handle, Error> {
        Kernel::with_reschedule(|kernel| {
            if core.is_some_and(|core| !kernel.has_core(core)) {
                return Err(Error::NoSuchCore);
            }
            let thread = self.prepare(guarded, kernel, name, above_idle(priority), body)?;
            if let Some(core) = core {
                thread.smp.settle(core, true);
            }
            let handle = Handle::of(thread);
            thread.wake(kernel);
            Ok(handle)
        })
    }

    /// Everything but the waking.
    pub(crate) fn prepare<F: FnOnce() + Send + 'static>(
        &'static self,
        guarded: bool,
        kernel: &Kernel,
        name: &'static str,
        priority: Priority,
        body: F,
    ) -> Result<&'static Thread, Error> {
        sites::note_thread::<F, STACK>();
        let ground = self.stack.ground(guarded);
        // SAFETY: the stack lives as long as the thread beside it, whose alone it is.
        unsafe { self.thread.prepare(kernel, ground, name, priority, body) }
    }
}

impl<const STACK: usize> Default for Packed<STACK> {
    fn default() -> Self {
        Self::new()
    }
}

/// The stack and control block of one thread, over a guard page.
///
/// ```no_run
/// use tenon_thread::thread::{Priority, Storage};
///
/// static BLINKER: Storage<2048> = Storage::new();
///
/// BLINKER.spawn("blinker", Priority::new(10), || { /* ... */ })?;
/// # Ok::<(), tenon_thread::thread::Error>(())
/// ```
#[repr(C, align(4096))]
pub struct Storage<const STACK: usize> {
    guard: Guard,
    packed: Packed<STACK>,
}

impl<const STACK: usize> Storage<STACK> {
    /// Storage without a thread.
    pub const fn new() -> Self {
        Self {
            guard: Guard::NEW,
            packed: Packed::new(),
        }
    }

    /// Whether there is no thread in it: none has begun, or it has ended.
    pub fn is_free(&self) -> bool {
        self.packed.is_free()
    }

    /// Makes a thread that runs `body` and ends with it; if it is more urgent than the current one,
    /// it runs before this returns. Priority 0 is the idle thread's: it counts as 1.
    ///
    /// With several cores it is free: it runs on any of them, and of all free threads that are ready
    /// the most urgent run.
    pub fn spawn<F: FnOnce() + Send + 'static>(
        &'static self,
        name: &'static str,
        priority: Priority,
        body: F,
    ) -> Result<Handle, Error> {
        self.packed.spawn_over(true, None, name, priority, body)
    }

    /// As [`spawn`](Storage::spawn), for a thread that stays on the core of that number, from 0 on.
    pub fn spawn_on<F: FnOnce() + Send + 'static>(
        &'static self,
        core: usize,
        name: &'static str,
        priority: Priority,
        body: F,
    ) -> Result<Handle, Error> {
        self.packed
            .spawn_over(true, Some(core), name, priority, body)
    }

    /// Everything but the waking.
    pub(crate) fn prepare<F: FnOnce() + Send + 'static>(
        &'static self,
        kernel: &Kernel,
        name: &'static str,
        priority: Priority,
        body: F,
    ) -> Result<&'static Thread, Error> {
        self.packed.prepare(true, kernel, name, priority, body)
    }
}

impl<const STACK: usize> Default for Storage<STACK> {
    fn default() -> Self {
        Self::new()
    }
}

const _: () = {
    assert!(core::mem::offset_of!(Storage<1024>, packed) == PAGE);
    assert!(core::mem::offset_of!(Stack<1024>, bytes) == PAGE);
};
