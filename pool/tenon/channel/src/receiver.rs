//! Receiving end of a channel.

use crate::{Area, Error, Line, declared};
use core_ring::message::{Consumer, Message};
use tenon_thread::time::Instant;

/// The receiving end of a channel. Dropping it closes it: between threads the peer is notified; a
/// VM's end can be opened again and continues at the same message.
pub struct Receiver {
    pub(crate) consumer: Consumer<'static>,
    pub(crate) line: Line,
}

impl Receiver {
    /// Opens this VM's end of a channel by name.
    pub fn open(name: &str) -> Result<Self, Error> {
        declared::receiver(name)
    }

    /// Maximum size of a message.
    pub const fn size(&self) -> usize {
        self.consumer.shape().size()
    }

    /// Capacity in messages.
    pub const fn slots(&self) -> usize {
        self.consumer.shape().slots() as usize
    }

    /// Number of messages to receive.
    pub fn count(&self) -> usize {
        self.consumer.count() as usize
    }

    /// Whether the peer is present.
    pub fn is_connected(&self) -> bool {
        self.consumer.is_connected()
    }

    /// Copies the first message into `buffer` if there is one; returns its length. Bytes beyond the
    /// buffer are dropped.
    #[inline]
    pub fn try_read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let (length, doorbell) = self.consumer.receive_into(buffer)?;
        self.line.peer.ring_if_waiting(doorbell);
        Ok(length)
    }

    /// As [`try_read`](Self::try_read), blocking while the channel is empty.
    #[inline]
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        match self.try_read(buffer) {
            Err(Error::Empty) => self.read_in_turn(buffer, None),
            read => read,
        }
    }

    /// As [`try_read`](Self::try_read), blocking until `deadline`.
    #[inline]
    pub fn read_until(&mut self, buffer: &mut [u8], deadline: Instant) -> Result<usize, Error> {
        match self.try_read(buffer) {
            Err(Error::Empty) => self.read_in_turn(buffer, Some(deadline)),
            read => read,
        }
    }

    #[cold]
    fn read_in_turn(
        &mut self,
        buffer: &mut [u8],
        deadline: Option<Instant>,
    ) -> Result<usize, Error> {
        self.await_message(deadline)?;
        self.try_read(buffer)
    }

    /// Borrows the first message in place if there is one.
    #[inline]
    pub fn try_receive(&mut self) -> Result<Received<'_>, Error> {
        let message = self.consumer.receive()?;
        Ok(Received {
            message,
            line: &self.line,
        })
    }

    /// Borrows the first message in place, blocking while the channel is empty.
    pub fn receive(&mut self) -> Result<Received<'_>, Error> {
        self.await_message(None)?;
        self.try_receive()
    }

    /// Borrows the first message in place, blocking until `deadline`.
    pub fn receive_until(&mut self, deadline: Instant) -> Result<Received<'_>, Error> {
        self.await_message(Some(deadline))?;
        self.try_receive()
    }

    fn await_message(&mut self, deadline: Option<Instant>) -> Result<(), Error> {
        loop {
            match self.consumer.poll() {
                Err(core_ring::Error::Empty) => {}
                seen => return Ok(seen?),
            }
            if self.consumer.request_doorbell() {
                self.line.bell.wait(deadline)?;
            }
        }
    }
}

/// A message borrowed in place. Dropped, it stays the first one; [`done`](Received::done) removes
/// it.
pub struct Received<'a> {
    message: Message<'a, 'static>,
    line: &'a Line,
}

impl Received<'_> {
    /// Its words, which another VM can still change.
    pub const fn bytes(&self) -> Area<'static> {
        self.message.bytes()
    }

    /// Length in bytes.
    pub const fn len(&self) -> usize {
        self.message.len()
    }

    /// Whether it is empty.
    pub const fn is_empty(&self) -> bool {
        self.message.is_empty()
    }

    /// Copies it into `buffer` as far as it fits; returns its length.
    pub fn copy(&self, buffer: &mut [u8]) -> usize {
        self.message.copy(buffer)
    }

    /// Removes it from the channel.
    #[inline]
    pub fn done(self) {
        self.line.peer.ring_if_waiting(self.message.done());
    }
}
