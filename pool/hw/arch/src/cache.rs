//! Cache maintenance by address.
//!
//! Guests and secondary cores start with their MMU off and so read memory past
//! the caches: what was written for them is cleaned to the point of coherency
//! first (Arm ARM, D7.5).

/// Bytes per data cache line, from `CTR_EL0`.
#[must_use]
pub fn line_size() -> usize {
    let shift = (crate::read_register!("ctr_el0") >> 16) & 0xf;
    4 << shift
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
        // SAFETY: the caller says the range is mapped; contents stay as they are.
        unsafe {
            core::arch::asm!("dc civac, {}", in(reg) address, options(nostack, preserves_flags));
        }
        address += line;
    }
    crate::barrier::dsb_sy();
}
