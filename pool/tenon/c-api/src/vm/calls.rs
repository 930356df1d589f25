//! The C functions on VMs (`<tenon/vm.h>`).

use crate::vm::errno;
use crate::vm::records::{VmBlueprint, VmListed, VmStatistics, VmTotals, text};
use core::ffi::{c_char, c_int, c_void};
use tenon_libc::Errno;
use tenon_libc::errno::report;
use tenon_vm::{Chunk, Error, GRANULE, Listed, Text, Totals, Vm};

/// Stores a result for C.
///
/// # Safety
///
/// `place` is null or valid for a write.
unsafe fn store_result<T>(place: *mut T, answer: Result<impl Into<T>, Error>) -> c_int {
    report(answer.map_err(errno).and_then(|answer| {
        if place.is_null() {
            return Err(Errno::EINVAL);
        }
        // SAFETY: `place` is not null, and then valid for a write, as the caller ensures.
        unsafe { place.write(answer.into()) };
        Ok(())
    }))
}

/// Result of a call without a value.
fn report_unit(result: Result<(), Error>) -> c_int {
    report(result.map_err(errno))
}

/// Reads the resources for VMs made at run time.
///
/// # Safety
///
/// `totals` is null or valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn tenon_vm_totals(totals: *mut VmTotals) -> c_int {
    // SAFETY: `totals` is null or valid for a write, as the caller ensures.
    unsafe { store_result(totals, Totals::read()) }
}

/// Creates a VM from a descriptor.
///
/// # Safety
///
/// `vm` is null or valid for a write; `descriptor` is null or points to a descriptor with a
/// NUL-terminated name.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn tenon_vm_create(
    vm: *mut u64,
    descriptor: *const VmBlueprint,
) -> c_int {
    // SAFETY: `descriptor` is null or points to a value of its type, as the caller ensures.
    let descriptor = unsafe { descriptor.as_ref() }.filter(|_| !vm.is_null());
    // SAFETY: the name of the descriptor is null or a NUL-terminated string, as the caller ensures.
    let blueprint = descriptor.map(|descriptor| unsafe { descriptor.blueprint() });
    match blueprint.unwrap_or(Err(Errno::EINVAL)) {
        // SAFETY: `vm` is not null, and then valid for a write, as the caller ensures.
        Ok(blueprint) => unsafe { store_result(vm, Vm::create(&blueprint).map(|vm| vm.handle())) },
        Err(errno) => errno.raise(),
    }
}

/// Creates a VM from a template.
///
/// # Safety
///
/// `vm` is null or valid for a write; `template` is null or a NUL-terminated string.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn tenon_vm_instantiate(
    vm: *mut u64,
    template: *const c_char,
) -> c_int {
    if vm.is_null() {
        return Errno::EINVAL.raise();
    }
    // SAFETY: `template` is null or a NUL-terminated string, as the caller ensures.
    match unsafe { text(template) } {
        // SAFETY: `vm` is not null, and then valid for a write, as the caller ensures.
        Ok(name) => unsafe { store_result(vm, Vm::instantiate(name).map(|vm| vm.handle())) },
        Err(errno) => errno.raise(),
    }
}

/// Copies an image into a VM.
///
/// # Safety
///
/// `image` is valid for reads of `size` bytes.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn tenon_vm_load(
    vm: u64,
    target: u64,
    image: *const c_void,
    size: usize,
) -> c_int {
    let chunks = image.cast::<Chunk>();
    if chunks.is_null() || !chunks.is_aligned() || !size.is_multiple_of(GRANULE) {
        return Errno::EINVAL.raise();
    }
    // SAFETY: `image` is valid for reads of `size` bytes, as the caller ensures; alignment and size
    // were checked, and every bit pattern is a chunk.
    let chunks = unsafe { core::slice::from_raw_parts(chunks, size / GRANULE) };
    report_unit(Vm::from_handle(vm).load_chunks(target, chunks))
}

/// Starts a VM.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn tenon_vm_start(vm: u64) -> c_int {
    report_unit(Vm::from_handle(vm).start())
}

/// Pauses a VM.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn tenon_vm_pause(vm: u64) -> c_int {
    report_unit(Vm::from_handle(vm).pause())
}

/// Resumes a VM.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn tenon_vm_resume(vm: u64) -> c_int {
    report_unit(Vm::from_handle(vm).resume())
}

/// Restarts a VM: 1 if it must be loaded and started for that.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn tenon_vm_restart(vm: u64) -> c_int {
    match Vm::from_handle(vm).restart() {
        Ok(runs) => c_int::from(!runs),
        Err(error) => errno(error).raise(),
    }
}

/// Destroys a VM.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn tenon_vm_destroy(vm: u64) -> c_int {
    report_unit(Vm::from_handle(vm).destroy())
}

/// Reads which VM occupies a slot.
///
/// # Safety
///
/// `place` is null or valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn tenon_vm_list(slot: u32, place: *mut VmListed) -> c_int {
    // SAFETY: `place` is null or valid for a write, as the caller ensures.
    unsafe { store_result(place, Listed::at(slot.into())) }
}

/// Reads the statistics of a VM.
///
/// # Safety
///
/// `statistics` is null or valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn tenon_vm_statistics(
    vm: u64,
    statistics: *mut VmStatistics,
) -> c_int {
    // SAFETY: `statistics` is null or valid for a write, as the caller ensures.
    unsafe { store_result(statistics, Vm::from_handle(vm).statistics()) }
}

/// Moves console output of a VM to the program's buffer; returns the number of bytes.
///
/// # Safety
///
/// `into` is null or valid for writes of `room` bytes.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn tenon_vm_read_console(
    vm: u64,
    into: *mut c_char,
    room: usize,
) -> isize {
    // Mortise writes whole words.
    if into.is_null() || room < size_of::<u64>() {
        return Errno::EINVAL.raise() as isize;
    }
    let mut read = Text::new();
    match Vm::from_handle(vm).read_console_at_most(&mut read, room) {
        Ok(count) => {
            let bytes = read.bytes();
            let count = count.min(bytes.len());
            // SAFETY: `into` is valid for writes of `room` bytes, as the caller ensures, and at
            // most that many were read.
            unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), into.cast(), count) };
            count as isize
        }
        Err(error) => errno(error).raise() as isize,
    }
}
