//! `<tenon/vm.h>`.

use crate::vm::errno;
use crate::vm::records::{VmBlueprint, VmListed, VmStatistics, VmTotals, text};
use core::ffi::{c_char, c_int, c_void};
use tenon_libc::Errno;
use tenon_libc::errno::report;
use tenon_vm::{Chunk, Error, GRAIN, Listed, Text, Totals, Vm};

/// Writes an answer where C wants it.
///
/// # Safety
///
/// The place is null or has room for one.
unsafe fn give<T>(place: *mut T, answer: Result<impl Into<T>, Error>) -> c_int {
    report(answer.map_err(errno).and_then(|answer| {
        if place.is_null() {
            return Err(Errno::EINVAL);
        }
        // SAFETY: `place` is valid for a write, as the caller ensures.
        unsafe { place.write(answer.into()) };
        Ok(())
    }))
}

/// What a call comes to that answers nothing.
fn done(result: Result<(), Error>) -> c_int {
    report(result.map_err(errno))
}

/// Says what there is for VMs made at run time.
///
/// # Safety
///
/// The place is null or has room.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn tenon_vm_totals(totals: *mut VmTotals) -> c_int {
    // SAFETY: the arguments meet the requirements of `give`, as the caller ensures.
    unsafe { give(totals, Totals::read()) }
}

/// Makes a VM as described.
///
/// # Safety
///
/// The place is null or has room for a handle; the description is null or one, and its name a string.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn tenon_vm_create(
    vm: *mut u64,
    described: *const VmBlueprint,
) -> c_int {
    // SAFETY: `described` is null or points to a value of its type, as the caller ensures.
    let described = unsafe { described.as_ref() }.filter(|_| !vm.is_null());
    // SAFETY: the arguments meet the requirements of `give`, as the caller ensures.
    let blueprint = described.map(|described| unsafe { described.blueprint() });
    match blueprint.unwrap_or(Err(Errno::EINVAL)) {
        // SAFETY: the arguments meet the requirements of `give`, as the caller ensures.
        Ok(blueprint) => unsafe { give(vm, Vm::create(&blueprint).map(|vm| vm.handle())) },
        Err(errno) => errno.raise(),
    }
}

/// Makes a VM of a template.
///
/// # Safety
///
/// The place is null or has room for a handle; the name is null or a string.
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
        // SAFETY: the arguments meet the requirements of `give`, as the caller ensures.
        Ok(name) => unsafe { give(vm, Vm::instantiate(name).map(|vm| vm.handle())) },
        Err(errno) => errno.raise(),
    }
}

/// Copies an image into a VM.
///
/// # Safety
///
/// That many bytes are there.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn tenon_vm_load(
    vm: u64,
    target: u64,
    image: *const c_void,
    size: usize,
) -> c_int {
    let chunks = image.cast::<Chunk>();
    if chunks.is_null() || !chunks.is_aligned() || !size.is_multiple_of(GRAIN) {
        return Errno::EINVAL.raise();
    }
    // SAFETY: the caller passes that many bytes at `chunks`; a chunk is any bytes, and where they
    // lie was just looked at.
    let chunks = unsafe { core::slice::from_raw_parts(chunks, size / GRAIN) };
    done(Vm::from_handle(vm).load_chunks(target, chunks))
}

/// Has a VM run.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn tenon_vm_start(vm: u64) -> c_int {
    done(Vm::from_handle(vm).start())
}

/// Keeps a VM from running.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn tenon_vm_pause(vm: u64) -> c_int {
    done(Vm::from_handle(vm).pause())
}

/// Lets a VM go on.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn tenon_vm_resume(vm: u64) -> c_int {
    done(Vm::from_handle(vm).resume())
}

/// Has a VM begin again: 1 if it must be loaded and started for that.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn tenon_vm_restart(vm: u64) -> c_int {
    match Vm::from_handle(vm).restart() {
        Ok(runs) => c_int::from(!runs),
        Err(error) => errno(error).raise(),
    }
}

/// Has a VM be no more.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn tenon_vm_destroy(vm: u64) -> c_int {
    done(Vm::from_handle(vm).destroy())
}

/// Says who is in a slot.
///
/// # Safety
///
/// The place is null or has room.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn tenon_vm_list(slot: u32, place: *mut VmListed) -> c_int {
    // SAFETY: the arguments meet the requirements of `give`, as the caller ensures.
    unsafe { give(place, Listed::at(slot.into())) }
}

/// Says what a VM is and did.
///
/// # Safety
///
/// The place is null or has room.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn tenon_vm_statistics(vm: u64, told: *mut VmStatistics) -> c_int {
    // SAFETY: the arguments meet the requirements of `give`, as the caller ensures.
    unsafe { give(told, Vm::from_handle(vm).statistics()) }
}

/// Moves what a VM printed to memory of C's; how many bytes.
///
/// # Safety
///
/// The place is null or has that much room.
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
            // SAFETY: the caller's contract: no more was asked for than there is room for.
            unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), into.cast(), count) };
            count as isize
        }
        Err(error) => errno(error).raise() as isize,
    }
}
