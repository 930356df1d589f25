//! The end that sends.

use crate::{Area, Error, Line, declared};
use core_ring::message::{Producer, Slot};
use tenon_thread::time::Instant;

/// The end of a channel that sends. Dropped, it is closed: between threads the other one is told, a
/// VM's end may be opened again and goes on where it stopped.
pub struct Sender {
    pub(crate) producer: Producer<'static>,
    pub(crate) line: Line,
}

impl Sender {
    /// Opens this VM's end of the channel of this name.
    pub fn open(name: &str) -> Result<Self, Error> {
        declared::sender(name)
    }

    /// Bytes of a message at most.
    pub const fn size(&self) -> usize {
        self.producer.shape().size()
    }

    /// How many messages it holds.
    pub const fn slots(&self) -> usize {
        self.producer.shape().slots() as usize
    }

    /// How many messages wait to be received.
    pub fn count(&self) -> usize {
        self.producer.count() as usize
    }

    /// Whether the other end is there.
    pub fn is_connected(&self) -> bool {
        self.producer.is_connected()
    }

    /// Sends a copy of `bytes` if there is room.
    #[inline]
    pub fn try_send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let doorbell = self.producer.send(bytes)?;
        self.line.peer.answer(doorbell);
        Ok(())
    }

    /// Sends a copy of `bytes`, and waits until there is room.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match self.try_send(bytes) {
            Err(Error::Full) => self.send_in_turn(bytes, None),
            sent => sent,
        }
    }

    /// Sends a copy of `bytes`, and waits until there is room, at the latest until `deadline`.
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

    /// The place of the next message, if there is one.
    #[inline]
    pub fn try_reserve(&mut self) -> Result<Reservation<'_>, Error> {
        let slot = self.producer.reserve()?;
        Ok(Reservation {
            slot,
            line: &self.line,
        })
    }

    /// The place of the next message; waits until there is one.
    pub fn reserve(&mut self) -> Result<Reservation<'_>, Error> {
        self.await_room(None)?;
        self.try_reserve()
    }

    /// The place of the next message; waits until there is one, at the latest until `deadline`.
    pub fn reserve_until(&mut self, deadline: Instant) -> Result<Reservation<'_>, Error> {
        self.await_room(Some(deadline))?;
        self.try_reserve()
    }

    fn await_room(&mut self, deadline: Option<Instant>) -> Result<(), Error> {
        loop {
            match self.producer.look() {
                Err(core_ring::Error::Full) => {}
                seen => return Ok(seen?),
            }
            if self.producer.ask() {
                self.line.bell.wait(deadline)?;
            }
        }
    }
}

/// The place of a message that is to be sent. Dropped without, it stays the next one's.
pub struct Reservation<'a> {
    slot: Slot<'a, 'static>,
    line: &'a Line,
}

impl Reservation<'_> {
    /// Where its bytes go.
    pub const fn bytes(&self) -> Area<'static> {
        self.slot.bytes()
    }

    /// Sends the first `length` bytes.
    #[inline]
    pub fn send(self, length: usize) {
        self.line.peer.answer(self.slot.send(length));
    }
}
