//! Shared memory seen as 64-bit atomic words.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};

#[cfg(not(loom))]
use hw_arch::words::{load, store};

/// As on the target, word by word.
#[cfg(loom)]
fn store(words: &[AtomicU64], bytes: &[u8]) -> usize {
    let stored = words.iter().zip(bytes.as_chunks().0);
    stored
        .map(|(word, bytes)| word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed))
        .count()
}

#[cfg(loom)]
fn load(words: &[AtomicU64], bytes: &mut [u8]) -> usize {
    let loaded = words.iter().zip(bytes.as_chunks_mut().0);
    loaded
        .map(|(word, bytes)| *bytes = word.load(Ordering::Relaxed).to_ne_bytes())
        .count()
}

/// Memory shared with another VM, another core or the host.
///
/// Every access is an atomic access to one aligned little-endian 64-bit word. Offsets are in
/// bytes; one outside the area reads as zero and is not written, so no offset can panic.
#[derive(Clone, Copy, Debug)]
pub struct Area<'a> {
    words: &'a [AtomicU64],
}

impl<'a> Area<'a> {
    /// The area over words that are already atomic.
    pub const fn new(words: &'a [AtomicU64]) -> Self {
        Self { words }
    }

    /// The area of `length` bytes at `start`, or nothing if `start` is null or not 8-byte aligned.
    ///
    /// # Safety
    ///
    /// For the whole of `'a` the range must be mapped readable and writable (readable is enough for
    /// an area that is only read), as Normal cacheable memory, and this program must access it
    /// through `Area` alone.
    #[cfg(not(loom))]
    pub unsafe fn from_raw(start: *mut u8, length: usize) -> Option<Self> {
        let words = start.cast::<AtomicU64>();
        if words.is_null() || !words.is_aligned() {
            return None;
        }
        // SAFETY: not null and aligned by the check above; mapped for `'a` and free of non-atomic
        // accesses by the caller's promise. `AtomicU64` allows any bit pattern and any peer write.
        Some(Self::new(unsafe {
            core::slice::from_raw_parts(words, length / size_of::<u64>())
        }))
    }

    /// The length in bytes.
    pub const fn len(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    /// Whether the area has no word at all.
    pub const fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The part of `length` bytes from `offset` on, or nothing if it reaches past the end.
    pub fn part(&self, offset: usize, length: usize) -> Option<Self> {
        let first = offset / size_of::<u64>();
        let end = offset.checked_add(length)? / size_of::<u64>();
        self.words.get(first..end).map(Self::new)
    }

    /// The first words, as many as asked for, or nothing if there are fewer.
    pub fn first_words<const COUNT: usize>(&self) -> Option<&'a [AtomicU64; COUNT]> {
        self.words.first_chunk()
    }

    /// The word at byte `offset`.
    #[inline]
    pub fn load(&self, offset: usize, order: Ordering) -> u64 {
        self.words
            .get(offset / size_of::<u64>())
            .map_or(0, |word| u64::from_le(word.load(order)))
    }

    /// Writes the word at byte `offset`.
    #[inline]
    pub fn store(&self, offset: usize, value: u64, order: Ordering) {
        if let Some(word) = self.words.get(offset / size_of::<u64>()) {
            word.store(value.to_le(), order);
        }
    }

    /// The 32-bit field at byte `offset`, which is one half of a word.
    #[inline]
    pub fn load_half(&self, offset: usize, order: Ordering) -> u32 {
        (self.load(offset, order) >> half_shift(offset)) as u32
    }

    /// Writes the 32-bit field at byte `offset`. The other half is written back as it was, so a
    /// word has one writer.
    #[inline]
    pub fn store_half(&self, offset: usize, value: u32, order: Ordering) {
        let shift = half_shift(offset);
        let rest = self.load(offset, Ordering::Relaxed) & !(u64::from(u32::MAX) << shift);
        self.store(offset, rest | u64::from(value) << shift, order);
    }

    /// Copies bytes from `offset` on into `buffer`, a word at a time.
    pub fn read(&self, offset: usize, buffer: &mut [u8]) {
        let mut at = offset;
        let mut rest = buffer;
        while !rest.is_empty() {
            let room = size_of::<u64>() - at % size_of::<u64>();
            let (now, later) = rest.split_at_mut(room.min(rest.len()));
            let mut word = self.load(at, Ordering::Relaxed) >> byte_shift(at);
            for byte in &mut *now {
                *byte = word as u8;
                word >>= u8::BITS;
            }
            at = at.wrapping_add(now.len());
            rest = later;
        }
    }

    /// Copies `bytes` to `offset`, a word at a time. Bytes beside them in the first and the last
    /// word are written back as they were, so they too belong to this writer.
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        let mut at = offset;
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = size_of::<u64>() - at % size_of::<u64>();
            let (now, later) = rest.split_at(room.min(rest.len()));
            let mut word = self.load(at, Ordering::Relaxed);
            for (position, byte) in (at..).zip(now) {
                let shift = byte_shift(position);
                word = word & !(0xff << shift) | u64::from(*byte) << shift;
            }
            self.store(at, word, Ordering::Relaxed);
            at = at.wrapping_add(now.len());
            rest = later;
        }
    }

    /// All of its words.
    pub(crate) const fn words(&self) -> &'a [AtomicU64] {
        self.words
    }

    /// The word at byte `offset`, for who uses it often.
    pub(crate) fn word(&self, offset: usize) -> Option<&'a AtomicU64> {
        self.words.get(offset / size_of::<u64>())
    }

    /// Copies `bytes` to the start of the area, whole words at a time; behind an odd end the rest of
    /// the last word becomes zero. What reaches past the area is left out.
    #[inline]
    pub fn fill(&self, bytes: &[u8]) {
        let stored = store(self.words, bytes);
        if bytes.len() > stored * size_of::<u64>()
            && let Some((word, rest)) = self.words.get(stored).zip(bytes.get(stored * 8..))
        {
            let bytes = core::array::from_fn(|at| rest.get(at).copied().unwrap_or(0));
            word.store(u64::from_ne_bytes(bytes), Ordering::Relaxed);
        }
    }

    /// Copies bytes from the start of the area into `buffer`, whole words at a time. What lies past
    /// the area stays as it was.
    #[inline]
    pub fn take(&self, buffer: &mut [u8]) {
        let loaded = load(self.words, buffer);
        if buffer.len() > loaded * size_of::<u64>()
            && let Some((word, rest)) = self.words.get(loaded).zip(buffer.get_mut(loaded * 8..))
        {
            let bytes = word.load(Ordering::Relaxed).to_ne_bytes();
            rest.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        }
    }

    /// Sets every word to zero.
    pub fn clear(&self) {
        for word in self.words {
            word.store(0, Ordering::Relaxed);
        }
    }
}

const fn byte_shift(offset: usize) -> u32 {
    (offset % size_of::<u64>()) as u32 * u8::BITS
}

const fn half_shift(offset: usize) -> u32 {
    byte_shift(offset & !(size_of::<u32>() - 1))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words<const N: usize>() -> [AtomicU64; N] {
        [const { AtomicU64::new(0) }; N]
    }

    #[test]
    fn halves_lie_in_little_endian_order() {
        let memory = words::<2>();
        let area = Area::new(&memory);
        area.store_half(8, 0x1111_2222, Ordering::Relaxed);
        area.store_half(12, 0x3333_4444, Ordering::Relaxed);
        assert_eq!(area.load(8, Ordering::Relaxed), 0x3333_4444_1111_2222);
        assert_eq!(area.load_half(12, Ordering::Relaxed), 0x3333_4444);
    }

    #[test]
    fn raw_memory_must_be_aligned_and_there() {
        let memory = words::<2>();
        let start = memory.as_ptr().cast_mut().cast::<u8>();
        // SAFETY: `memory` lives on and is accessed through the area alone.
        let area = unsafe { Area::from_raw(start, 16) };
        assert_eq!(area.map(|a| a.len()), Some(16));
        // SAFETY: refused before it is used.
        assert!(unsafe { Area::from_raw(start.wrapping_add(1), 8) }.is_none());
        // SAFETY: refused before it is used.
        assert!(unsafe { Area::from_raw(core::ptr::null_mut(), 8) }.is_none());
    }

    proptest! {
        #[test]
        fn bytes_come_back_and_spare_their_neighbours(
            before in any::<[u8; 64]>(), offset in 0usize..64,
            bytes in prop::collection::vec(any::<u8>(), 0..64),
        ) {
            let memory = words::<8>();
            let area = Area::new(&memory);
            area.write(0, &before);
            area.write(offset, &bytes);
            let mut expected = before;
            for (to, from) in expected.iter_mut().skip(offset).zip(&bytes) {
                *to = *from;
            }
            let mut found = [0; 64];
            area.read(0, &mut found);
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn whole_words_go_in_and_out_as_single_bytes_do(
            bytes in prop::collection::vec(any::<u8>(), 0..72), length in 0usize..72,
        ) {
            let memory = words::<8>();
            let area = Area::new(&memory);
            area.fill(&bytes);
            let mut expected = [0; 64];
            for (to, from) in expected.iter_mut().zip(&bytes) {
                *to = *from;
            }
            let mut found = [0; 64];
            area.read(0, &mut found);
            prop_assert_eq!(found, expected);
            let mut taken = vec![0; length];
            area.take(&mut taken);
            let within = length.min(64);
            prop_assert_eq!(&taken[..within], &expected[..within]);
        }

        #[test]
        fn no_offset_panics(offset in any::<usize>(), length in any::<usize>(), value in any::<u64>()) {
            let memory = words::<4>();
            let area = Area::new(&memory);
            area.store(offset, value, Ordering::Relaxed);
            area.store_half(offset, value as u32, Ordering::Relaxed);
            let _ = (area.load(offset, Ordering::Relaxed), area.load_half(offset, Ordering::Relaxed));
            let _ = area.part(offset, length);
        }
    }
}
