//! [`copy`]: copies of memory by the registers of floating point.

use super::FP_OWNER;
use core::sync::atomic::Ordering;

/// Fewer bytes are copied by general registers: to save and restore the others takes as long.
const LEAST: usize = 256;

/// Copies bytes, between ranges that may overlap. In a system call it uses registers of floating point,
/// which it saves and restores: 10 instructions for 256 bytes.
///
/// # Safety
///
/// The ranges are valid for a copy of that length, as for [`core::ptr::copy`]. The caller holds the mutex
/// under which threads that end are [unbound](crate::bind).
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

/// Whether the current thread has a space, into which a switch from it stores the registers: the space
/// that the core has the registers of is that of a dispatched thread then, which is the current one.
fn has_fp() -> bool {
    // SAFETY: an owner stays until its thread is unbound. The caller holds the mutex under which a thread
    // that ends is unbound, so that no owner ends before its last use here.
    let owner = unsafe { FP_OWNER.load(Ordering::Relaxed).as_ref() };
    owner.is_some_and(|owner| owner.since.get() != 0)
}

/// Copies at least 128 bytes between ranges that do not overlap: steps of 256 bytes, one of 128 bytes,
/// then the last 128 bytes, some of which have been copied.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn copy_wide(to: *mut u8, from: *const u8, length: usize) {
    core::arch::naked_asm!(
        ".arch_extension fp",
        ".arch_extension simd",
        "sub sp, sp, #128",
        "add x5, sp, #64",
        "st1 {{v0.2d-v3.2d}}, [sp]",
        "st1 {{v4.2d-v7.2d}}, [x5]",
        "add x3, x1, x2",
        "add x4, x0, x2",
        "subs x2, x2, #256",
        "b.lo 2f",
        "1: ld1 {{v0.16b-v3.16b}}, [x1], #64",
        "ld1 {{v4.16b-v7.16b}}, [x1], #64",
        "st1 {{v0.16b-v3.16b}}, [x0], #64",
        "st1 {{v4.16b-v7.16b}}, [x0], #64",
        "ld1 {{v0.16b-v3.16b}}, [x1], #64",
        "ld1 {{v4.16b-v7.16b}}, [x1], #64",
        "st1 {{v0.16b-v3.16b}}, [x0], #64",
        "st1 {{v4.16b-v7.16b}}, [x0], #64",
        "subs x2, x2, #256",
        "b.hs 1b",
        "2: tbz x2, #7, 3f",
        "ld1 {{v0.16b-v3.16b}}, [x1], #64",
        "ld1 {{v4.16b-v7.16b}}, [x1]",
        "st1 {{v0.16b-v3.16b}}, [x0], #64",
        "st1 {{v4.16b-v7.16b}}, [x0]",
        "3: tst x2, #127",
        "b.eq 4f",
        "sub x3, x3, #128",
        "sub x4, x4, #128",
        "ld1 {{v0.16b-v3.16b}}, [x3], #64",
        "ld1 {{v4.16b-v7.16b}}, [x3]",
        "st1 {{v0.16b-v3.16b}}, [x4], #64",
        "st1 {{v4.16b-v7.16b}}, [x4]",
        "4: ld1 {{v0.2d-v3.2d}}, [sp]",
        "ld1 {{v4.2d-v7.2d}}, [x5]",
        "add sp, sp, #128",
        "ret",
    )
}

#[cfg(not(target_arch = "aarch64"))]
unsafe fn copy_wide(to: *mut u8, from: *const u8, length: usize) {
    // SAFETY: as the caller promises.
    unsafe { core::ptr::copy(from, to, length) };
}
