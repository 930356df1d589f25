//! [`Consumer`]: receiving end of a message queue.

use super::{Cursor, Doorbell, PRODUCER_EPOCH, Parts, Peer, SLOTS, Shape, load, store};
use crate::area::{Ordering, fence};
use crate::{Area, Error};

/// Receiving end of a message queue.
#[derive(Debug)]
pub struct Consumer<'a> {
    own: Cursor<'a>,
    theirs: Cursor<'a>,
    peer: Peer<'a>,
    slots: Area<'a>,
    shape: Shape,
    tail: u64,
    /// Last valid index of the producer: at most the capacity ahead of `tail`.
    head: u64,
}

impl<'a> Consumer<'a> {
    /// Attaches to the queue in `parts`. The first message is the first one that was sent after the
    /// previous consumer disconnected.
    pub fn attach(parts: &Parts<'a>, shape: Shape) -> Result<Self, Error> {
        let slots = shape.producer_bytes() - SLOTS;
        let slots = parts.producer.part(SLOTS, slots).ok_or(Error::TooSmall)?;
        let own = Cursor::of(&parts.consumer)?;
        let tail = load(own.index, Ordering::Relaxed);
        Ok(Self {
            own,
            theirs: Cursor::of(&parts.producer)?,
            peer: Peer::of(&parts.status, PRODUCER_EPOCH)?,
            slots,
            shape,
            tail,
            head: tail,
        })
    }

    /// Shape of the queue.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// Number of unread messages by the producer's index, at most the capacity.
    pub fn count(&self) -> u32 {
        let ahead = load(self.theirs.index, Ordering::Relaxed).wrapping_sub(self.tail);
        ahead.min(self.shape.slots.into()) as u32
    }

    /// Whether the producer is connected.
    pub fn is_connected(&self) -> bool {
        self.peer.is_connected()
    }

    /// Checks that a message is available. Fails with [`Error::Empty`] if there is none, with
    /// [`Error::PeerGone`] once after the producer has disconnected and all of its messages were taken,
    /// and with [`Error::Corrupt`] if its index is out of bounds: then its messages are discarded.
    #[inline]
    pub fn poll(&mut self) -> Result<(), Error> {
        if self.head == self.tail {
            self.refresh()
        } else {
            Ok(())
        }
    }

    /// Access to the first message in place. Fails as [`poll`](Self::poll).
    #[inline]
    pub fn receive(&mut self) -> Result<Message<'_, 'a>, Error> {
        self.poll()?;
        let slot = self.shape.slot(&self.slots, self.tail);
        let (length, bytes) = slot.ok_or(Error::TooSmall)?;
        // Read once and limited to the size of a slot.
        let length = load(length, Ordering::Relaxed).min(self.shape.size() as u64);
        Ok(Message {
            consumer: self,
            bytes,
            length: length as usize,
        })
    }

    /// Takes the first message and copies it into `buffer`; returns its length, which may exceed that of
    /// `buffer`.
    #[inline]
    pub fn receive_into(&mut self, buffer: &mut [u8]) -> Result<(usize, Doorbell), Error> {
        let message = self.receive()?;
        let length = message.copy(buffer);
        Ok((length, message.done()))
    }

    /// Reads the producer's epoch and index.
    fn refresh(&mut self) -> Result<(), Error> {
        // The epoch is read before the index, so that all messages of a disconnected producer are seen.
        let epoch = self.peer.now(Ordering::Acquire);
        // Acquire: the messages up to this index.
        let head = load(self.theirs.index, Ordering::Acquire);
        match head.wrapping_sub(self.tail) {
            0 if self.peer.is_gone(epoch) => Err(Error::PeerGone),
            0 => Err(Error::Empty),
            ahead if ahead > self.shape.slots.into() => {
                self.head = head;
                self.tail = head;
                store(self.own.index, head, Ordering::Release);
                Err(Error::Corrupt)
            }
            _ => {
                self.head = head;
                Ok(())
            }
        }
    }

    /// Requests a doorbell at the next message; returns whether to wait for it: there is still no
    /// message, and the producer's epoch is unchanged.
    pub fn request_doorbell(&mut self) -> bool {
        self.own.request_doorbell(self.tail.wrapping_add(1));
        // Pairs with the barrier of the producer: either the producer sees the request, or this end
        // sees its message.
        fence(Ordering::SeqCst);
        self.head == self.tail
            && load(self.theirs.index, Ordering::Relaxed) == self.tail
            && self.peer.now(Ordering::Relaxed) == self.peer.known
    }
}

/// Message in its slot. If it is dropped, it remains the first message.
#[derive(Debug)]
pub struct Message<'c, 'a> {
    consumer: &'c mut Consumer<'a>,
    bytes: Area<'a>,
    length: usize,
}

impl<'a> Message<'_, 'a> {
    /// Words of the message. An untrusted producer can still change them.
    pub const fn bytes(&self) -> Area<'a> {
        self.bytes
    }

    /// Length in bytes.
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether the message is empty.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Copies as much of the message into `buffer` as fits; returns its length.
    #[inline]
    pub fn copy(&self, buffer: &mut [u8]) -> usize {
        let count = self.length.min(buffer.len());
        if let Some(buffer) = buffer.get_mut(..count) {
            self.bytes.take(buffer);
        }
        self.length
    }

    /// Releases the slot.
    #[inline]
    pub fn done(self) -> Doorbell {
        let Self { consumer, .. } = self;
        consumer.tail = consumer.tail.wrapping_add(1);
        // Release: the message is read before its slot is free.
        store(consumer.own.index, consumer.tail, Ordering::Release);
        // Orders the store of the index before the load of the peer's wake word.
        fence(Ordering::SeqCst);
        Doorbell::new(consumer.theirs.wants_doorbell(consumer.tail))
    }
}
