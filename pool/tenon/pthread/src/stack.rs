//! The stack of a thread: from `malloc` with a guard page below it, or provided by the program.

use crate::attributes::{Attributes, PAGE};
use core::ffi::c_void;
use core::ptr;
use tenon_libc::{Errno, tls};
use tenon_thread::thread::StackLayout;

unsafe extern "C" {
    fn memalign(alignment: usize, size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// Memory of a thread: its stack, and above it the thread-local storage block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// The allocation; null if the program provides the stack.
    whole: *mut c_void,
    start: *mut u8,
    size: usize,
    /// Bytes of the guard area. It is a number, not a `bool`: every value of a free slot must be
    /// zero, so that the thread table takes no room in the image.
    guard: usize,
    /// End address.
    pub(crate) top: usize,
}

impl Memory {
    /// Allocates the memory that the attributes describe.
    pub(crate) fn of(attributes: &Attributes) -> Result<Self, Errno> {
        let room = tls::room().next_multiple_of(16);
        if !attributes.stack.is_null() {
            // A stack of the program's need not be aligned.
            let begin = (attributes.stack as usize).next_multiple_of(16);
            let end = (attributes.stack as usize).checked_add(attributes.size);
            let end = end.ok_or(Errno::EINVAL)? & !15;
            let size = end.saturating_sub(begin).checked_sub(room);
            let stack = StackLayout {
                start: begin as *mut u8,
                size: size.ok_or(Errno::EINVAL)?,
                guarded: false,
            };
            return Ok(Self::at(ptr::null_mut(), stack, room));
        }
        let guard = if attributes.guard > 0 { PAGE } else { 0 };
        let size = attributes.size.checked_next_multiple_of(16);
        let size = size.ok_or(Errno::EAGAIN)?;
        let all = size.checked_add(guard + room).ok_or(Errno::EAGAIN)?;
        // SAFETY: `memalign` accepts any size.
        let whole = unsafe { memalign(PAGE, all) };
        if whole.is_null() {
            return Err(Errno::EAGAIN);
        }
        let stack = StackLayout {
            start: whole.cast::<u8>().wrapping_add(guard),
            size,
            guarded: guard > 0,
        };
        Ok(Self::at(whole, stack, room))
    }

    fn at(whole: *mut c_void, stack: StackLayout, room: usize) -> Self {
        let guard = if stack.guarded { PAGE } else { 0 };
        Self {
            whole,
            start: stack.start,
            size: stack.size,
            guard,
            top: stack.start as usize + stack.size + room,
        }
    }

    /// Layout of the stack.
    pub(crate) fn layout(&self) -> StackLayout {
        StackLayout {
            start: self.start,
            size: self.size,
            guarded: self.guard > 0,
        }
    }

    /// Frees the memory.
    ///
    /// # Safety
    ///
    /// The thread of this stack has ended or was never created.
    pub(crate) unsafe fn release(self) {
        // SAFETY: nothing runs on the stack, as the caller ensures; `whole` is from `memalign` or
        // null, which `free` accepts.
        unsafe {
            self.layout().release();
            free(self.whole);
        }
    }
}
