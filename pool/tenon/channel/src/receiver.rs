//! The end that receives.

use crate::{Area, Error, Line, declared};
use core_ring::message::{Consumer, Message};
use tenon_thread::time::Instant;

/// The end of a channel that receives. Dropped, it is closed: between threads the other one is told,
/// a VM's end may be opened again and goes on where it stopped.
pub struct Receiver {
    pub(crate) consumer: Consumer<'static>,
    pub(crate) line: Line,
}

impl Receiver {
    /// Opens this VM's end of the channel of this name.
    pub fn open(name: &str) -> Result<Self, Error> {
        declared::receiver(name)
    }

    /// Bytes of a message at most.
    pub const fn size(&self) -> usize {
        self.consumer.shape().size()
    }

    /// How many messages it holds.
    pub const fn slots(&self) -> usize {
        self.consumer.shape().slots() as usize
    }

    /// How many messages wait to be received.
    pub fn count(&self) -> usize {
        self.consumer.count() as usize
    }

    /// Whether the other end is there.
    pub fn is_connected(&self) -> bool {
        self.consumer.is_connected()
    }

    /// Copies the first message into `buffer` if there is one; returns its length. What there is no
    /// room for is dropped.
    #[inline]
    pub fn try_read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let (length, doorbell) = self.consumer.receive_into(buffer)?;
        self.line.peer.answer(doorbell);
        Ok(length)
    }

    /// The same, and waits until there is a message.
    #[inline]
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        match self.try_read(buffer) {
            Err(Error::Empty) => self.read_in_turn(buffer, None),
            read => read,
        }
    }

    /// The same, and waits until there is a message, at the latest until `deadline`.
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

    /// The first message, where it is, if there is one.
    #[inline]
    pub fn try_receive(&mut self) -> Result<Received<'_>, Error> {
        let message = self.consumer.receive()?;
        Ok(Received {
            message,
            line: &self.line,
        })
    }

    /// The first message, where it is; waits until there is one.
    pub fn receive(&mut self) -> Result<Received<'_>, Error> {
        self.await_message(None)?;
        self.try_receive()
    }

    /// The first message, where it is; waits until there is one, at the latest until `deadline`.
    pub fn receive_until(&mut self, deadline: Instant) -> Result<Received<'_>, Error> {
        self.await_message(Some(deadline))?;
        self.try_receive()
    }

    fn await_message(&mut self, deadline: Option<Instant>) -> Result<(), Error> {
        loop {
            match self.consumer.look() {
                Err(core_ring::Error::Empty) => {}
                seen => return Ok(seen?),
            }
            if self.consumer.ask() {
                self.line.bell.wait(deadline)?;
            }
        }
    }
}

/// A message where it was written. Dropped, it stays the first one: [`done`](Received::done) gives
/// its place back.
pub struct Received<'a> {
    message: Message<'a, 'static>,
    line: &'a Line,
}

impl Received<'_> {
    /// The words it stands in, which another VM may still change.
    pub const fn bytes(&self) -> Area<'static> {
        self.message.bytes()
    }

    /// Its length in bytes.
    pub const fn len(&self) -> usize {
        self.message.len()
    }

    /// Whether it has no bytes.
    pub const fn is_empty(&self) -> bool {
        self.message.is_empty()
    }

    /// Copies it into `buffer`, as far as there is room; returns its length.
    pub fn copy(&self, buffer: &mut [u8]) -> usize {
        self.message.copy(buffer)
    }

    /// Gives its place back.
    #[inline]
    pub fn done(self) {
        self.line.peer.answer(self.message.done());
    }
}
