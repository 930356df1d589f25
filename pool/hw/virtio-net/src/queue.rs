//! Driver side of one queue: which buffers the card has.

use crate::memory::{BUFFERS, QueueMemory};

/// What the card reports is not possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Violation;

/// State of a queue, out of the card's reach.
#[derive(Debug)]
pub(crate) struct Queue {
    memory: &'static QueueMemory,
    /// Number of buffers offered, and number of those returned.
    offered: u16,
    taken: u16,
    /// A bit for each buffer that the card has.
    in_flight: u16,
}

const _: () = assert!(BUFFERS == u16::BITS as usize);

impl Queue {
    pub(crate) const fn new(memory: &'static QueueMemory) -> Self {
        Self {
            memory,
            offered: 0,
            taken: 0,
            in_flight: 0,
        }
    }

    pub(crate) const fn memory(&self) -> &'static QueueMemory {
        self.memory
    }

    /// The first buffer that the card does not have.
    pub(crate) fn free(&self) -> Option<usize> {
        let free = (!self.in_flight).trailing_zeros() as usize;
        (free < BUFFERS).then_some(free)
    }

    /// Makes a free buffer available to the card.
    pub(crate) fn offer(&mut self, buffer: usize, bytes: usize, writable: bool) {
        self.in_flight |= 1 << buffer;
        self.memory.describe(buffer, bytes, writable);
        self.memory.offer(buffer, self.offered);
        self.offered = self.offered.wrapping_add(1);
    }

    /// The next buffer that the card returned, and the bytes that it reports as written.
    pub(crate) fn take(&mut self) -> Result<Option<(usize, usize)>, Violation> {
        let returned = self.memory.returned().wrapping_sub(self.taken);
        if returned > self.offered.wrapping_sub(self.taken) {
            return Err(Violation);
        }
        if returned == 0 {
            return Ok(None);
        }
        let (buffer, bytes) = self.memory.entry(self.taken);
        if buffer >= BUFFERS || self.in_flight & 1 << buffer == 0 {
            return Err(Violation);
        }
        self.in_flight &= !(1 << buffer);
        self.taken = self.taken.wrapping_add(1);
        Ok(Some((buffer, bytes)))
    }
}
