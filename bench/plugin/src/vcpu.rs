//! The vCPU that executes a callback.
//!
//! QEMU passes a vCPU's number to callbacks. From version 10.0 on, where one thread executes all vCPUs
//! (`-icount`), that is the number of the vCPU for which the block was translated: of code that several
//! vCPUs share, such as Mortise, all is said to be executed by one of them (`gen_cpu_index` of
//! `accel/tcg/plugin-gen.c`). So the number is taken from `current_cpu`, which QEMU exports to its own
//! modules as well.

#![expect(unsafe_code, reason = "reads a variable of QEMU")]

use core::ffi::{c_char, c_int, c_void};
use std::cell::Cell;
use std::ptr;
use std::sync::OnceLock;

use crate::state::VCPUS;

#[expect(
    unsafe_code,
    reason = "declarations of QEMU's and the C library's functions"
)]
unsafe extern "C" {
    /// QEMU's state of a vCPU; null if there is none of this number.
    safe fn qemu_get_cpu(number: c_int) -> *const c_void;
    /// The address of a symbol, for a thread's variable that of the calling thread.
    fn dlsym(library: *mut c_void, name: *const c_char) -> *const Cell<*const c_void>;
}

thread_local! {
    /// Where QEMU keeps the state of the vCPU that this thread executes.
    static CURRENT: *const Cell<*const c_void> = symbol();
}

/// The states of all vCPUs, as numbers for comparison only.
static STATES: OnceLock<[usize; VCPUS]> = OnceLock::new();

fn symbol() -> *const Cell<*const c_void> {
    // SAFETY: the name is a C string; a null handle is RTLD_DEFAULT, all libraries of the process.
    unsafe { dlsym(ptr::null_mut(), c"current_cpu".as_ptr()) }
}

/// Whether QEMU exports the variable.
pub fn known() -> bool {
    !symbol().is_null()
}

/// The number of the vCPU that this thread executes. None for other threads.
pub fn current() -> Option<usize> {
    let place = CURRENT.with(|place| *place);
    // SAFETY: the place is null or this thread's variable, which lives as long as the thread.
    let state = unsafe { place.as_ref() }?.get();
    // QEMU creates all vCPUs before it translates code.
    let states = STATES.get_or_init(|| {
        let mut number = -1;
        [(); VCPUS].map(|()| {
            number += 1;
            qemu_get_cpu(number).addr()
        })
    });
    let state = state.addr();
    states
        .iter()
        .position(|&known| known == state && state != 0)
}
