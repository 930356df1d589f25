//! A bounded queue of messages from one producer to one consumer.
//!
//! It serves two threads of one program and two VMs alike. What differs is where the memory lies and
//! how the doorbell is rung; both are the user's. Its memory has three parts, so that stage 2 can
//! give each end just the rights it needs:
//!
//! | part | written by | offset | field |
//! |---|---|---|---|
//! | producer's | producer | 0x00 | `u64` head: messages sent, free running |
//! | | | 0x08 | `u64` wake: at which tail the producer wants a doorbell |
//! | | | 0x40 + *i* × stride | slot *i*: `u64` length, then the bytes, padded to 8 |
//! | consumer's | consumer | 0x00 | `u64` tail: messages taken, free running |
//! | | | 0x08 | `u64` wake: at which head the consumer wants a doorbell |
//! | status | [`Keeper`] | 0x00 | `u64` epoch of the producer: odd while it is there |
//! | | | 0x08 | `u64` epoch of the consumer |
//! | | | 0x10 | `u64` messages lost: unread when a consumer went |
//!
//! # Doorbells
//!
//! Who is about to wait says for which index of the peer, in the low half of its `wake`, and looks
//! once more. Whoever steps to exactly that index rings. So there is one doorbell for each wait
//! however many messages follow, and nothing to be cleared that the other end could not write. The
//! high half counts the waits: who passes doorbells on delivers each `wake` once, and an end that
//! rings without reason is not heard. Between its own store and the load of the peer's word each
//! end has a full barrier; without it both could miss the other.
//!
//! # Guarantees
//!
//! - No call waits; each takes a number of steps given by the length of its message.
//! - Each end keeps its index to itself and believes the peer's within bounds only. A consumer that
//!   lies looks like one that does not read; a producer that lies loses what it sent
//!   ([`Error::Corrupt`]). Bytes in a slot are the producer's to change until the slot is given
//!   back: what is checked must be copied before.
//! - A peer that goes is told once, by [`Error::PeerGone`], to the consumer after all that was sent.
//!   Whoever goes on is connected to its next incarnation.

mod consumer;
mod keeper;
mod producer;
#[cfg(all(test, not(loom)))]
mod tests;

pub use consumer::{Consumer, Message};
pub use keeper::{End, Keeper};
pub use producer::{Producer, Slot};

use crate::area::{AtomicU64, Ordering};
use crate::{Area, Error};

/// Slots of a queue at most.
pub const MAX_SLOTS: u32 = 1 << 16;
/// Bytes of a message at most.
pub const MAX_SIZE: u32 = 1 << 16;
/// Bytes of the consumer's part.
pub const CONSUMER_BYTES: usize = 0x40;
/// Bytes of the status part.
pub const STATUS_BYTES: usize = 0x40;

const INDEX: usize = 0x00;
const WAKE: usize = 0x08;
const SLOTS: usize = 0x40;
const PRODUCER_EPOCH: usize = 0x00;
const CONSUMER_EPOCH: usize = 0x08;
const LOST: usize = 0x10;
const WORD: usize = size_of::<u64>();

/// How many messages a queue holds, and how long they may be. Both ends know it beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    slots: u32,
    size: u32,
    /// Words from one slot to the next: the length and the bytes.
    stride: u32,
}

impl Shape {
    /// A queue of `slots` messages, a power of two, of up to `size` bytes each.
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

    /// How many messages it holds.
    pub const fn slots(&self) -> u32 {
        self.slots
    }

    /// Bytes of a message at most.
    pub const fn size(&self) -> usize {
        self.size as usize
    }

    /// The words of the message of free-running `index`: its length, its bytes.
    #[inline(always)]
    fn slot<'a>(&self, slots: &Area<'a>, index: u64) -> Option<(&'a AtomicU64, Area<'a>)> {
        let place = index as u32 & (self.slots - 1);
        let start = place as usize * self.stride as usize;
        let words = slots.words().get(start..)?.get(..self.stride as usize)?;
        let (length, bytes) = words.split_first()?;
        Some((length, Area::new(bytes)))
    }

    /// Bytes in front of the messages in the producer's part, and of each other part.
    pub const HEAD_BYTES: usize = SLOTS;

    /// Bytes of the producer's part.
    pub const fn producer_bytes(&self) -> usize {
        SLOTS + self.slots as usize * self.stride as usize * WORD
    }
}

/// The memory of a queue, as one end sees it.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// What the producer writes.
    pub producer: Area<'a>,
    /// What the consumer writes.
    pub consumer: Area<'a>,
    /// Who is there, written by neither.
    pub status: Area<'a>,
}

/// The index of one end, and when it wants to be woken.
#[derive(Clone, Copy, Debug)]
struct Mark<'a> {
    index: &'a AtomicU64,
    wake: &'a AtomicU64,
}

impl<'a> Mark<'a> {
    fn of(part: &Area<'a>) -> Result<Self, Error> {
        let (index, wake) = (part.word(INDEX), part.word(WAKE));
        let (index, wake) = index.zip(wake).ok_or(Error::TooSmall)?;
        Ok(Self { index, wake })
    }

    /// Asks for a doorbell when the peer's index becomes `index`.
    fn ask(&self, index: u64) {
        let waits = (load(self.wake, Ordering::Relaxed) >> u32::BITS).wrapping_add(1);
        let wake = waits << u32::BITS | index & u64::from(u32::MAX);
        store(self.wake, wake, Ordering::Relaxed);
    }

    /// Whether a doorbell is wanted as this index was reached.
    #[inline(always)]
    fn wants(&self, index: u64) -> bool {
        load(self.wake, Ordering::Relaxed) as u32 == index as u32
    }
}

/// Who the peer was when this end last looked.
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

    /// Its epoch now.
    #[inline(always)]
    fn now(&self, order: Ordering) -> u64 {
        load(self.epoch, order)
    }

    /// Takes note of its epoch; returns whether the peer known before is gone. One that comes where
    /// nobody was is no matter.
    #[inline(always)]
    fn is_gone(&mut self, now: u64) -> bool {
        now != self.known && self.is_succeeded(now)
    }

    #[cold]
    fn is_succeeded(&mut self, now: u64) -> bool {
        let before = core::mem::replace(&mut self.known, now);
        before & 1 == 1 || now != before.wrapping_add(1)
    }

    fn is_there(&self) -> bool {
        self.now(Ordering::Acquire) & 1 == 1
    }
}

/// Whether the peer waits for what was just done and is to be called.
#[must_use = "the peer waits to be called"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doorbell {
    /// It does not wait for this.
    Quiet,
    /// It does.
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
