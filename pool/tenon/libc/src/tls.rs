//! Thread-local storage: `errno`, and what a program declares `_Thread_local`.
//!
//! TPIDR_EL0 points to the thread's block: two words of the thread library, then the variables (ELF
//! for the Arm 64-bit Architecture, 5.7.11: variant 1 of thread-local storage).

use core::cell::Cell;
use core::ffi::c_void;
use tenon_thread::thread;

/// The two words at the start of a block.
#[repr(C, align(16))]
pub struct Head {
    /// The thread library's identification of the thread.
    pub owner: Cell<*const c_void>,
    reserved: usize,
}

/// Initial values of the variables, from linker symbols.
#[cfg(target_os = "none")]
mod image {
    unsafe extern "C" {
        pub static __tdata_start: u8;
        pub static __tdata_end: u8;
        pub static __tls_size: u8;
        pub static __tls_align: u8;
    }
}

/// Template of the variables in the image.
struct Variables {
    /// Initial values of the variables that are not zero.
    values: &'static [u8],
    /// Size of all variables.
    size: usize,
    align: usize,
}

#[cfg(target_os = "none")]
fn variables() -> Variables {
    // SAFETY: the linker script defines all four symbols; the last two are numbers.
    unsafe {
        let start = &raw const image::__tdata_start;
        let length = &raw const image::__tdata_end as usize - start as usize;
        Variables {
            values: core::slice::from_raw_parts(start, length),
            size: &raw const image::__tls_size as usize,
            align: &raw const image::__tls_align as usize,
        }
    }
}

#[cfg(not(target_os = "none"))]
fn variables() -> Variables {
    Variables {
        values: &[],
        size: 0,
        align: align_of::<Head>(),
    }
}

/// Size of a block, including padding for its alignment.
pub fn room() -> usize {
    let variables = variables();
    size_of::<Head>().next_multiple_of(variables.align) + variables.size + variables.align
}

/// Initialises a block at the end of the [`room`] bytes below `top`; returns the value for
/// TPIDR_EL0.
///
/// # Safety
///
/// These bytes are valid for writes.
pub unsafe fn make(top: usize, owner: *const c_void) -> *const Head {
    let variables = variables();
    let offset = size_of::<Head>().next_multiple_of(variables.align);
    let place = (top - offset - variables.size) & !(variables.align - 1);
    // SAFETY: the block lies within the room below `top`, which is valid for writes, as the caller
    // ensures.
    unsafe {
        (place as *mut u8).write_bytes(0, offset + variables.size);
        let values = variables.values;
        ((place + offset) as *mut u8).copy_from_nonoverlapping(values.as_ptr(), values.len());
        (*(place as *const Head)).owner.set(owner);
    }
    place as *const Head
}

/// The running thread's block; null if it has none.
#[inline(always)]
pub fn current() -> *const Head {
    thread::pointer() as *const Head
}

/// Sets the running thread's block.
///
/// # Safety
///
/// The block is from [`make`] and exists as long as the thread.
pub unsafe fn install(block: *const Head) {
    thread::set_pointer(block as usize);
}
