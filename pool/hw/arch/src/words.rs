//! Copies between private bytes and shared words that are written concurrently.
//!
//! Memory that another core or VM may write is atomic words in Rust, from which bytes would have to
//! be assembled: for bytes at any address the compiler of a kernel loads them one by one, as it may
//! not assume unaligned access. Assembly is not bound to that; a pair of words is two single-copy
//! atomic accesses if the words are aligned (Arm ARM, B2.2.1).

use core::sync::atomic::AtomicU64;

/// Copies whole words from `bytes` to `words`, as many as both have. Returns how many.
#[inline]
pub fn store(words: &[AtomicU64], bytes: &[u8]) -> usize {
    let count = words.len().min(bytes.len() / size_of::<u64>());
    #[cfg(target_arch = "aarch64")]
    // SAFETY: both have that many words. `words` are cells of shared normal memory, and SCTLR_ELx.A
    // is zero, so that unaligned accesses are allowed.
    unsafe {
        copy(bytes.as_ptr(), words.as_ptr().cast_mut().cast(), count);
    }
    #[cfg(not(target_arch = "aarch64"))]
    for (word, bytes) in words.iter().zip(bytes.as_chunks().0) {
        word.store(
            u64::from_ne_bytes(*bytes),
            core::sync::atomic::Ordering::Relaxed,
        );
    }
    count
}

/// Copies whole words from `words` to `bytes`, as many as both have. Returns how many.
#[inline]
pub fn load(words: &[AtomicU64], bytes: &mut [u8]) -> usize {
    let count = words.len().min(bytes.len() / size_of::<u64>());
    #[cfg(target_arch = "aarch64")]
    // SAFETY: both have that many words. `words` are cells of shared normal memory, and SCTLR_ELx.A
    // is zero, so that unaligned accesses are allowed.
    unsafe {
        copy(words.as_ptr().cast(), bytes.as_mut_ptr(), count);
    }
    #[cfg(not(target_arch = "aarch64"))]
    for (word, bytes) in words.iter().zip(bytes.as_chunks_mut().0) {
        *bytes = word
            .load(core::sync::atomic::Ordering::Relaxed)
            .to_ne_bytes();
    }
    count
}

/// Copies `count` words: ten instructions for eight of them.
///
/// # Safety
///
/// Both ranges have that many words of normal memory; the target belongs to the caller or consists
/// of cells.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, count: usize) {
    // SAFETY: the caller states that both ranges are valid and that the target may be written.
    unsafe {
        core::arch::asm!(
            "subs {count}, {count}, #8",
            "b.lo 3f",
            "2: ldp {a}, {b}, [{from}], #64",
            "ldp {c}, {d}, [{from}, #-48]",
            "ldp {e}, {f}, [{from}, #-32]",
            "ldp {g}, {h}, [{from}, #-16]",
            "stp {a}, {b}, [{to}], #64",
            "stp {c}, {d}, [{to}, #-48]",
            "stp {e}, {f}, [{to}, #-32]",
            "stp {g}, {h}, [{to}, #-16]",
            "subs {count}, {count}, #8",
            "b.hs 2b",
            "3: adds {count}, {count}, #8",
            "b.eq 5f",
            "4: ldr {a}, [{from}], #8",
            "str {a}, [{to}], #8",
            "subs {count}, {count}, #1",
            "b.ne 4b",
            "5:",
            from = inout(reg) from => _, to = inout(reg) to => _, count = inout(reg) count => _,
            a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _,
            e = out(reg) _, f = out(reg) _, g = out(reg) _, h = out(reg) _,
            options(nostack),
        );
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    #[test]
    fn as_many_whole_words_as_both_have() {
        for length in 0..100usize {
            let bytes: Vec<u8> = (0..length as u8).collect();
            let words = [const { AtomicU64::new(0) }; 9];
            let count = store(&words, &bytes);
            assert_eq!(count, (length / 8).min(9));
            let mut back = std::vec![0; length];
            assert_eq!(load(&words, &mut back), count);
            assert_eq!(back[..count * 8], bytes[..count * 8]);
            assert!(back[count * 8..].iter().all(|&byte| byte == 0));
        }
    }
}
