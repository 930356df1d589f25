//! Virtqueue of a virtual device with an untrusted driver.
//!
//! # Purpose
//!
//! Device side of a split virtqueue (virtio 1.2, 2.7): the device [takes](Queue::take) descriptor
//! chains that the driver made available, walks them [buffer by buffer](Chain::next), and
//! [returns](Queue::put_used) them. Devices of this library offer neither indirect descriptors nor the
//! event index.
//!
//! # Guarantees
//!
//! - The driver's memory is accessed only through [`Memory`], which checks that addresses belong to
//!   the driver.
//! - Each word and each descriptor is read once and then validated, so that concurrent changes by the
//!   driver have no effect.
//! - Each call takes a few steps, independent of the contents of the rings. A chain has at most as many
//!   buffers as the queue has descriptors: a loop is a [`Violation`].
//! - No panic, no allocation, no lock.
//!
//! # Example
//!
//! ```
//! use core_virtq::{Memory, Queue, Violation};
//!
//! let mut ram = [0; 4096];
//! let mut queue = Queue::new(8, 0, 0x100, 0x200).unwrap();
//! assert!(!queue.poll(&ram)?);
//! // The driver makes descriptor 0 available, a buffer of 16 bytes at 0x300.
//! ram.write(0, &[0, 3, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0])?;
//! ram.write(0x102, &[1, 0])?;
//! assert!(queue.poll(&ram)?);
//! let mut chain = queue.take(&ram)?.unwrap();
//! let buffer = chain.next(&queue, &ram)?.unwrap();
//! assert_eq!((buffer.address, buffer.length, buffer.last), (0x300, 16, true));
//! queue.put_used(&mut ram, chain, 0)?;
//! queue.publish(&mut ram)?;
//! assert!(queue.needs_interrupt(&ram)?, "the driver did not suppress it");
//! # Ok::<(), Violation>(())
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

#[cfg(test)]
mod tests;

use core::ops::Range;
use core::sync::atomic::{Ordering, fence};

/// Error of an access: the range is not entirely the driver's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outside;

/// The driver's memory, by the addresses that the driver uses. The driver can write it at any time.
pub trait Memory {
    /// Reads the bytes at an address, each once; an aligned word by a single access.
    ///
    /// # Errors
    ///
    /// If the range is not entirely the driver's; then nothing is read.
    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), Outside>;

    /// Writes bytes at an address; an aligned word by a single access.
    ///
    /// # Errors
    ///
    /// If the range is not entirely the driver's; then nothing is written.
    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Outside>;

    /// Writes a byte.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    fn write8(&mut self, at: u64, value: u8) -> Result<(), Outside> {
        self.write(at, &[value])
    }

    /// Reads an aligned little-endian 16-bit word.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    fn read16(&self, at: u64) -> Result<u16, Outside> {
        let mut bytes = [0; 2];
        self.read(at, &mut bytes)?;
        Ok(u16::from_le_bytes(bytes))
    }

    /// Reads two aligned little-endian 64-bit words.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    fn read64s(&self, at: u64) -> Result<[u64; 2], Outside> {
        let mut bytes = [0; 16];
        self.read(at, &mut bytes)?;
        let words = u128::from_le_bytes(bytes);
        Ok([words as u64, (words >> 64) as u64])
    }

    /// Writes an aligned little-endian 16-bit word.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    fn write16(&mut self, at: u64, value: u16) -> Result<(), Outside> {
        self.write(at, &value.to_le_bytes())
    }

    /// Writes two aligned little-endian 32-bit words.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    fn write32s(&mut self, at: u64, [first, second]: [u32; 2]) -> Result<(), Outside> {
        let both = u64::from(first) | u64::from(second) << 32;
        self.write(at, &both.to_le_bytes())
    }
}

/// Memory of a driver that writes it only between the device's steps: in a simulation or a test.
/// Its first byte has address zero.
impl<const SIZE: usize> Memory for [u8; SIZE] {
    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), Outside> {
        let own = self.get(range(at, bytes.len())?).ok_or(Outside)?;
        bytes.copy_from_slice(own);
        Ok(())
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Outside> {
        let own = self.get_mut(range(at, bytes.len())?).ok_or(Outside)?;
        own.copy_from_slice(bytes);
        Ok(())
    }
}

/// The indices of `size` bytes from `at` on.
fn range(at: u64, size: usize) -> Result<Range<usize>, Outside> {
    let at = usize::try_from(at).map_err(|_| Outside)?;
    let end = at.checked_add(size).ok_or(Outside)?;
    Ok(at..end)
}

/// Protocol violation by the driver. The queue must not be used until the device is reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// A ring or a buffer is not in the driver's memory.
    Outside,
    /// The available index is further ahead than the size of the queue.
    TooMany,
    /// The index of a descriptor exceeds the size of the queue.
    Number,
    /// A chain loops.
    Loop,
    /// A descriptor has flags of a feature that was not negotiated.
    Kind,
    /// The buffers of a chain have an invalid order or length.
    Shape,
}

impl From<Outside> for Violation {
    fn from(_: Outside) -> Self {
        Self::Outside
    }
}

/// Flags of a descriptor (2.7.5).
mod flag {
    pub(super) const NEXT: u16 = 1;
    pub(super) const WRITE: u16 = 2;
}

/// `VIRTQ_AVAIL_F_NO_INTERRUPT` (2.7.6).
const NO_INTERRUPT: u16 = 1;

/// Size of a descriptor in bytes.
const DESCRIPTOR: u64 = 16;

/// Virtqueue that the driver has set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queue {
    size: u16,
    descriptors: u64,
    available: u64,
    used: u64,
    /// Index of the next entry of the available ring to take, and the available index that was read
    /// last.
    taken: u16,
    seen: u16,
    /// Index of the next entry of the used ring to write.
    given: u16,
}

impl Queue {
    /// Queue of `size` descriptors, with descriptor table, available ring and used ring at these
    /// addresses of the driver. `None` if the size is not a power of two up to 32768, or an address is
    /// not aligned (2.7).
    #[must_use]
    pub const fn new(size: u16, descriptors: u64, available: u64, used: u64) -> Option<Self> {
        let aligned = descriptors.is_multiple_of(DESCRIPTOR)
            && available.is_multiple_of(2)
            && used.is_multiple_of(4);
        if !size.is_power_of_two() || !aligned {
            return None;
        }
        Some(Self {
            size,
            descriptors,
            available,
            used,
            taken: 0,
            seen: 0,
            given: 0,
        })
    }

    /// Whether there are known available chains that are not yet [taken](Self::take).
    #[must_use]
    pub const fn has_more(&self) -> bool {
        self.seen != self.taken
    }

    /// Reads the available index; returns whether there [are](Self::has_more) available chains.
    ///
    /// # Errors
    ///
    /// If the available ring is invalid.
    #[inline(always)]
    pub fn poll(&mut self, memory: &impl Memory) -> Result<bool, Violation> {
        let index = memory.read16(at(self.available, 2))?;
        if index.wrapping_sub(self.taken) > self.size {
            return Err(Violation::TooMany);
        }
        // The ring entries are read after the index (2.7.13.3).
        fence(Ordering::Acquire);
        self.seen = index;
        Ok(self.has_more())
    }

    /// Takes the next chain that is [known](Self::poll) to be available, if there is one.
    ///
    /// # Errors
    ///
    /// If the available ring is invalid.
    #[inline(always)]
    pub fn take(&mut self, memory: &impl Memory) -> Result<Option<Chain>, Violation> {
        let chain = self.peek(memory)?;
        if chain.is_some() {
            self.advance();
        }
        Ok(chain)
    }

    /// The chain that [`take`](Self::take) would take; it remains available.
    ///
    /// # Errors
    ///
    /// If the available ring is invalid.
    #[inline(always)]
    pub fn peek(&self, memory: &impl Memory) -> Result<Option<Chain>, Violation> {
        if !self.has_more() {
            return Ok(None);
        }
        let place = u64::from(self.taken & (self.size - 1));
        let head = memory.read16(at(self.available, 4 + 2 * place))?;
        if head >= self.size {
            return Err(Violation::Number);
        }
        Ok(Some(Chain {
            head,
            next: Some(head),
            left: self.size,
            written: false,
        }))
    }

    /// Takes the chain of [`peek`](Self::peek).
    #[inline]
    pub const fn advance(&mut self) {
        self.taken = self.taken.wrapping_add(1);
    }

    /// Writes a chain to the used ring, with the number of bytes that the device has written. The driver
    /// sees it after [`publish`](Self::publish).
    ///
    /// # Errors
    ///
    /// If the used ring is not in the driver's memory.
    #[inline(always)]
    pub fn put_used(
        &mut self,
        memory: &mut impl Memory,
        chain: Chain,
        written: u32,
    ) -> Result<(), Violation> {
        let place = u64::from(self.given & (self.size - 1));
        let element = [chain.head.into(), written];
        memory.write32s(at(self.used, 4 + 8 * place), element)?;
        self.given = self.given.wrapping_add(1);
        Ok(())
    }

    /// Publishes the used index. [`needs_interrupt`](Self::needs_interrupt) must be called after this.
    ///
    /// # Errors
    ///
    /// If the used ring is not in the driver's memory.
    #[inline(always)]
    pub fn publish(&self, memory: &mut impl Memory) -> Result<(), Violation> {
        // The element and the buffers are written before the index.
        fence(Ordering::Release);
        memory.write16(at(self.used, 2), self.given)?;
        // The index is written before the flags of the driver are read; a driver that enables interrupts
        // reads the index afterwards.
        fence(Ordering::SeqCst);
        Ok(())
    }

    /// Whether the driver requests an interrupt for used buffers.
    ///
    /// # Errors
    ///
    /// If the available ring is not in the driver's memory.
    #[inline(always)]
    pub fn needs_interrupt(&self, memory: &impl Memory) -> Result<bool, Violation> {
        Ok(memory.read16(self.available)? & NO_INTERRUPT == 0)
    }
}

/// Descriptor chain that the device has taken and not yet returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    head: u16,
    /// Index of the next descriptor.
    next: Option<u16>,
    /// Maximum number of remaining descriptors.
    left: u16,
    /// Whether a device-writable buffer was read.
    written: bool,
}

impl Chain {
    /// A chain without buffers, of no queue.
    pub const EMPTY: Self = Self {
        head: 0,
        next: None,
        left: 0,
        written: false,
    };

    /// The next buffer; `None` after the last. Device-readable buffers come first (2.7.4.2).
    ///
    /// # Errors
    ///
    /// If the descriptor is invalid. The address of the buffer is not checked.
    #[inline(always)]
    pub fn next(
        &mut self,
        queue: &Queue,
        memory: &impl Memory,
    ) -> Result<Option<Buffer>, Violation> {
        let Some(number) = self.next else {
            return Ok(None);
        };
        self.left = self.left.checked_sub(1).ok_or(Violation::Loop)?;
        let place = DESCRIPTOR * u64::from(number);
        let [address, rest] = memory.read64s(at(queue.descriptors, place))?;
        let (flags, next) = ((rest >> 32) as u16, (rest >> 48) as u16);
        if flags & !(flag::NEXT | flag::WRITE) != 0 {
            return Err(Violation::Kind);
        }
        let writable = flags & flag::WRITE != 0;
        if self.written && !writable {
            return Err(Violation::Shape);
        }
        self.written = writable;
        self.next = match flags & flag::NEXT {
            0 => None,
            _ if next >= queue.size => return Err(Violation::Number),
            _ => Some(next),
        };
        Ok(Some(Buffer {
            address,
            length: rest as u32,
            writable,
            last: self.next.is_none(),
        }))
    }
}

/// Buffer of a descriptor. Its address is not validated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffer {
    /// Address of the first byte.
    pub address: u64,
    /// Remaining bytes.
    pub length: u32,
    /// Whether the device writes the buffer, or reads it.
    pub writable: bool,
    /// Whether it is the last buffer of the chain.
    pub last: bool,
}

impl Buffer {
    /// No bytes.
    pub const EMPTY: Self = Self {
        address: 0,
        length: 0,
        writable: false,
        last: false,
    };

    /// Skips the first `bytes` bytes.
    ///
    /// # Errors
    ///
    /// If the buffer has fewer bytes, or the address overflows.
    #[inline]
    pub fn skip(&mut self, bytes: u32) -> Result<(), Violation> {
        self.length = self.length.checked_sub(bytes).ok_or(Violation::Shape)?;
        let next = self.address.checked_add(bytes.into());
        self.address = next.ok_or(Violation::Outside)?;
        Ok(())
    }
}

/// Adds an offset to an address.
const fn at(address: u64, offset: u64) -> u64 {
    // The last address is no driver's.
    address.saturating_add(offset)
}
