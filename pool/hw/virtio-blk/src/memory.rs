//! Memory that the device accesses: its virtqueue, and the sharers' buffers.
//!
//! A split virtqueue (virtio 1.2, 2.7) with a fixed chain of three descriptors for each sharer:
//! header, buffer and status; for a flush the first leads to the last. The device writes the index
//! and the entries of the used ring and the status bytes; other memory that it may write is never
//! read.

use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};
use hw_arch::dma::address;

/// Maximum number of sharers of a disk.
pub const SHARERS: usize = 8;

/// Maximum number of bytes in flight per sharer.
pub const BUFFER: usize = 4096;

/// Descriptors per chain; one is unused.
const CHAIN: usize = 4;

/// Descriptors of the queue and entries of its rings; exceeds the number of chains.
pub(crate) const QUEUE: usize = CHAIN * SHARERS;

/// Flags of a descriptor (2.7.5).
const NEXT: u64 = 1;
const WRITE: u64 = 2;

/// `VIRTQ_AVAIL_F_NO_INTERRUPT` (2.7.6).
const NO_INTERRUPT: u16 = 1;

/// Status before the device wrote it.
const UNKNOWN: u8 = 0xff;

/// Direction of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Device to buffer.
    In,
    /// Buffer to device.
    Out,
    /// No data.
    Flush,
}

impl Direction {
    /// Request type (5.2.6).
    const fn kind(self) -> u64 {
        match self {
            Self::In => 0,
            Self::Out => 1,
            Self::Flush => 4,
        }
    }
}

/// Memory of a disk driver, identity-mapped, without other users.
#[derive(Debug)]
#[repr(C, align(4096))]
pub struct Memory {
    buffers: [[AtomicU64; BUFFER / 8]; SHARERS],
    descriptors: [[AtomicU64; 2]; QUEUE],
    available: Ring<AtomicU16, QUEUE>,
    used: Ring<[AtomicU32; 2], QUEUE>,
    headers: [[AtomicU64; 2]; SHARERS],
    verdicts: [AtomicU8; SHARERS],
}

/// A ring: flags, an index and entries.
#[derive(Debug)]
#[repr(C, align(8))]
struct Ring<T, const N: usize> {
    flags: AtomicU16,
    index: AtomicU16,
    places: [T; N],
}

impl Memory {
    /// Memory that no disk uses yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            buffers: [const { [const { AtomicU64::new(0) }; BUFFER / 8] }; SHARERS],
            descriptors: [const { [const { AtomicU64::new(0) }; 2] }; QUEUE],
            available: Ring {
                flags: AtomicU16::new(0),
                index: AtomicU16::new(0),
                places: [const { AtomicU16::new(0) }; QUEUE],
            },
            used: Ring {
                flags: AtomicU16::new(0),
                index: AtomicU16::new(0),
                places: [const { [const { AtomicU32::new(0) }; 2] }; QUEUE],
            },
            headers: [const { [const { AtomicU64::new(0) }; 2] }; SHARERS],
            verdicts: [const { AtomicU8::new(0) }; SHARERS],
        }
    }

    /// Address of a sharer's buffer; `None` beyond the last sharer.
    #[must_use]
    pub fn buffer(&self, sharer: usize) -> Option<u64> {
        self.buffers.get(sharer).map(address)
    }

    /// Copies bytes from the start of a sharer's buffer, which is not in flight.
    pub fn read(&self, sharer: usize, to: &mut [u8]) {
        let words = self.buffers.get(sharer).into_iter().flatten();
        for (part, word) in to.chunks_mut(8).zip(words) {
            let bytes = word.load(Ordering::Relaxed).to_le_bytes();
            part.copy_from_slice(&bytes[..part.len()]);
        }
    }

    /// Copies bytes to the start of a sharer's buffer, which is not in flight. The last word is filled
    /// with zeros.
    pub fn write(&self, sharer: usize, from: &[u8]) {
        let words = self.buffers.get(sharer).into_iter().flatten();
        for (part, word) in from.chunks(8).zip(words) {
            let mut bytes = [0; 8];
            bytes[..part.len()].copy_from_slice(part);
            word.store(u64::from_le_bytes(bytes), Ordering::Relaxed);
        }
    }

    /// Addresses of descriptor table, available ring and used ring.
    pub(crate) fn parts(&self) -> [u64; 3] {
        [
            address(&self.descriptors),
            address(&self.available),
            address(&self.used),
        ]
    }

    /// Clears the rings, for a disk that was reset.
    pub(crate) fn clear(&self) {
        self.available.flags.store(NO_INTERRUPT, Ordering::Relaxed);
        self.available.index.store(0, Ordering::Relaxed);
        self.used.index.store(0, Ordering::Relaxed);
    }

    /// Fills a sharer's chain, which is not in flight.
    pub(crate) fn fill(&self, sharer: usize, direction: Direction, sector: u64, bytes: u64) {
        let first = sharer * CHAIN;
        let Some(chain) = self.descriptors.get(first..first + CHAIN - 1) else {
            return;
        };
        let (Some(header), Some(verdict), Some(buffer)) = (
            self.headers.get(sharer),
            self.verdicts.get(sharer),
            self.buffers.get(sharer),
        ) else {
            return;
        };
        let [kind, place] = header;
        kind.store(direction.kind(), Ordering::Relaxed);
        place.store(sector, Ordering::Relaxed);
        verdict.store(UNKNOWN, Ordering::Relaxed);
        let next = |after: usize| (first + after) as u64;
        let (behind, writable) = match direction {
            Direction::In => (1, WRITE),
            Direction::Out => (1, 0),
            Direction::Flush => (2, 0),
        };
        let described = [
            (address(header), 16, NEXT, next(behind)),
            (address(buffer), bytes, NEXT | writable, next(2)),
            (address(verdict), 1, WRITE, 0),
        ];
        for ([low, high], (at, length, flags, next)) in chain.iter().zip(described) {
            low.store(at, Ordering::Relaxed);
            high.store(length | flags << 32 | next << 48, Ordering::Relaxed);
        }
    }

    /// Makes a sharer's chain available, as the one after `before` others.
    pub(crate) fn offer(&self, sharer: usize, before: u16) {
        if let Some(place) = self.available.places.get(usize::from(before) % QUEUE) {
            place.store((sharer * CHAIN) as u16, Ordering::Relaxed);
        }
        // The entry is visible before the index (2.7.13.3).
        let index = before.wrapping_add(1);
        self.available.index.store(index, Ordering::Release);
    }

    /// Number of chains that the device reports as used.
    pub(crate) fn given(&self) -> u16 {
        let index = self.used.index.load(Ordering::Acquire);
        // The used ring, status bytes and buffers are read after the index.
        fence(Ordering::Acquire);
        index
    }

    /// The sharer of the chain that was used after `before` others; `None` if the entry is invalid.
    pub(crate) fn giver(&self, before: u16) -> Option<usize> {
        let [head, _] = self.used.places.get(usize::from(before) % QUEUE)?;
        let head = head.load(Ordering::Relaxed) as usize;
        let whole = head.is_multiple_of(CHAIN) && head < QUEUE;
        whole.then_some(head / CHAIN)
    }

    /// Whether the device reports success of a sharer's request.
    pub(crate) fn is_good(&self, sharer: usize) -> bool {
        let verdict = self.verdicts.get(sharer);
        verdict.is_some_and(|verdict| verdict.load(Ordering::Relaxed) == 0)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

/// Functions of a test's model of the device.
#[cfg(test)]
impl Memory {
    pub(crate) fn offered(&self) -> u16 {
        self.available.index.load(Ordering::Acquire)
    }

    /// Type, sector, address and bytes of the request after `before` others, with its head.
    pub(crate) fn request(&self, before: u16) -> (u16, u64, u64, Option<(u64, u64, bool)>) {
        let head = self.available.places[usize::from(before) % QUEUE].load(Ordering::Relaxed);
        let sharer = usize::from(head) / CHAIN;
        let load = |at: usize| {
            let [low, high] = &self.descriptors[at];
            let high = high.load(Ordering::Relaxed);
            let flags = high >> 32 & 0xffff;
            (low.load(Ordering::Relaxed), high as u32, flags, high >> 48)
        };
        let (header, size, flags, next) = load(head.into());
        assert_eq!(
            (header, size, flags),
            (address(&self.headers[sharer]), 16, NEXT)
        );
        let (at, bytes, flags, after) = load(next as usize);
        let data = (flags & NEXT != 0).then_some((at, bytes.into(), flags & WRITE != 0));
        let last = if data.is_some() {
            after as usize
        } else {
            next as usize
        };
        let (at, size, flags, _) = load(last);
        assert_eq!(
            (at, size, flags),
            (address(&self.verdicts[sharer]), 1, WRITE)
        );
        let [kind, sector] = &self.headers[sharer];
        let (kind, sector) = (kind.load(Ordering::Relaxed), sector.load(Ordering::Relaxed));
        (head, kind, sector, data)
    }

    pub(crate) fn give(&self, before: u16, head: u32, verdict: u8) {
        if let Some(place) = self.verdicts.get(head as usize / CHAIN) {
            place.store(verdict, Ordering::Relaxed);
        }
        self.used.places[usize::from(before) % QUEUE][0].store(head, Ordering::Relaxed);
        self.say_given(before.wrapping_add(1));
    }

    pub(crate) fn say_given(&self, index: u16) {
        self.used.index.store(index, Ordering::Release);
    }

    pub(crate) fn word(&self, sharer: usize, at: usize) -> &AtomicU64 {
        &self.buffers[sharer][at]
    }
}
