//! Memory that the card accesses: two virtqueues, and a buffer for each of their descriptors.
//!
//! Split virtqueues (virtio 1.2, 2.7), with descriptor `n` for buffer `n` alone. The card writes the
//! used rings and the receive buffers; other memory that it may write is never read.

use crate::FRAME;
use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering, fence};
use hw_arch::dma::address;

/// Buffers of each direction.
pub const BUFFERS: usize = 16;

/// Bytes of `struct virtio_net_hdr`, in front of each frame (5.1.6).
pub(crate) const HEADER: usize = 12;

/// Words of a buffer.
const WORDS: usize = 384;

/// Bytes of a buffer.
pub(crate) const BUFFER: usize = 4 * WORDS;

const _: () = assert!(BUFFER >= HEADER + FRAME && HEADER.is_multiple_of(4));

/// Flag of a descriptor: the device writes its buffer (2.7.5).
const WRITE: u64 = 2;

/// `VIRTQ_AVAIL_F_NO_INTERRUPT` (2.7.6).
const NO_INTERRUPT: u16 = 1;

/// `VIRTQ_USED_F_NO_NOTIFY` (2.7.8).
const NO_NOTIFY: u16 = 1;

/// Memory of a driver, identity-mapped, without other users.
#[derive(Debug)]
#[repr(C, align(4096))]
pub struct Memory {
    pub(crate) receive: QueueMemory,
    pub(crate) transmit: QueueMemory,
}

/// Memory of one queue.
#[derive(Debug)]
#[repr(C, align(16))]
pub(crate) struct QueueMemory {
    buffers: [[AtomicU32; WORDS]; BUFFERS],
    descriptors: [[AtomicU64; 2]; BUFFERS],
    available: Ring<AtomicU16>,
    used: Ring<[AtomicU32; 2]>,
}

/// A ring: flags, an index and entries.
#[derive(Debug)]
#[repr(C, align(8))]
struct Ring<T> {
    flags: AtomicU16,
    index: AtomicU16,
    entries: [T; BUFFERS],
}

impl Memory {
    /// Memory that no card uses yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            receive: QueueMemory::new(),
            transmit: QueueMemory::new(),
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl QueueMemory {
    const fn new() -> Self {
        Self {
            buffers: [const { [const { AtomicU32::new(0) }; WORDS] }; BUFFERS],
            descriptors: [const { [const { AtomicU64::new(0) }; 2] }; BUFFERS],
            available: Ring {
                flags: AtomicU16::new(0),
                index: AtomicU16::new(0),
                entries: [const { AtomicU16::new(0) }; BUFFERS],
            },
            used: Ring {
                flags: AtomicU16::new(0),
                index: AtomicU16::new(0),
                entries: [const { [const { AtomicU32::new(0) }; 2] }; BUFFERS],
            },
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

    /// Clears the rings, for a card that was reset.
    pub(crate) fn clear(&self) {
        self.available.flags.store(NO_INTERRUPT, Ordering::Relaxed);
        self.available.index.store(0, Ordering::Relaxed);
        self.used.flags.store(0, Ordering::Relaxed);
        self.used.index.store(0, Ordering::Relaxed);
    }

    /// Describes a buffer: its first `bytes`, which the card writes or reads.
    pub(crate) fn describe(&self, buffer: usize, bytes: usize, writable: bool) {
        let place = self.descriptors.get(buffer).zip(self.buffers.get(buffer));
        if let Some(([low, high], words)) = place {
            low.store(address(words), Ordering::Relaxed);
            let flags = if writable { WRITE } else { 0 };
            high.store(bytes as u64 | flags << 32, Ordering::Relaxed);
        }
    }

    /// Makes a buffer available, as the one after `before` others.
    pub(crate) fn offer(&self, buffer: usize, before: u16) {
        if let Some(entry) = self.available.entries.get(usize::from(before) % BUFFERS) {
            entry.store(buffer as u16, Ordering::Relaxed);
        }
        // The entry is visible before the index (2.7.13.3).
        let index = before.wrapping_add(1);
        self.available.index.store(index, Ordering::Release);
    }

    /// Whether the card wants to be notified of available buffers.
    pub(crate) fn wants_notification(&self) -> bool {
        // The index is visible before the flags are read (2.7.13.4).
        fence(Ordering::SeqCst);
        self.used.flags.load(Ordering::Relaxed) & NO_NOTIFY == 0
    }

    /// Number of buffers that the card reports as used.
    pub(crate) fn returned(&self) -> u16 {
        self.used.index.load(Ordering::Acquire)
    }

    /// Buffer and written bytes that the card reports, as the one after `before` others.
    pub(crate) fn entry(&self, before: u16) -> (usize, usize) {
        let entry = self.used.entries.get(usize::from(before) % BUFFERS);
        let load = |word: &AtomicU32| word.load(Ordering::Relaxed) as usize;
        entry.map_or((BUFFERS, 0), |[buffer, bytes]| (load(buffer), load(bytes)))
    }

    /// Words of the frame in a buffer, behind the header.
    fn frame(&self, buffer: usize) -> &[AtomicU32] {
        let words = self.buffers.get(buffer).map_or(&[][..], |words| words);
        words.get(HEADER / 4..).unwrap_or(&[])
    }

    /// Copies a frame out of a buffer.
    pub(crate) fn read(&self, buffer: usize, frame: &mut [u8]) {
        for (bytes, word) in frame.chunks_mut(4).zip(self.frame(buffer)) {
            let word = word.load(Ordering::Relaxed).to_le_bytes();
            bytes.iter_mut().zip(word).for_each(|(to, from)| *to = from);
        }
    }

    /// Copies a frame into a buffer, behind a header without offloads.
    pub(crate) fn write(&self, buffer: usize, frame: &[u8]) {
        let header = self.buffers.get(buffer).map_or(&[][..], |words| words);
        for word in header.iter().take(HEADER / 4) {
            word.store(0, Ordering::Relaxed);
        }
        for (bytes, word) in frame.chunks(4).zip(self.frame(buffer)) {
            let mut value = [0; 4];
            value
                .iter_mut()
                .zip(bytes)
                .for_each(|(to, from)| *to = *from);
            word.store(u32::from_le_bytes(value), Ordering::Relaxed);
        }
    }
}

/// Functions of a test's model of the card.
#[cfg(test)]
impl QueueMemory {
    pub(crate) fn suppresses_interrupts(&self) -> bool {
        self.available.flags.load(Ordering::Relaxed) == NO_INTERRUPT
    }

    pub(crate) fn offered(&self) -> u16 {
        self.available.index.load(Ordering::Acquire)
    }

    /// Buffer, described bytes and whether it is writable, of the one after `before` others.
    pub(crate) fn taken(&self, before: u16) -> (usize, usize, bool) {
        let buffer =
            self.available.entries[usize::from(before) % BUFFERS].load(Ordering::Relaxed) as usize;
        let [low, high] = &self.descriptors[buffer];
        let high = high.load(Ordering::Relaxed);
        assert_eq!(
            low.load(Ordering::Relaxed),
            address(&self.buffers[buffer]),
            "descriptor n has buffer n"
        );
        assert_eq!(high >> 48, 0, "no chain");
        (buffer, high as u32 as usize, high >> 32 & 0xffff == WRITE)
    }

    /// Whole content of a buffer, header included.
    pub(crate) fn content(&self, buffer: usize, bytes: usize) -> Vec<u8> {
        let words = self.buffers[buffer].iter();
        let all = words.flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes());
        all.take(bytes).collect()
    }

    /// Writes a frame behind a header that is all ones.
    pub(crate) fn put(&self, buffer: usize, frame: &[u8]) {
        self.write(buffer, frame);
        for word in &self.buffers[buffer][..HEADER / 4] {
            word.store(u32::MAX, Ordering::Relaxed);
        }
    }

    /// Reports a buffer as used, as the one after `before` others.
    pub(crate) fn give(&self, before: u16, buffer: u32, bytes: u32) {
        let [first, second] = &self.used.entries[usize::from(before) % BUFFERS];
        first.store(buffer, Ordering::Relaxed);
        second.store(bytes, Ordering::Relaxed);
        self.say_returned(before.wrapping_add(1));
    }

    pub(crate) fn say_returned(&self, index: u16) {
        self.used.index.store(index, Ordering::Release);
    }

    pub(crate) fn suppress_notifications(&self) {
        self.used.flags.store(NO_NOTIFY, Ordering::Relaxed);
    }
}
