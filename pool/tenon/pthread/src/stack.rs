//! The stack of a thread: from `malloc`, with a guard page below it, or the program's own.

use crate::attributes::{Attributes, PAGE};
use core::ffi::c_void;
use core::ptr;
use tenon_libc::{Errno, tls};
use tenon_thread::thread::StackLayout;

unsafe extern "C" {
    fn memalign(alignment: usize, size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// A thread's memory: its stack, and above it room for its variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// What `malloc` gave; null if it is the program's.
    whole: *mut c_void,
    start: *mut u8,
    size: usize,
    /// Bytes below it that are for nothing else. No `bool`: nothing of a thread must have a value
    /// that stands for none and is not zero, or the table of threads takes its room in the image.
    guard: usize,
    /// Its end.
    pub(crate) top: usize,
}

impl Memory {
    /// Memory as the attributes want it.
    pub(crate) fn of(attributes: &Attributes) -> Result<Self, Errno> {
        let room = tls::room().next_multiple_of(16);
        if !attributes.stack.is_null() {
            // The program's may be aligned as it likes.
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
        // SAFETY: any number may be asked for.
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

    /// The stack.
    pub(crate) fn ground(&self) -> StackLayout {
        StackLayout {
            start: self.start,
            size: self.size,
            guarded: self.guard > 0,
        }
    }

    /// Gives it back.
    ///
    /// # Safety
    ///
    /// No thread is on it any more.
    pub(crate) unsafe fn give_back(self) {
        // SAFETY: the caller's contract; null may be freed.
        unsafe {
            self.ground().release();
            free(self.whole);
        }
    }
}
