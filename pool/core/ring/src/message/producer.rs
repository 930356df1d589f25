//! The end that sends.

use super::{CONSUMER_EPOCH, Doorbell, Mark, Parts, Peer, SLOTS, Shape, load, store};
use crate::area::{AtomicU64, Ordering, fence};
use crate::{Area, Error};

/// The end that sends messages.
#[derive(Debug)]
pub struct Producer<'a> {
    own: Mark<'a>,
    theirs: Mark<'a>,
    peer: Peer<'a>,
    slots: Area<'a>,
    shape: Shape,
    head: u64,
    /// The consumer's index, as last believed: at most `head`, and not more than all slots behind.
    tail: u64,
}

impl<'a> Producer<'a> {
    /// The producer of the queue in these parts. It goes on where the producer before it stopped.
    pub fn attach(parts: &Parts<'a>, shape: Shape) -> Result<Self, Error> {
        let slots = shape.producer_bytes() - SLOTS;
        let slots = parts.producer.part(SLOTS, slots).ok_or(Error::TooSmall)?;
        let own = Mark::of(&parts.producer)?;
        let head = load(own.index, Ordering::Relaxed);
        Ok(Self {
            own,
            theirs: Mark::of(&parts.consumer)?,
            peer: Peer::of(&parts.status, CONSUMER_EPOCH)?,
            slots,
            shape,
            head,
            // As if it were full: the first message looks.
            tail: head.wrapping_sub(shape.slots.into()),
        })
    }

    /// Its shape.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// How many messages wait to be taken, as far as the consumer can be believed.
    pub fn count(&self) -> u32 {
        let used = self
            .head
            .wrapping_sub(load(self.theirs.index, Ordering::Relaxed));
        used.min(self.shape.slots.into()) as u32
    }

    /// Whether the consumer is there.
    pub fn is_connected(&self) -> bool {
        self.peer.is_there()
    }

    /// Whether there is room; [`Error::Full`] if there is none, [`Error::PeerGone`] once after the
    /// consumer went.
    #[inline]
    pub fn look(&mut self) -> Result<(), Error> {
        let epoch = self.peer.now(Ordering::Relaxed);
        if self.peer.is_gone(epoch) {
            return Err(Error::PeerGone);
        }
        if self.head.wrapping_sub(self.tail) == self.shape.slots.into() && self.is_full() {
            return Err(Error::Full);
        }
        Ok(())
    }

    /// The place of the next message, or why there is none, as [`look`](Self::look) says.
    #[inline]
    pub fn reserve(&mut self) -> Result<Slot<'_, 'a>, Error> {
        self.look()?;
        let slot = self.shape.slot(&self.slots, self.head);
        let (length, bytes) = slot.ok_or(Error::TooSmall)?;
        Ok(Slot {
            producer: self,
            length,
            bytes,
        })
    }

    /// Sends a copy of `bytes`, if there is room.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> Result<Doorbell, Error> {
        if bytes.len() > self.shape.size() {
            return Err(Error::TooLong);
        }
        let slot = self.reserve()?;
        slot.bytes.fill(bytes);
        Ok(slot.send(bytes.len()))
    }

    /// Looks whether the consumer took some. One that says it took what was never sent, or untook,
    /// is taken for one that took nothing.
    fn is_full(&mut self) -> bool {
        // Acquire: the consumer is done with the slot that is overwritten from here on.
        let tail = load(self.theirs.index, Ordering::Acquire);
        let used = self.head.wrapping_sub(tail);
        let full = used >= self.shape.slots.into();
        if !full {
            self.tail = tail;
        }
        full
    }

    /// Asks for a doorbell once there is room; returns whether to wait for it, as there is none
    /// still and nobody came or went.
    pub fn ask(&mut self) -> bool {
        let tail = self.head.wrapping_sub(self.shape.slots.into());
        self.own.ask(tail.wrapping_add(1));
        // Pairs with the consumer's: it sees what is asked, or this sees what it took.
        fence(Ordering::SeqCst);
        self.is_full() && self.peer.now(Ordering::Relaxed) == self.peer.known
    }
}

/// The place of a message. Dropped, it stays the next one's.
#[derive(Debug)]
pub struct Slot<'p, 'a> {
    producer: &'p mut Producer<'a>,
    length: &'a AtomicU64,
    bytes: Area<'a>,
}

impl<'a> Slot<'_, 'a> {
    /// Where its bytes go: as many as the shape says, up to a whole word.
    pub const fn bytes(&self) -> Area<'a> {
        self.bytes
    }

    /// Sends the first `length` bytes.
    #[inline]
    pub fn send(self, length: usize) -> Doorbell {
        let Self { producer, .. } = self;
        let length = length.min(producer.shape.size()) as u64;
        store(self.length, length, Ordering::Relaxed);
        producer.head = producer.head.wrapping_add(1);
        // Release: the message before the index that shows it.
        store(producer.own.index, producer.head, Ordering::Release);
        // The index before the look at whether anybody waits for it.
        fence(Ordering::SeqCst);
        Doorbell::new(producer.theirs.wants(producer.head))
    }
}
