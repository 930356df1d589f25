//! Bounded message queue with one producer and one consumer.
//!
//! The queue connects two threads of one program or two VMs. The caller provides the memory and rings
//! the doorbells. The memory has three parts, so that stage 2 can grant each end only the access
//! rights that it needs:
//!
//! | part | written by | offset | field |
//! |---|---|---|---|
//! | producer's | producer | 0x00 | `u64` head: messages sent, free running |
//! | | | 0x08 | `u64` wake: tail at which the producer requests a doorbell |
//! | | | 0x40 + *i* × stride | slot *i*: `u64` length, then the bytes, padded to 8 |
//! | consumer's | consumer | 0x00 | `u64` tail: messages taken, free running |
//! | | | 0x08 | `u64` wake: head at which the consumer requests a doorbell |
//! | status | [`Supervisor`] | 0x00 | `u64` epoch of the producer: odd while it is connected |
//! | | | 0x08 | `u64` epoch of the consumer |
//! | | | 0x10 | `u64` messages lost: unread when a consumer disconnected |
//!
//! # Doorbells
//!
//! Before an end waits, it writes the index of the peer that it waits for into the low half of its
//! `wake`, and polls once more. The peer rings the doorbell when it advances to exactly that index.
//! So each wait causes one doorbell, however many messages follow, and there is no flag to be cleared
//! by the end that cannot write it. The high half counts the waits: the supervisor delivers one
//! doorbell for each value of `wake`, so spurious doorbells have no effect. Each end has a full
//! barrier between the store of its own word and the load of the peer's; without it, a wake-up could
//! be lost.
//!
//! # Guarantees
//!
//! - No call waits; each takes a number of steps given by the length of its message.
//! - Each end has a private copy of its index and checks the bounds of the peer's. An invalid index
//!   of the consumer is treated as if it had read nothing; an invalid index of the producer discards
//!   its messages ([`Error::Corrupt`]). The producer can change the bytes of a slot until the slot is
//!   released: copy a message before validating it.
//! - The end of a peer is reported once, by [`Error::PeerGone`]; to a consumer, after all messages
//!   that were sent. An end that continues is connected to the peer's next epoch.

mod consumer;
mod producer;
mod supervisor;
#[cfg(all(test, not(loom)))]
mod tests;

pub use consumer::{Consumer, Message};
pub use producer::{Producer, Slot};
pub use supervisor::{End, Supervisor};

use crate::area::{AtomicU64, Ordering};
use crate::{Area, Error};

/// Maximum number of slots of a queue.
pub const MAX_SLOTS: u32 = 1 << 16;
/// Maximum number of bytes of a message.
pub const MAX_SIZE: u32 = 1 << 16;
/// Size of the consumer's part in bytes.
pub const CONSUMER_BYTES: usize = 0x40;
/// Size of the status part in bytes.
pub const STATUS_BYTES: usize = 0x40;

const INDEX: usize = 0x00;
const WAKE: usize = 0x08;
const SLOTS: usize = 0x40;
const PRODUCER_EPOCH: usize = 0x00;
const CONSUMER_EPOCH: usize = 0x08;
const LOST: usize = 0x10;
const WORD: usize = size_of::<u64>();

/// Capacity and message size of a queue, configured at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    slots: u32,
    size: u32,
    /// Words of a slot: the length and the bytes.
    stride: u32,
}

impl Shape {
    /// Shape of a queue of `slots` messages, a power of two, of up to `size` bytes each.
    pub const fn new(slots: u32, size: u32) -> Result<Self, Error> {
        if slots.is_power_of_two() && slots <= MAX_SLOTS && size > 0 && size <= MAX_SIZE {
            let stride = 1 + size.div_ceil(WORD as u32);
            Ok(Self {
                slots,
                size,
                stride,
            })
        } else {
            Err(Error::Capacity)
        }
    }

    /// Capacity in messages.
    pub const fn slots(&self) -> u32 {
        self.slots
    }

    /// Maximum number of bytes of a message.
    pub const fn size(&self) -> usize {
        self.size as usize
    }

    /// The slot of the message with free-running `index`: its length word and its bytes.
    #[inline(always)]
    fn slot<'a>(&self, slots: &Area<'a>, index: u64) -> Option<(&'a AtomicU64, Area<'a>)> {
        let place = index as u32 & (self.slots - 1);
        let start = place as usize * self.stride as usize;
        let words = slots.words().get(start..)?.get(..self.stride as usize)?;
        let (length, bytes) = words.split_first()?;
        Some((length, Area::new(bytes)))
    }

    /// Size in bytes of the header of the producer's part.
    pub const HEAD_BYTES: usize = SLOTS;

    /// Size of the producer's part in bytes.
    pub const fn producer_bytes(&self) -> usize {
        SLOTS + self.slots as usize * self.stride as usize * WORD
    }
}

/// Memory of a queue, as mapped by one end.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// Written by the producer.
    pub producer: Area<'a>,
    /// Written by the consumer.
    pub consumer: Area<'a>,
    /// Epochs of both ends, written by the [`Supervisor`].
    pub status: Area<'a>,
}

/// Index word and wake word of one end.
#[derive(Clone, Copy, Debug)]
struct Cursor<'a> {
    index: &'a AtomicU64,
    wake: &'a AtomicU64,
}

impl<'a> Cursor<'a> {
    fn of(part: &Area<'a>) -> Result<Self, Error> {
        let (index, wake) = (part.word(INDEX), part.word(WAKE));
        let (index, wake) = index.zip(wake).ok_or(Error::TooSmall)?;
        Ok(Self { index, wake })
    }

    /// Requests a doorbell when the peer's index becomes `index`.
    fn request_doorbell(&self, index: u64) {
        let waits = (load(self.wake, Ordering::Relaxed) >> u32::BITS).wrapping_add(1);
        let wake = waits << u32::BITS | index & u64::from(u32::MAX);
        store(self.wake, wake, Ordering::Relaxed);
    }

    /// Whether this end requested a doorbell at `index`.
    #[inline(always)]
    fn wants_doorbell(&self, index: u64) -> bool {
        load(self.wake, Ordering::Relaxed) as u32 == index as u32
    }
}

/// Epoch word of the peer, and its last known value.
#[derive(Debug)]
struct Peer<'a> {
    epoch: &'a AtomicU64,
    known: u64,
}

impl<'a> Peer<'a> {
    fn of(status: &Area<'a>, offset: usize) -> Result<Self, Error> {
        let epoch = status.word(offset).ok_or(Error::TooSmall)?;
        let known = load(epoch, Ordering::Acquire);
        Ok(Self { epoch, known })
    }

    /// Loads the epoch.
    #[inline(always)]
    fn now(&self, order: Ordering) -> u64 {
        load(self.epoch, order)
    }

    /// Updates the known epoch to `now`; returns whether the known peer has disconnected. A peer that
    /// connects where none was connected is not reported.
    #[inline(always)]
    fn is_gone(&mut self, now: u64) -> bool {
        now != self.known && self.update_epoch(now)
    }

    #[cold]
    fn update_epoch(&mut self, now: u64) -> bool {
        let before = core::mem::replace(&mut self.known, now);
        before & 1 == 1 || now != before.wrapping_add(1)
    }

    fn is_connected(&self) -> bool {
        self.now(Ordering::Acquire) & 1 == 1
    }
}

/// Whether the caller must ring the doorbell of the peer.
#[must_use = "the peer waits for the doorbell"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doorbell {
    /// The peer requested no doorbell.
    Quiet,
    /// The peer waits for the doorbell.
    Ring,
}

impl Doorbell {
    #[inline(always)]
    const fn new(ring: bool) -> Self {
        if ring { Self::Ring } else { Self::Quiet }
    }
}

#[inline(always)]
fn load(word: &AtomicU64, order: Ordering) -> u64 {
    u64::from_le(word.load(order))
}

#[inline(always)]
fn store(word: &AtomicU64, value: u64, order: Ordering) {
    word.store(value.to_le(), order);
}
