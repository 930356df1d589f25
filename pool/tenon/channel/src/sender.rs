//! Sending end of a channel.

use crate::{Area, Error, Line, declared};
use core_ring::message::{Producer, Slot};
use tenon_thread::time::Instant;

/// The sending end of a channel. Dropping it closes it: between threads the peer is notified; a
/// VM's end can be opened again and continues behind the last message.
pub struct Sender {
    pub(crate) producer: Producer<'static>,
    pub(crate) line: Line,
}

impl Sender {
    /// Opens this VM's end of a channel by name.
    pub fn open(name: &str) -> Result<Self, Error> {
        declared::sender(name)
    }

    /// Maximum size of a message.
    pub const fn size(&self) -> usize {
        self.producer.shape().size()
    }

    /// Capacity in messages.
    pub const fn slots(&self) -> usize {
        self.producer.shape().slots() as usize
    }

    /// Number of messages that the receiver has not taken.
    pub fn count(&self) -> usize {
        self.producer.count() as usize
    }

    /// Whether the peer is present.
    pub fn is_connected(&self) -> bool {
        self.producer.is_connected()
    }

    /// Sends a copy of `bytes` if the channel is not full.
    #[inline]
    pub fn try_send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let doorbell = self.producer.send(bytes)?;
        self.line.peer.ring_if_waiting(doorbell);
        Ok(())
    }

    /// Sends a copy of `bytes`, blocking while the channel is full.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match self.try_send(bytes) {
            Err(Error::Full) => self.send_in_turn(bytes, None),
            sent => sent,
        }
    }

    /// Sends a copy of `bytes`, blocking until `deadline`.
    #[inline]
    pub fn send_until(&mut self, bytes: &[u8], deadline: Instant) -> Result<(), Error> {
        match self.try_send(bytes) {
            Err(Error::Full) => self.send_in_turn(bytes, Some(deadline)),
            sent => sent,
        }
    }

    #[cold]
    fn send_in_turn(&mut self, bytes: &[u8], deadline: Option<Instant>) -> Result<(), Error> {
        self.await_room(deadline)?;
        self.try_send(bytes)
    }

    /// Reserves the slot of the next message if one is free.
    #[inline]
    pub fn try_reserve(&mut self) -> Result<Reservation<'_>, Error> {
        let slot = self.producer.reserve()?;
        Ok(Reservation {
            slot,
            line: &self.line,
        })
    }

    /// Reserves the slot of the next message, blocking while the channel is full.
    pub fn reserve(&mut self) -> Result<Reservation<'_>, Error> {
        self.await_room(None)?;
        self.try_reserve()
    }

    /// Reserves the slot of the next message, blocking until `deadline`.
    pub fn reserve_until(&mut self, deadline: Instant) -> Result<Reservation<'_>, Error> {
        self.await_room(Some(deadline))?;
        self.try_reserve()
    }

    fn await_room(&mut self, deadline: Option<Instant>) -> Result<(), Error> {
        loop {
            match self.producer.poll() {
                Err(core_ring::Error::Full) => {}
                seen => return Ok(seen?),
            }
            if self.producer.request_doorbell() {
                self.line.bell.wait(deadline)?;
            }
        }
    }
}

/// The reserved slot of a message. Dropped without sending, it remains free.
pub struct Reservation<'a> {
    slot: Slot<'a, 'static>,
    line: &'a Line,
}

impl Reservation<'_> {
    /// Words for its bytes.
    pub const fn bytes(&self) -> Area<'static> {
        self.slot.bytes()
    }

    /// Sends the first `length` bytes.
    #[inline]
    pub fn send(self, length: usize) {
        self.line.peer.ring_if_waiting(self.slot.send(length));
    }
}
