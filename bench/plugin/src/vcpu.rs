//! The vCPU that executes a callback.
//!
//! QEMU passes a vCPU's number to callbacks. From version 10.0 on, where one thread executes all vCPUs
//! (`-icount`), that is the number of the vCPU for which the block was translated: of code that several
//! vCPUs share, such as Mortise, all is said to be executed by one of them (`gen_cpu_index` of
//! `accel/tcg/plugin-gen.c`). So the number is taken from `current_cpu`, which QEMU exports to its own
//! modules as well.
//!
//! A core's instructions are added to the clock after it has left its block, but another thread takes it
//! for waiting from the middle of its `WFI` on: see `quiet.rs`. So the callback before a `WFI` adds them.

#![expect(unsafe_code, reason = "reads a variable of QEMU")]

use core::ffi::{CStr, c_char, c_int, c_void};
use std::cell::Cell;
use std::sync::OnceLock;
use std::{mem, ptr};

use crate::state::VCPUS;

#[expect(
    unsafe_code,
    reason = "declarations of QEMU's and the C library's functions"
)]
unsafe extern "C" {
    /// QEMU's state of a vCPU; null if there is none of this number.
    safe fn qemu_get_cpu(number: c_int) -> *const c_void;
    /// The address of a symbol, for a thread's variable that of the calling thread.
    fn dlsym(library: *mut c_void, name: *const c_char) -> *const c_void;
}

/// Adds the instructions that a vCPU has begun, its block's last included, to QEMU's clock.
type Account = unsafe extern "C" fn(*const c_void);

thread_local! {
    /// Where QEMU keeps the state of the vCPU that this thread executes.
    static CURRENT: *const Cell<*const c_void> = symbol();
}

/// The states of all vCPUs, as numbers for comparison only.
static STATES: OnceLock<[usize; VCPUS]> = OnceLock::new();

/// The address of a symbol of the process; null if there is none of this name.
fn address(name: &CStr) -> *const c_void {
    // SAFETY: the name is a C string; a null handle is RTLD_DEFAULT, all libraries of the process.
    unsafe { dlsym(ptr::null_mut(), name.as_ptr()) }
}

fn symbol() -> *const Cell<*const c_void> {
    address(c"current_cpu").cast()
}

/// QEMU's function that accounts for a vCPU's instructions.
fn accounting() -> Option<Account> {
    static FOUND: OnceLock<Option<Account>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let place = address(c"icount_update");
        // SAFETY: a place that is not null is QEMU's function of this name and type; a null one is None.
        unsafe { mem::transmute::<*const c_void, Option<Account>>(place) }
    })
}

/// Whether QEMU exports the variable.
pub fn known() -> bool {
    !symbol().is_null()
}

/// Whether QEMU exports what `account` uses.
pub fn accounted() -> bool {
    known() && accounting().is_some()
}

/// QEMU's state of the vCPU that this thread executes; null for other threads.
fn state() -> *const c_void {
    let place = CURRENT.with(|place| *place);
    // SAFETY: the place is null or this thread's variable, which lives as long as the thread.
    unsafe { place.as_ref() }.map_or(ptr::null(), Cell::get)
}

/// Brings QEMU's clock up to the end of the block that this thread executes, with `-icount`.
///
/// At its begin a block has taken all its instructions off the vCPU's budget. Those which it does not
/// execute are returned later and count backwards, so the sum is the same.
pub fn account() {
    let state = state();
    if let Some(account) = accounting()
        && !state.is_null()
    {
        // SAFETY: the state is that of the vCPU that this thread executes, and no other thread writes
        // its budget; the function takes its own locks, of which a callback holds none.
        unsafe { account(state) }
    }
}

/// The number of the vCPU that this thread executes. None for other threads.
pub fn current() -> Option<usize> {
    let state = state();
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
