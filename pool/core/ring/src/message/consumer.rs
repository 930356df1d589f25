//! The end that receives.

use super::{Doorbell, Mark, PRODUCER_EPOCH, Parts, Peer, SLOTS, Shape, load, store};
use crate::area::{Ordering, fence};
use crate::{Area, Error};

/// The end that receives messages.
#[derive(Debug)]
pub struct Consumer<'a> {
    own: Mark<'a>,
    theirs: Mark<'a>,
    peer: Peer<'a>,
    slots: Area<'a>,
    shape: Shape,
    tail: u64,
    /// The producer's index, as last believed: not more than all slots ahead of `tail`.
    head: u64,
}

impl<'a> Consumer<'a> {
    /// The consumer of the queue in these parts. It begins with what was sent since the consumer
    /// before it went.
    pub fn attach(parts: &Parts<'a>, shape: Shape) -> Result<Self, Error> {
        let slots = shape.producer_bytes() - SLOTS;
        let slots = parts.producer.part(SLOTS, slots).ok_or(Error::TooSmall)?;
        let own = Mark::of(&parts.consumer)?;
        let tail = load(own.index, Ordering::Relaxed);
        Ok(Self {
            own,
            theirs: Mark::of(&parts.producer)?,
            peer: Peer::of(&parts.status, PRODUCER_EPOCH)?,
            slots,
            shape,
            tail,
            head: tail,
        })
    }

    /// Its shape.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// How many messages wait to be taken, as far as the producer can be believed.
    pub fn count(&self) -> u32 {
        let ahead = load(self.theirs.index, Ordering::Relaxed).wrapping_sub(self.tail);
        ahead.min(self.shape.slots.into()) as u32
    }

    /// Whether the producer is there.
    pub fn is_connected(&self) -> bool {
        self.peer.is_there()
    }

    /// Whether there is a message; [`Error::Empty`] if there is none, [`Error::PeerGone`] once after
    /// the producer went and all of its messages were taken, [`Error::Corrupt`] if its index made no
    /// sense and all it sent is given up.
    #[inline]
    pub fn look(&mut self) -> Result<(), Error> {
        if self.head == self.tail {
            self.look_anew()
        } else {
            Ok(())
        }
    }

    /// The first message, where it lies, or why there is none, as [`look`](Self::look) says.
    #[inline]
    pub fn receive(&mut self) -> Result<Message<'_, 'a>, Error> {
        self.look()?;
        let slot = self.shape.slot(&self.slots, self.tail);
        let (length, bytes) = slot.ok_or(Error::TooSmall)?;
        // Looked at once, and believed within bounds.
        let length = load(length, Ordering::Relaxed).min(self.shape.size() as u64);
        Ok(Message {
            consumer: self,
            bytes,
            length: length as usize,
        })
    }

    /// Copies the first message into `buffer`; returns its length, which may be more than there was
    /// room for.
    #[inline]
    pub fn receive_into(&mut self, buffer: &mut [u8]) -> Result<(usize, Doorbell), Error> {
        let message = self.receive()?;
        let length = message.copy(buffer);
        Ok((length, message.done()))
    }

    /// Looks whether the producer sent some.
    fn look_anew(&mut self) -> Result<(), Error> {
        // Before the index: what a producer sent before it went is seen then.
        let epoch = self.peer.now(Ordering::Acquire);
        // Acquire: the messages that the index shows.
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

    /// Asks for a doorbell at the next message; returns whether to wait for it, as there is none
    /// still and nobody came or went.
    pub fn ask(&mut self) -> bool {
        self.own.ask(self.tail.wrapping_add(1));
        // Pairs with the producer's: it sees what is asked, or this sees what it sent.
        fence(Ordering::SeqCst);
        self.head == self.tail
            && load(self.theirs.index, Ordering::Relaxed) == self.tail
            && self.peer.now(Ordering::Relaxed) == self.peer.known
    }
}

/// A message where it was written. Dropped, it stays the first.
#[derive(Debug)]
pub struct Message<'c, 'a> {
    consumer: &'c mut Consumer<'a>,
    bytes: Area<'a>,
    length: usize,
}

impl<'a> Message<'_, 'a> {
    /// The words it stands in. A producer that is not trusted may still change them.
    pub const fn bytes(&self) -> Area<'a> {
        self.bytes
    }

    /// Its length in bytes.
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether it has no bytes.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Copies it into `buffer`, as far as there is room; returns its length.
    #[inline]
    pub fn copy(&self, buffer: &mut [u8]) -> usize {
        let count = self.length.min(buffer.len());
        if let Some(buffer) = buffer.get_mut(..count) {
            self.bytes.take(buffer);
        }
        self.length
    }

    /// Gives its slot back.
    #[inline]
    pub fn done(self) -> Doorbell {
        let Self { consumer, .. } = self;
        consumer.tail = consumer.tail.wrapping_add(1);
        // Release: the message was read before its slot is free.
        store(consumer.own.index, consumer.tail, Ordering::Release);
        // The index before the look at whether anybody waits for it.
        fence(Ordering::SeqCst);
        Doorbell::new(consumer.theirs.wants(consumer.tail))
    }
}
