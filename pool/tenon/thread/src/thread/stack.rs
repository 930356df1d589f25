//! Memory of stacks, with guard pages.

use super::Error;
use super::entry::note_thread;
use super::spawn::{Block, prepare};
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core_sched::Priority;
use tenon_kernel::kernel::Kernel;
use tenon_kernel::thread::Thread as ThreadState;
use tenon_machine::address_space;
use tenon_map::PAGE;

/// The location of a thread's stack.
#[derive(Clone, Copy, Debug)]
pub struct StackLayout {
    /// Its lowest address, a multiple of 16.
    pub start: *mut u8,
    /// Its size in bytes, a multiple of 16.
    pub size: usize,
    /// It starts at a page boundary, and the page below it is its guard page: an overflow causes a
    /// fault that is reported as such.
    pub guarded: bool,
}

impl StackLayout {
    /// Maps the guard page again.
    ///
    /// # Safety
    ///
    /// No thread runs on the stack.
    pub unsafe fn release(&self) {
        if self.guarded {
            address_space::unguard(self.start as usize - PAGE);
        }
    }
}

/// The memory of a stack.
#[repr(C, align(16))]
pub(super) struct StackBytes<const SIZE: usize>(UnsafeCell<[MaybeUninit<u8>; SIZE]>);

// SAFETY: only the thread that runs on the stack accesses the bytes, and `prepare` while there is
// none.
unsafe impl<const SIZE: usize> Sync for StackBytes<SIZE> {}

impl<const SIZE: usize> StackBytes<SIZE> {
    pub(super) const fn new() -> Self {
        const { assert!(SIZE.is_multiple_of(16), "a stack is a multiple of 16 bytes") };
        Self(UnsafeCell::new([MaybeUninit::uninit(); SIZE]))
    }

    pub(super) fn layout(&'static self, guarded: bool) -> StackLayout {
        StackLayout {
            start: self.0.get().cast(),
            size: SIZE,
            guarded,
        }
    }
}

/// The page below a stack.
#[repr(C, align(4096))]
pub(super) struct GuardPage([MaybeUninit<u8>; PAGE]);

impl GuardPage {
    pub(super) const NEW: Self = Self([MaybeUninit::uninit(); PAGE]);
}

/// A stack above a guard page.
#[repr(C, align(4096))]
pub struct Stack<const SIZE: usize> {
    guard: GuardPage,
    bytes: StackBytes<SIZE>,
}

impl<const SIZE: usize> Stack<SIZE> {
    /// The offset of its end.
    pub const END: usize = PAGE + SIZE;

    /// A stack on which no thread runs.
    pub const fn new() -> Self {
        Self {
            guard: GuardPage::NEW,
            bytes: StackBytes::new(),
        }
    }

    /// Prepares a thread of `block` on this stack, to be woken.
    pub(crate) fn prepare<F: FnOnce() + Send + 'static>(
        &'static self,
        block: &'static Block,
        kernel: &Kernel,
        name: &'static str,
        priority: Priority,
        body: F,
    ) -> Result<&'static ThreadState, Error> {
        note_thread::<F, SIZE>();
        let layout = self.bytes.layout(true);
        // SAFETY: the stack is static and aligned, and `boot` assigns each one to one block.
        unsafe { prepare(&block.0, kernel, layout, name, priority, body) }
    }
}

impl<const SIZE: usize> Default for Stack<SIZE> {
    fn default() -> Self {
        Self::new()
    }
}

const _: () = assert!(core::mem::offset_of!(Stack<1024>, bytes) == PAGE);
