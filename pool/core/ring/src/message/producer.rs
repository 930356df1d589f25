//! [`Producer`]: sending end of a message queue.

use super::{CONSUMER_EPOCH, Cursor, Doorbell, Parts, Peer, SLOTS, Shape, load, store};
use crate::area::{AtomicU64, Ordering, fence};
use crate::{Area, Error};

/// Sending end of a message queue.
#[derive(Debug)]
pub struct Producer<'a> {
    own: Cursor<'a>,
    theirs: Cursor<'a>,
    peer: Peer<'a>,
    slots: Area<'a>,
    shape: Shape,
    head: u64,
    /// Last valid index of the consumer: at most `head`, and at most the capacity behind it.
    tail: u64,
}

impl<'a> Producer<'a> {
    /// Attaches to the queue in `parts`, and continues at the index of the previous producer.
    pub fn attach(parts: &Parts<'a>, shape: Shape) -> Result<Self, Error> {
        let slots = shape.producer_bytes() - SLOTS;
        let slots = parts.producer.part(SLOTS, slots).ok_or(Error::TooSmall)?;
        let own = Cursor::of(&parts.producer)?;
        let head = load(own.index, Ordering::Relaxed);
        Ok(Self {
            own,
            theirs: Cursor::of(&parts.consumer)?,
            peer: Peer::of(&parts.status, CONSUMER_EPOCH)?,
            slots,
            shape,
            head,
            // As if the queue were full, so that the first message reads the consumer's index.
            tail: head.wrapping_sub(shape.slots.into()),
        })
    }

    /// Shape of the queue.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// Number of unread messages by the consumer's index, at most the capacity.
    pub fn count(&self) -> u32 {
        let used = self
            .head
            .wrapping_sub(load(self.theirs.index, Ordering::Relaxed));
        used.min(self.shape.slots.into()) as u32
    }

    /// Whether the consumer is connected.
    pub fn is_connected(&self) -> bool {
        self.peer.is_connected()
    }

    /// Checks that a slot is free. Fails with [`Error::Full`] if there is none, and with
    /// [`Error::PeerGone`] once after the consumer has disconnected.
    #[inline]
    pub fn poll(&mut self) -> Result<(), Error> {
        let epoch = self.peer.now(Ordering::Relaxed);
        if self.peer.is_gone(epoch) {
            return Err(Error::PeerGone);
        }
        if self.head.wrapping_sub(self.tail) == self.shape.slots.into() && self.is_full() {
            return Err(Error::Full);
        }
        Ok(())
    }

    /// Access to the slot of the next message. Fails as [`poll`](Self::poll).
    #[inline]
    pub fn reserve(&mut self) -> Result<Slot<'_, 'a>, Error> {
        self.poll()?;
        let slot = self.shape.slot(&self.slots, self.head);
        let (length, bytes) = slot.ok_or(Error::TooSmall)?;
        Ok(Slot {
            producer: self,
            length,
            bytes,
        })
    }

    /// Sends a copy of `bytes`.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> Result<Doorbell, Error> {
        if bytes.len() > self.shape.size() {
            return Err(Error::TooLong);
        }
        let slot = self.reserve()?;
        slot.bytes.fill(bytes);
        Ok(slot.send(bytes.len()))
    }

    /// Reads the consumer's index; an index out of bounds is treated as if nothing had been taken.
    fn is_full(&mut self) -> bool {
        // Acquire: the consumer has finished reading the slot that is overwritten next.
        let tail = load(self.theirs.index, Ordering::Acquire);
        let used = self.head.wrapping_sub(tail);
        let full = used >= self.shape.slots.into();
        if !full {
            self.tail = tail;
        }
        full
    }

    /// Requests a doorbell when a slot becomes free; returns whether to wait for it: the queue is still
    /// full, and the consumer's epoch is unchanged.
    pub fn request_doorbell(&mut self) -> bool {
        let tail = self.head.wrapping_sub(self.shape.slots.into());
        self.own.request_doorbell(tail.wrapping_add(1));
        // Pairs with the barrier of the consumer: either the consumer sees the request, or this end
        // sees its index.
        fence(Ordering::SeqCst);
        self.is_full() && self.peer.now(Ordering::Relaxed) == self.peer.known
    }
}

/// Slot of the next message. If it is dropped, it remains the next slot.
#[derive(Debug)]
pub struct Slot<'p, 'a> {
    producer: &'p mut Producer<'a>,
    length: &'a AtomicU64,
    bytes: Area<'a>,
}

impl<'a> Slot<'_, 'a> {
    /// Words for the bytes of the message: the size of the shape, rounded up to a whole word.
    pub const fn bytes(&self) -> Area<'a> {
        self.bytes
    }

    /// Sends the first `length` bytes of the slot.
    #[inline]
    pub fn send(self, length: usize) -> Doorbell {
        let Self { producer, .. } = self;
        let length = length.min(producer.shape.size()) as u64;
        store(self.length, length, Ordering::Relaxed);
        producer.head = producer.head.wrapping_add(1);
        // Release: the message is stored before the index.
        store(producer.own.index, producer.head, Ordering::Release);
        // Orders the store of the index before the load of the peer's wake word.
        fence(Ordering::SeqCst);
        Doorbell::new(producer.theirs.wants_doorbell(producer.head))
    }
}
