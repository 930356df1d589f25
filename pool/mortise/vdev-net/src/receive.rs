//! Receive queue of a card, and the delivery of a frame into it.

use crate::{
    frame::{FIRST, Frame, HEADER},
    wire::{Refusal, Wire},
};
use core_virtq::{Buffer, Chain, Memory, Queue, Violation};

/// Most deliveries of a frame to a port that lose their buffers to other senders; then it is lost.
const RESTARTS: u8 = 16;

/// State of a receive queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Receive {
    pub(crate) queue: Option<Queue>,
    /// Whether the driver has initialised the device.
    pub(crate) running: bool,
    /// Whether the driver violated the protocol. Only a reset ends this.
    pub(crate) broken: bool,
    /// Whether it did so in the last delivery, and is to be told in the next one.
    failed: bool,
    /// Number of the last delivery that began, and of the last reset. A delivery with another number
    /// has lost its buffers.
    serial: u64,
}

/// Delivery of a frame to a receive queue. The queue changes when the frame is complete: until then,
/// another sender can take the buffers over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// Its number, or [`UNNUMBERED`](Self::UNNUMBERED) before it begins.
    serial: u64,
    /// How many times it began anew.
    restarts: u8,
    chain: Chain,
    /// What is left of the buffer that is filled.
    buffer: Buffer,
    /// Bytes of the [first](FIRST) that were written.
    first: usize,
    /// Index of the frame's buffer that is copied next, and bytes copied of it.
    source: usize,
    copied: u32,
}

/// Result of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivered {
    /// An interrupt is pending; the delivery continues later.
    Interrupted,
    /// The frame is delivered; whether the driver is to be interrupted.
    Done(bool),
    /// There is no buffer, or the buffers are too small.
    Lost,
}

/// Driver that violated the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// That of the sender.
    Sender,
    /// That of the receiver.
    Receiver,
}

impl From<Violation> for Fault {
    fn from(_: Violation) -> Self {
        Self::Receiver
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Source => Self::Sender,
            Refusal::Target => Self::Receiver,
        }
    }
}

impl Receive {
    /// After reset.
    pub(crate) const NEW: Self = Self {
        queue: None,
        running: false,
        broken: false,
        failed: false,
        serial: 0,
    };

    /// Resets the queue; a delivery in progress loses its buffers.
    pub(crate) const fn reset(&mut self) {
        *self = Self {
            serial: self.serial.wrapping_add(1),
            ..Self::NEW
        };
    }

    /// Sets the queue; a delivery in progress loses its buffers.
    pub(crate) const fn set_queue(&mut self, queue: Option<Queue>) {
        self.queue = queue;
        self.failed = false;
        self.serial = self.serial.wrapping_add(1);
    }

    pub(crate) const fn has_failed(&self) -> bool {
        self.failed
    }

    /// The driver violated the protocol, and is to be told later.
    pub(crate) const fn fail(&mut self) {
        self.failed = true;
    }

    /// Delivers a frame, until an interrupt is pending. What is visible to the driver happens at the
    /// end, between two checks: the frame is in the used ring, and it is known whether the driver is to
    /// be interrupted.
    #[inline(always)]
    pub(crate) fn deliver(
        &mut self,
        delivery: &mut Delivery,
        frame: &Frame,
        wire: &mut impl Wire,
    ) -> Result<Delivered, Fault> {
        let Some(queue) = &mut self.queue else {
            return Ok(Delivered::Lost);
        };
        if !self.running || self.broken {
            return Ok(Delivered::Lost);
        }
        if self.failed {
            return Err(Fault::Receiver);
        }
        let (filled, chain) = if delivery.serial == self.serial {
            if wire.is_preempted() {
                return Ok(Delivered::Interrupted);
            }
            (delivery.fill(queue, frame, wire)?, delivery.chain)
        } else {
            // It has not begun, or another sender took its buffers, or the device was reset.
            if !queue.has_more() {
                let more = queue.poll(wire.receiver())?;
                if wire.is_preempted() {
                    return Ok(Delivered::Interrupted);
                }
                if !more {
                    return Ok(Delivered::Lost);
                }
            }
            let Some(chain) = queue.peek(wire.receiver())? else {
                return Ok(Delivered::Lost);
            };
            // Nothing has changed yet.
            if wire.is_preempted() {
                return Ok(Delivered::Interrupted);
            }
            self.serial = self.serial.wrapping_add(1);
            if !delivery.begin(self.serial) {
                return Ok(Delivered::Lost);
            }
            let filled = match delivery.fill_at_once(chain, queue, frame, wire)? {
                Some(filled) => filled,
                None => delivery.fill(queue, frame, wire)?,
            };
            (filled, chain)
        };
        match filled {
            Filled::Complete => {}
            Filled::Interrupted => return Ok(Delivered::Interrupted),
            Filled::Short => return Ok(Delivered::Lost),
        }
        let written = HEADER as u32 + frame.length();
        queue.put_used(wire.receiver(), chain, written)?;
        queue.advance();
        queue.publish(wire.receiver())?;
        Ok(Delivered::Done(queue.needs_interrupt(wire.receiver())?))
    }
}

/// State of the buffers of a delivery.
enum Filled {
    /// The frame is in them.
    Complete,
    /// An interrupt is pending; there is more to do.
    Interrupted,
    /// They are too small.
    Short,
}

impl Delivery {
    /// Number of a delivery that has not begun.
    const UNNUMBERED: u64 = u64::MAX;

    /// A delivery that has not begun.
    pub(crate) const NONE: Self = Self {
        serial: Self::UNNUMBERED,
        restarts: 0,
        chain: Chain::EMPTY,
        buffer: Buffer::EMPTY,
        first: 0,
        source: 0,
        copied: 0,
    };

    /// Ends it; the next one has not begun.
    pub(crate) const fn end(&mut self) {
        self.serial = Self::UNNUMBERED;
        self.restarts = 0;
    }

    /// Begins it, perhaps anew. Returns false if it did so too often.
    #[inline(always)]
    const fn begin(&mut self, serial: u64) -> bool {
        self.restarts += (self.serial != Self::UNNUMBERED) as u8;
        self.serial = serial;
        self.restarts <= RESTARTS
    }

    /// Continues with the buffers of a chain, of which it has filled as much as this says.
    const fn set_progress(&mut self, chain: Chain, buffer: Buffer, first: usize, copied: u32) {
        self.chain = chain;
        self.buffer = buffer;
        self.first = first;
        self.source = 0;
        self.copied = copied;
    }

    /// Fills the buffers of a chain in the usual case: the data of the frame is in one buffer and fits in
    /// another one. Returns nothing if there is more to do.
    #[inline(always)]
    fn fill_at_once(
        &mut self,
        chain: Chain,
        queue: &Queue,
        frame: &Frame,
        wire: &mut impl Wire,
    ) -> Result<Option<Filled>, Fault> {
        let mut rest = chain;
        let buffer = rest.next(queue, wire.receiver())?;
        let (Some((from, size)), Some(mut buffer)) = (frame.only_buffer(), buffer) else {
            self.set_progress(chain, Buffer::EMPTY, 0, 0);
            return Ok(None);
        };
        if !buffer.writable || buffer.length < FIRST as u32 + size {
            self.set_progress(chain, Buffer::EMPTY, 0, 0);
            return Ok(None);
        }
        let written = wire.receiver().write(buffer.address, frame.first(0));
        written.map_err(|_| Fault::Receiver)?;
        buffer.skip(FIRST as u32)?;
        if wire.is_interrupted() {
            self.set_progress(rest, buffer, FIRST, 0);
            return Ok(Some(Filled::Interrupted));
        }
        let copied = wire.copy(from, buffer.address, size)?;
        let interrupted = wire.is_interrupted();
        if copied == size && !interrupted {
            return Ok(Some(Filled::Complete));
        }
        buffer.skip(copied)?;
        self.set_progress(rest, buffer, FIRST, copied);
        Ok(interrupted.then_some(Filled::Interrupted))
    }

    /// Fills the buffers, until an interrupt is pending.
    #[inline(never)]
    fn fill(
        &mut self,
        queue: &Queue,
        frame: &Frame,
        wire: &mut impl Wire,
    ) -> Result<Filled, Fault> {
        // A frame has more than its addresses.
        while let Some((address, length)) = frame.buffer(self.source) {
            if self.copied >= length {
                self.source += 1;
                self.copied = 0;
                continue;
            }
            if self.buffer.length == 0 {
                match self.chain.next(queue, wire.receiver())? {
                    Some(buffer) if buffer.writable => self.buffer = buffer,
                    Some(_) => return Err(Fault::Receiver),
                    None => return Ok(Filled::Short),
                }
            } else if self.first < FIRST {
                let left = frame.first(self.first);
                let piece = left.get(..self.buffer.length as usize).unwrap_or(left);
                let written = wire.receiver().write(self.buffer.address, piece);
                written.map_err(|_| Fault::Receiver)?;
                self.first += piece.len();
                self.buffer.skip(piece.len() as u32)?;
            } else {
                let size = (length - self.copied).min(self.buffer.length);
                let from = address + u64::from(self.copied);
                let done = wire.copy(from, self.buffer.address, size)?;
                self.buffer.skip(done)?;
                self.copied += done;
            }
            if wire.is_interrupted() {
                return Ok(Filled::Interrupted);
            }
        }
        Ok(Filled::Complete)
    }
}
