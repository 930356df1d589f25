//! [`Area`]: shared memory as 64-bit atomic words.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};

#[cfg(not(loom))]
use hw_arch::words::{load, store};

/// Model of [`hw_arch::words::store`]: stores word by word, as on the target.
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
    /// Area over `words`.
    pub const fn new(words: &'a [AtomicU64]) -> Self {
        Self { words }
    }

    /// Area of `length` bytes at `start`; `None` if `start` is null or not 8-byte aligned.
    ///
    /// # Safety
    ///
    /// During `'a` the range must be mapped readable and writable (readable suffices for an area that
    /// is only read), as Normal cacheable memory, and this program must access it only through
    /// `Area`.
    #[cfg(not(loom))]
    pub unsafe fn from_raw(start: *mut u8, length: usize) -> Option<Self> {
        let words = start.cast::<AtomicU64>();
        if words.is_null() || !words.is_aligned() {
            return None;
        }
        // SAFETY: `words` is not null and aligned, as checked above. The safety contract of this
        // function requires that the range is mapped during `'a` and that this program makes no
        // non-atomic access. `AtomicU64` permits any bit pattern and concurrent writes of a peer.
        Some(Self::new(unsafe {
            core::slice::from_raw_parts(words, length / size_of::<u64>())
        }))
    }

    /// Length in bytes.
    pub const fn len(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    /// Whether the area has no words.
    pub const fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Part of `length` bytes at `offset`; `None` if it extends past the end.
    pub fn part(&self, offset: usize, length: usize) -> Option<Self> {
        let first = offset / size_of::<u64>();
        let end = offset.checked_add(length)? / size_of::<u64>();
        self.words.get(first..end).map(Self::new)
    }

    /// The first `COUNT` words; `None` if the area has fewer.
    pub fn first_words<const COUNT: usize>(&self) -> Option<&'a [AtomicU64; COUNT]> {
        self.words.first_chunk()
    }

    /// Loads the word at byte `offset`.
    #[inline]
    pub fn load(&self, offset: usize, order: Ordering) -> u64 {
        self.words
            .get(offset / size_of::<u64>())
            .map_or(0, |word| u64::from_le(word.load(order)))
    }

    /// Stores the word at byte `offset`.
    #[inline]
    pub fn store(&self, offset: usize, value: u64, order: Ordering) {
        if let Some(word) = self.words.get(offset / size_of::<u64>()) {
            word.store(value.to_le(), order);
        }
    }

    /// Loads the 32-bit field at byte `offset`, one half of a word.
    #[inline]
    pub fn load_half(&self, offset: usize, order: Ordering) -> u32 {
        (self.load(offset, order) >> half_shift(offset)) as u32
    }

    /// Stores the 32-bit field at byte `offset`. The store rewrites the other half of the word, so
    /// each word must have one writer.
    #[inline]
    pub fn store_half(&self, offset: usize, value: u32, order: Ordering) {
        let shift = half_shift(offset);
        let rest = self.load(offset, Ordering::Relaxed) & !(u64::from(u32::MAX) << shift);
        self.store(offset, rest | u64::from(value) << shift, order);
    }

    /// Copies bytes at `offset` into `buffer`, one word at a time.
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

    /// Copies `bytes` to `offset`, one word at a time. The stores rewrite the adjacent bytes of the
    /// first and the last word, so these must belong to the same writer.
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

    /// All words of the area.
    pub(crate) const fn words(&self) -> &'a [AtomicU64] {
        self.words
    }

    /// Reference to the word at byte `offset`, looked up once for frequent use.
    pub(crate) fn word(&self, offset: usize) -> Option<&'a AtomicU64> {
        self.words.get(offset / size_of::<u64>())
    }

    /// Copies `bytes` to the start of the area in whole words; the last word is padded with zeros.
    /// Bytes past the end of the area are ignored.
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

    /// Copies bytes from the start of the area into `buffer` in whole words. The part of `buffer`
    /// past the end of the area is unchanged.
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
        // SAFETY: `memory` outlives the area and is accessed only through it.
        let area = unsafe { Area::from_raw(start, 16) };
        assert_eq!(area.map(|a| a.len()), Some(16));
        // SAFETY: the call returns `None` without an access.
        assert!(unsafe { Area::from_raw(start.wrapping_add(1), 8) }.is_none());
        // SAFETY: the call returns `None` without an access.
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
