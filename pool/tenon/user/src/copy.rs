//! [`copy`]: copies of memory by the registers of floating point.

use super::FP_OWNER;
use core::sync::atomic::Ordering;

/// Fewer bytes are copied by general registers: to save and restore the others takes as long.
const LEAST: usize = 256;

/// Copies bytes, between ranges that may overlap. In a system call it uses registers of floating point,
/// which it saves and restores: 10 instructions for 128 bytes.
///
/// # Safety
///
/// The ranges are valid for a copy of that length, as for [`core::ptr::copy`].
pub unsafe fn copy(from: *const u8, to: *mut u8, length: usize) {
    let apart = to.addr().abs_diff(from.addr()) >= length;
    if length >= LEAST && apart && has_fp() {
        // SAFETY: as the caller promises; the current thread has the registers, which are preserved.
        unsafe { copy_wide(to, from, length) };
    } else {
        // SAFETY: as the caller promises.
        unsafe { core::ptr::copy(from, to, length) };
    }
}

/// Whether the current thread has a space, whose registers a switch from it stores: of the one that the
/// core has the registers of, the thread is dispatched.
fn has_fp() -> bool {
    // SAFETY: an owner is a static or stays until `bind` ends its ownership. Another thread that is
    // dispatched meanwhile leaves what this reads as it is when this one is dispatched again.
    let owner = unsafe { FP_OWNER.load(Ordering::Relaxed).as_ref() };
    owner.is_some_and(|owner| owner.since.get() != 0)
}

/// Copies at least 128 bytes between ranges that do not overlap: steps of 128 bytes, then the last 128
/// bytes, some of which have been copied.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn copy_wide(to: *mut u8, from: *const u8, length: usize) {
    core::arch::naked_asm!(
        ".arch_extension fp",
        ".arch_extension simd",
        "stp q0, q1, [sp, #-128]!",
        "stp q2, q3, [sp, #32]",
        "stp q4, q5, [sp, #64]",
        "stp q6, q7, [sp, #96]",
        "add x3, x1, x2",
        "add x4, x0, x2",
        "sub x1, x1, #32",
        "sub x0, x0, #32",
        "sub x2, x2, #128",
        "1: ldp q0, q1, [x1, #32]",
        "ldp q2, q3, [x1, #64]",
        "ldp q4, q5, [x1, #96]",
        "ldp q6, q7, [x1, #128]!",
        "stp q0, q1, [x0, #32]",
        "stp q2, q3, [x0, #64]",
        "stp q4, q5, [x0, #96]",
        "stp q6, q7, [x0, #128]!",
        "subs x2, x2, #128",
        "b.hs 1b",
        "tst x2, #127",
        "b.eq 2f",
        "ldp q0, q1, [x3, #-128]",
        "ldp q2, q3, [x3, #-96]",
        "ldp q4, q5, [x3, #-64]",
        "ldp q6, q7, [x3, #-32]",
        "stp q0, q1, [x4, #-128]",
        "stp q2, q3, [x4, #-96]",
        "stp q4, q5, [x4, #-64]",
        "stp q6, q7, [x4, #-32]",
        "2: ldp q2, q3, [sp, #32]",
        "ldp q4, q5, [sp, #64]",
        "ldp q6, q7, [sp, #96]",
        "ldp q0, q1, [sp], #128",
        "ret",
    )
}

#[cfg(not(target_arch = "aarch64"))]
unsafe fn copy_wide(to: *mut u8, from: *const u8, length: usize) {
    // SAFETY: as the caller promises.
    unsafe { core::ptr::copy(from, to, length) };
}
