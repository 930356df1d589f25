//! Cache maintenance by address.
//!
//! Guests and secondary cores start with their MMU off, so that their reads bypass the caches. What
//! is written for them is first cleaned to the point of coherency (Arm ARM, D7.5).

/// Bytes per data cache line, from `CTR_EL0`.
#[must_use]
pub fn line_size() -> usize {
    let shift = (crate::read_register!("ctr_el0") >> 16) & 0xf;
    4 << shift
}

/// Fills a page of 4 KiB with zeros, by DC ZVA blocks where the core allows them (Arm ARM, D7.5.9).
///
/// # Safety
///
/// The page is mapped as normal memory, its address is a multiple of 4 KiB, and all references to
/// it are to an `UnsafeCell`.
pub unsafe fn zero_page(page: usize) {
    /// DCZID_EL0.DZP: zeroing by blocks is not allowed.
    #[cfg(target_arch = "aarch64")]
    const PROHIBITED: u64 = 1 << 4;
    #[cfg(target_arch = "aarch64")]
    {
        let size = crate::read_register!("dczid_el0");
        if size & PROHIBITED == 0 {
            // SAFETY: a block is at most 2 KiB and aligned, so that all of it lies in the page.
            unsafe {
                core::arch::asm!(
                    "2: dc zva, {address}",
                    "add {address}, {address}, {block}",
                    "cmp {address}, {end}",
                    "b.lo 2b",
                    address = inout(reg) page => _,
                    block = in(reg) 4usize << (size & 0xf),
                    end = in(reg) page + 4096,
                    options(nostack),
                );
            }
            return;
        }
    }
    for word in 0..4096 / size_of::<u64>() {
        // SAFETY: the word lies within the page, which the caller states to be mapped and referred
        // to as `UnsafeCell` only.
        unsafe { (page as *mut u64).add(word).write_volatile(0) };
    }
}

/// Cleans and invalidates `[start, start + length)` to the point of coherency.
///
/// # Safety
///
/// The range must be mapped, else the instructions fault.
pub unsafe fn clean_and_invalidate(start: usize, length: usize) {
    let line = line_size();
    let mut address = start & !(line - 1);
    while address < start + length {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the caller states that the range is mapped; its contents are kept.
        unsafe {
            core::arch::asm!("dc civac, {}", in(reg) address, options(nostack, preserves_flags));
        }
        address += line;
    }
    crate::barrier::dsb_sy();
}

/// Makes code that was written as data visible to instruction fetches of all cores (Arm ARM, D7.5.9).
///
/// # Safety
///
/// The range must be mapped, else the instructions fault.
pub unsafe fn synchronise_code(start: usize, length: usize) {
    #[cfg(target_arch = "aarch64")]
    {
        let control = crate::read_register!("ctr_el0");
        let (data, code) = (4 << (control >> 16 & 0xf), 4 << (control & 0xf));
        // SAFETY: the caller states that the range is mapped; its contents are kept.
        unsafe {
            for line in (start..start + length).step_by(data) {
                core::arch::asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags));
            }
            core::arch::asm!("dsb ish", options(nostack, preserves_flags));
            // CTR_EL0.L1Ip: only in a PIPT cache is a line found under each of its addresses.
            if control >> 14 & 3 == 3 {
                for line in (start..start + length).step_by(code) {
                    core::arch::asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags));
                }
            } else {
                core::arch::asm!("ic ialluis", options(nostack, preserves_flags));
            }
            core::arch::asm!("dsb ish", "isb", options(nostack, preserves_flags));
        }
    }
    #[cfg(not(target_arch = "aarch64"))]
    let _ = (start, length);
}

/// Bytes that one step of [`copy_to_poc`] and [`zero_to_poc`] moves. Addresses and lengths
/// are multiples of it.
pub const CHUNK: usize = 64;

/// Copies whole chunks and cleans them to the point of coherency: 12 instructions each.
///
/// # Safety
///
/// Both ranges are mapped as normal memory, the target is writable, and addresses and length are
/// multiples of [`CHUNK`]. All references to either are to an `UnsafeCell`. Concurrent writes to the
/// source may or may not be copied.
pub unsafe fn copy_to_poc(from: usize, to: usize, length: usize) {
    if length == 0 {
        return;
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: the caller states that both ranges are mapped and referred to as `UnsafeCell` only.
        unsafe {
            core::arch::asm!(
                "2: ldp {a}, {b}, [{from}], #64", "ldp {c}, {d}, [{from}, #-48]",
                "ldp {e}, {f}, [{from}, #-32]", "ldp {g}, {h}, [{from}, #-16]",
                "stp {a}, {b}, [{to}]", "stp {c}, {d}, [{to}, #16]",
                "stp {e}, {f}, [{to}, #32]", "stp {g}, {h}, [{to}, #48]",
                "dc civac, {to}", "add {to}, {to}, #64",
                "cmp {to}, {end}", "b.lo 2b",
                from = inout(reg) from => _, to = inout(reg) to => _, end = in(reg) to + length,
                a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _,
                e = out(reg) _, f = out(reg) _, g = out(reg) _, h = out(reg) _,
                options(nostack),
            );
        }
        if line_size() < CHUNK {
            // SAFETY: the caller states that the target is mapped.
            unsafe { clean_and_invalidate(to, length) };
        }
    }
    #[cfg(not(target_arch = "aarch64"))]
    // SAFETY: the caller states that both ranges are mapped and referred to as `UnsafeCell` only.
    unsafe {
        core::ptr::copy(from as *const u8, to as *mut u8, length);
    }
    crate::barrier::dsb_sy();
}

/// Fills whole chunks with zeros and cleans them to the point of coherency: 5 instructions each
/// where a DC ZVA block is a chunk.
///
/// # Safety
///
/// The range is mapped as writable normal memory; address and length are multiples of [`CHUNK`].
/// All references to it are to an `UnsafeCell`.
pub unsafe fn zero_to_poc(start: usize, length: usize) {
    /// DCZID_EL0: a block of 16 words of 4 bytes, not prohibited (Arm ARM, D19.2).
    #[cfg(target_arch = "aarch64")]
    const DCZID_64_BYTES: u64 = 4;
    #[cfg(target_arch = "aarch64")]
    if crate::read_register!("dczid_el0") == DCZID_64_BYTES && length > 0 && line_size() >= CHUNK {
        // SAFETY: the caller states that the range is mapped and writable; a block is a chunk.
        unsafe {
            core::arch::asm!(
                "2: dc zva, {at}", "dc civac, {at}", "add {at}, {at}, #64",
                "cmp {at}, {end}", "b.lo 2b",
                at = inout(reg) start => _, end = in(reg) start + length,
                options(nostack),
            );
        }
        return crate::barrier::dsb_sy();
    }
    for at in (start..start + length).step_by(size_of::<u128>()) {
        // SAFETY: the caller states that the range is mapped and writable, and that references to it
        // are to an `UnsafeCell`.
        unsafe { (at as *mut u128).write_volatile(0) };
    }
    // SAFETY: the caller states that the range is mapped.
    unsafe { clean_and_invalidate(start, length) };
}
