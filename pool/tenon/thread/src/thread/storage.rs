//! Static storage for threads.
//!
//! | type | below its stack | size |
//! |---|---|---|
//! | [`Storage`] | a guard page: an overflow is reported with the thread's name | whole pages, one of them the guard page |
//! | [`Packed`] | whatever the linker places there | the stack and some 200 bytes |

use super::entry::note_thread;
use super::spawn::prepare;
use super::stack::{GuardPage, StackBytes};
use super::{Error, Handle};
use core_sched::Priority;
use tenon_kernel::kernel::Kernel;
use tenon_kernel::thread::{Thread as ThreadState, above_idle};
use tenon_map::PAGE;
use tenon_wait::thread::handle_of;

/// The stack and control block of one thread without a guard page, for hundreds of small threads.
/// An overflow is not detected and corrupts other data.
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
    stack: StackBytes<STACK>,
    thread: ThreadState,
}

impl<const STACK: usize> Packed<STACK> {
    /// Storage without a thread.
    pub const fn new() -> Self {
        Self {
            stack: StackBytes::new(),
            thread: ThreadState::new(),
        }
    }

    /// Whether there is no thread in it: none has started, or it has ended.
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
                thread.smp().init(core, true);
            }
            let handle = handle_of(thread);
            thread.wake(kernel);
            Ok(handle)
        })
    }

    /// Spawns a thread without waking it.
    pub(crate) fn prepare<F: FnOnce() + Send + 'static>(
        &'static self,
        guarded: bool,
        kernel: &Kernel,
        name: &'static str,
        priority: Priority,
        body: F,
    ) -> Result<&'static ThreadState, Error> {
        note_thread::<F, STACK>();
        let layout = self.stack.layout(guarded);
        // SAFETY: the stack is static and aligned, and belongs to the control block beside it
        // alone.
        unsafe { prepare(&self.thread, kernel, layout, name, priority, body) }
    }
}

impl<const STACK: usize> Default for Packed<STACK> {
    fn default() -> Self {
        Self::new()
    }
}

/// The stack and control block of one thread, above a guard page.
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
    guard: GuardPage,
    packed: Packed<STACK>,
}

impl<const STACK: usize> Storage<STACK> {
    /// Storage without a thread.
    pub const fn new() -> Self {
        Self {
            guard: GuardPage::NEW,
            packed: Packed::new(),
        }
    }

    /// Whether there is no thread in it: none has started, or it has ended.
    pub fn is_free(&self) -> bool {
        self.packed.is_free()
    }

    /// Creates a thread that runs `body` and ends when that returns. If it is more urgent than the
    /// current thread, it runs before this returns. Priority 0 is reserved for the idle thread and
    /// counts as 1.
    ///
    /// With several cores the thread is not pinned: the most urgent ready threads that are not
    /// pinned run on the available cores.
    pub fn spawn<F: FnOnce() + Send + 'static>(
        &'static self,
        name: &'static str,
        priority: Priority,
        body: F,
    ) -> Result<Handle, Error> {
        self.packed.spawn_over(true, None, name, priority, body)
    }

    /// As [`spawn`](Storage::spawn), for a thread that is pinned to the core of that number, from 0
    /// on.
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

    /// Spawns a thread without waking it.
    pub(crate) fn prepare<F: FnOnce() + Send + 'static>(
        &'static self,
        kernel: &Kernel,
        name: &'static str,
        priority: Priority,
        body: F,
    ) -> Result<&'static ThreadState, Error> {
        self.packed.prepare(true, kernel, name, priority, body)
    }
}

impl<const STACK: usize> Default for Storage<STACK> {
    fn default() -> Self {
        Self::new()
    }
}

const _: () = assert!(core::mem::offset_of!(Storage<1024>, packed) == PAGE);
