//! Assertions of the kernel, in images with TENON_THREAD_ASSERTIONS, and the canary of a stack.

use crate::options;

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `tenon-thread`, which every image contains, defines this function with the same
    // type. It writes to the console, which is above the kernel, and does not return.
    safe fn tenon_abort(reason: &str, thread: &str) -> !;
}
#[cfg(not(target_os = "none"))]
fn tenon_abort(reason: &str, thread: &str) -> ! {
    panic!("{reason} in thread {thread}")
}

/// The lowest word of each stack until it overflows.
const CANARY: u64 = 0x7465_6e6f_6e20_6f6b;

/// Bytes of a stack that the canary and its alignment take.
pub const CANARY_SIZE: usize = 16;

/// Ends the image unless the condition holds.
#[inline(always)]
pub fn check(condition: impl FnOnce() -> bool, what: &'static str) {
    if options::assertions() && !condition() {
        fail(what);
    }
}

#[cold]
fn fail(what: &'static str) -> ! {
    panic!("assertion of the kernel: {what}")
}

/// Writes the canary at the lowest address of a stack.
///
/// # Safety
///
/// `stack` is that address, aligned to 16 bytes, and no thread uses the stack yet.
pub unsafe fn write_canary(stack: usize) {
    if options::assertions() {
        // SAFETY: the address is the aligned start of a stack that no thread uses.
        unsafe { (stack as *mut u64).write_volatile(CANARY) };
    }
}

/// Ends the image if the stack at this address, of the thread with this name, has overflowed.
///
/// # Safety
///
/// [`write_canary`] was called for the stack.
#[inline(always)]
pub unsafe fn check_canary(stack: usize, thread: impl FnOnce() -> &'static str) {
    // SAFETY: the address is that of a stack whose lowest word holds only the canary.
    let canary = unsafe { (stack as *const u64).read_volatile() };
    if canary != CANARY {
        tenon_abort("stack overflow", thread());
    }
}
