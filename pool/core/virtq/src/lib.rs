//! The device's side of a virtqueue, whose driver is not trusted.
//!
//! # Purpose
//!
//! A split virtqueue (virtio 1.2, 2.7) as a virtual device sees it: chains of buffers that the
//! driver made available are [taken](Queue::take), walked [buffer by buffer](Chain::next), and
//! [given back](Queue::give). Indirect descriptors and the event index are features that a device
//! of this does not offer.
//!
//! # Guarantees
//!
//! - The driver's memory is reached through [`Memory`] alone, which says what is the driver's.
//! - Each word and each descriptor is read once and then checked, so that a driver that changes
//!   them meanwhile gains nothing.
//! - Each call is a few steps, whatever the rings say. A chain has as many buffers as the queue has
//!   descriptors at most: one that loops is [`Broken`].
//! - No panic, no allocation, no lock.
//!
//! # Example
//!
//! ```
//! use core_virtq::{Broken, Memory, Outside, Queue};
//!
//! struct Ram([u8; 4096]);
//!
//! impl Memory for Ram {
//!     fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), Outside> {
//!         let at = usize::try_from(at).map_err(|_| Outside)?;
//!         let own = self.0.get(at..).and_then(|own| own.get(..bytes.len()));
//!         own.map(|own| bytes.copy_from_slice(own)).ok_or(Outside)
//!     }
//!     fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Outside> {
//!         let at = usize::try_from(at).map_err(|_| Outside)?;
//!         let own = self.0.get_mut(at..).and_then(|own| own.get_mut(..bytes.len()));
//!         own.map(|own| own.copy_from_slice(bytes)).ok_or(Outside)
//!     }
//! }
//!
//! let mut ram = Ram([0; 4096]);
//! let mut queue = Queue::new(8, 0, 0x100, 0x200).unwrap();
//! assert!(!queue.look(&ram)?);
//! // The driver has a buffer of 16 bytes at 0x300 in descriptor 0, and makes it available.
//! ram.write(0, &[0, 3, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0])?;
//! ram.write(0x102, &[1, 0])?;
//! assert!(queue.look(&ram)?);
//! let mut chain = queue.take(&ram)?.unwrap();
//! let buffer = chain.next(&queue, &ram)?.unwrap();
//! assert_eq!((buffer.address, buffer.length, buffer.last), (0x300, 16, true));
//! queue.give(&mut ram, chain, 0)?;
//! queue.publish(&mut ram)?;
//! assert!(queue.tells(&ram)?, "the driver wants to be told");
//! # Ok::<(), Broken>(())
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

#[cfg(test)]
mod tests;

use core::sync::atomic::{Ordering, fence};

/// Some of a range of addresses is not the driver's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outside;

/// The driver's memory, by the addresses that the driver uses. Others may write it at any time.
pub trait Memory {
    /// Reads what is at an address, each byte once; a word that is aligned in one piece.
    ///
    /// # Errors
    ///
    /// If some of it is not the driver's, before anything is read.
    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), Outside>;

    /// Writes from an address on; a word that is aligned in one piece.
    ///
    /// # Errors
    ///
    /// If some of it is not the driver's, before anything is written.
    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Outside>;

    /// Writes a byte.
    ///
    /// # Errors
    ///
    /// Those of [`write`](Self::write).
    fn write8(&mut self, at: u64, value: u8) -> Result<(), Outside> {
        self.write(at, &[value])
    }

    /// Reads a word at a multiple of its size, little-endian.
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read), as of the next ones.
    fn read16(&self, at: u64) -> Result<u16, Outside> {
        let mut bytes = [0; 2];
        self.read(at, &mut bytes)?;
        Ok(u16::from_le_bytes(bytes))
    }

    /// Reads two words, the first at a multiple of its size.
    ///
    /// # Errors
    ///
    /// See above.
    fn read64s(&self, at: u64) -> Result<[u64; 2], Outside> {
        let mut bytes = [0; 16];
        self.read(at, &mut bytes)?;
        let words = u128::from_le_bytes(bytes);
        Ok([words as u64, (words >> 64) as u64])
    }

    /// Writes a word at a multiple of its size.
    ///
    /// # Errors
    ///
    /// Those of [`write`](Self::write), as of the next one.
    fn write16(&mut self, at: u64, value: u16) -> Result<(), Outside> {
        self.write(at, &value.to_le_bytes())
    }

    /// Writes two words, the first at a multiple of its size.
    ///
    /// # Errors
    ///
    /// See above.
    fn write32s(&mut self, at: u64, [first, second]: [u32; 2]) -> Result<(), Outside> {
        let both = u64::from(first) | u64::from(second) << 32;
        self.write(at, &both.to_le_bytes())
    }
}

/// What a driver did that no driver may. The queue is of no use before the device is reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Broken {
    /// A ring, or a buffer, is not in its memory.
    Outside,
    /// More is available than the queue has descriptors.
    TooMany,
    /// A descriptor's number is not one of the queue's.
    Number,
    /// A chain comes to no end.
    Loop,
    /// A descriptor is of a kind that was not agreed on.
    Kind,
    /// A chain's buffers are in an order, or of lengths, that the device has no use for.
    Shape,
}

impl From<Outside> for Broken {
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

/// Bytes of a descriptor.
const DESCRIPTOR: u64 = 16;

/// A queue that its driver has set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queue {
    size: u16,
    descriptors: u64,
    available: u64,
    used: u64,
    /// The next place of the available ring that is read, and the one that the driver had not filled
    /// when its index was looked at last.
    taken: u16,
    seen: u16,
    /// The next place of the used ring that is written.
    given: u16,
}

impl Queue {
    /// A queue of so many descriptors whose three parts are at these addresses of the driver's:
    /// descriptor table, available ring, used ring. Nothing if the size is no power of two up to
    /// 32768, or an address is not aligned as its part has to be (2.7).
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

    /// Whether chains are known that the driver made available and that are not [taken](Self::take).
    #[must_use]
    pub const fn has_more(&self) -> bool {
        self.seen != self.taken
    }

    /// Looks how many chains the driver has made available; whether there [are any](Self::has_more).
    ///
    /// # Errors
    ///
    /// What is wrong with the available ring.
    pub fn look(&mut self, memory: &impl Memory) -> Result<bool, Broken> {
        let index = memory.read16(at(self.available, 2)?)?;
        if index.wrapping_sub(self.taken) > self.size {
            return Err(Broken::TooMany);
        }
        // What the index promises is read behind it (2.7.13.3).
        fence(Ordering::Acquire);
        self.seen = index;
        Ok(self.has_more())
    }

    /// Takes the next chain of those that [are known](Self::look), if there is one.
    ///
    /// # Errors
    ///
    /// What is wrong with the available ring.
    pub fn take(&mut self, memory: &impl Memory) -> Result<Option<Chain>, Broken> {
        if !self.has_more() {
            return Ok(None);
        }
        let place = u64::from(self.taken & (self.size - 1));
        let head = memory.read16(at(self.available, 4 + 2 * place)?)?;
        self.taken = self.taken.wrapping_add(1);
        if head >= self.size {
            return Err(Broken::Number);
        }
        Ok(Some(Chain {
            head,
            next: Some(head),
            left: self.size,
            written: false,
        }))
    }

    /// Gives a chain back of which the device has written the first so many bytes that it could. The
    /// driver sees it when that is [published](Self::publish).
    ///
    /// # Errors
    ///
    /// If the used ring is not in the driver's memory.
    pub fn give(
        &mut self,
        memory: &mut impl Memory,
        chain: Chain,
        written: u32,
    ) -> Result<(), Broken> {
        let place = u64::from(self.given & (self.size - 1));
        let element = [chain.head.into(), written];
        memory.write32s(at(self.used, 4 + 8 * place)?, element)?;
        self.given = self.given.wrapping_add(1);
        Ok(())
    }

    /// Has the driver see what was given back. Whether it [is to be told](Self::tells) is asked behind
    /// that.
    ///
    /// # Errors
    ///
    /// If the used ring is not in the driver's memory.
    pub fn publish(&self, memory: &mut impl Memory) -> Result<(), Broken> {
        // The element and what is in the buffers are there before the index says so.
        fence(Ordering::Release);
        memory.write16(at(self.used, 2)?, self.given)?;
        // The driver that wants to be told from now on looks at the index behind that.
        fence(Ordering::SeqCst);
        Ok(())
    }

    /// Whether the driver wants to be told of what it is given.
    ///
    /// # Errors
    ///
    /// If the available ring is not in the driver's memory.
    pub fn tells(&self, memory: &impl Memory) -> Result<bool, Broken> {
        Ok(memory.read16(self.available)? & NO_INTERRUPT == 0)
    }
}

/// A chain of buffers that the driver made available and has not got back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    head: u16,
    /// The descriptor that is read next.
    next: Option<u16>,
    /// How many there may be from there on.
    left: u16,
    /// Whether a buffer was one that the device writes.
    written: bool,
}

impl Chain {
    /// Its next buffer; none behind the last. Those that the device reads come first (2.7.4.2).
    ///
    /// # Errors
    ///
    /// What is wrong with the descriptor. Where the buffer is, is not looked at.
    pub fn next(&mut self, queue: &Queue, memory: &impl Memory) -> Result<Option<Buffer>, Broken> {
        let Some(number) = self.next else {
            return Ok(None);
        };
        self.left = self.left.checked_sub(1).ok_or(Broken::Loop)?;
        let place = DESCRIPTOR * u64::from(number);
        let [address, rest] = memory.read64s(at(queue.descriptors, place)?)?;
        let (flags, next) = ((rest >> 32) as u16, (rest >> 48) as u16);
        if flags & !(flag::NEXT | flag::WRITE) != 0 {
            return Err(Broken::Kind);
        }
        let writable = flags & flag::WRITE != 0;
        if self.written && !writable {
            return Err(Broken::Shape);
        }
        self.written = writable;
        self.next = match flags & flag::NEXT {
            0 => None,
            _ if next >= queue.size => return Err(Broken::Number),
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

/// A piece of the driver's memory, as a descriptor has it; it may be none of the driver's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffer {
    /// Its first byte.
    pub address: u64,
    /// Bytes that are left of it.
    pub length: u32,
    /// Whether the device writes it, or reads it.
    pub writable: bool,
    /// Whether none follows.
    pub last: bool,
}

impl Buffer {
    /// Goes on behind its first so many bytes.
    ///
    /// # Errors
    ///
    /// If there is no address there, or fewer bytes.
    pub fn skip(&mut self, bytes: u32) -> Result<(), Broken> {
        self.length = self.length.checked_sub(bytes).ok_or(Broken::Shape)?;
        self.address = at(self.address, bytes.into())?;
        Ok(())
    }
}

/// An address behind another one.
fn at(address: u64, offset: u64) -> Result<u64, Broken> {
    address.checked_add(offset).ok_or(Broken::Outside)
}
