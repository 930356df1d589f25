//! Receive queue of a card, and the delivery of a frame into it.

use crate::{
    frame::{ADDRESSES, Frame, HEADER},
    wire::{Refusal, Wire},
};
use core_virtq::{Buffer, Chain, Queue, Violation};

/// Header before each received frame: no offload, one buffer (virtio 1.2, 5.1.6).
const RECEIVED: [u8; HEADER as usize] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0];

/// Bytes that do not come from the sender's buffers: the header, and the addresses that were checked.
const FIRST: usize = RECEIVED.len() + ADDRESSES;

/// State of a receive queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Receive {
    pub(crate) queue: Option<Queue>,
    /// Whether the driver has initialised the device.
    pub(crate) running: bool,
    /// Whether the driver violated the protocol. Only a reset ends this.
    pub(crate) broken: bool,
    /// Number of the last delivery that began, and of the last reset. A delivery with another number
    /// has lost its buffers.
    serial: u64,
}

/// Progress of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Fill the buffers.
    Fill,
    /// Write the used element.
    Give,
    /// Update the used index.
    Publish,
    /// Check whether the driver wants an interrupt.
    Ask,
}

/// Delivery of a frame to a receive queue. The queue changes when the frame is complete: until then,
/// another sender can take the buffers over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delivery {
    serial: u64,
    /// The queue behind the delivery.
    queue: Queue,
    chain: Chain,
    buffer: Option<Buffer>,
    /// Bytes of the [first](FIRST) that were written.
    first: usize,
    /// Index of the frame's buffer that is copied next, and bytes copied of it.
    source: usize,
    copied: u32,
    stage: Stage,
}

/// Result of a step of the begin of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begun {
    /// There is a buffer.
    More,
    /// There is no buffer.
    Nothing,
    /// It has its buffers.
    Delivery(Delivery),
}

/// Result of a step of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivered {
    /// There is more to do.
    More,
    /// The frame is delivered.
    Done,
    /// The frame is delivered, and the driver is to be interrupted.
    Interrupt,
    /// The buffers are too small.
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

impl Receive {
    /// After reset.
    pub(crate) const NEW: Self = Self {
        queue: None,
        running: false,
        broken: false,
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
        self.serial = self.serial.wrapping_add(1);
    }

    /// Executes a step of the begin of a delivery.
    pub(crate) fn begin(&mut self, wire: &mut impl Wire) -> Result<Begun, Fault> {
        let Some(queue) = &mut self.queue else {
            return Ok(Begun::Nothing);
        };
        if !self.running || self.broken {
            return Ok(Begun::Nothing);
        }
        if !queue.has_more() {
            return Ok(match queue.poll(wire.receiver())? {
                true => Begun::More,
                false => Begun::Nothing,
            });
        }
        let mut behind = *queue;
        let Some(chain) = behind.take(wire.receiver())? else {
            return Ok(Begun::Nothing);
        };
        self.serial = self.serial.wrapping_add(1);
        Ok(Begun::Delivery(Delivery {
            serial: self.serial,
            queue: behind,
            chain,
            buffer: None,
            first: 0,
            source: 0,
            copied: 0,
            stage: Stage::Fill,
        }))
    }

    /// Whether a delivery still has its buffers, or only has to interrupt the driver.
    pub(crate) const fn continues(&self, delivery: &Delivery) -> bool {
        delivery.serial == self.serial
    }
}

impl Delivery {
    /// Executes a step.
    pub(crate) fn step(
        &mut self,
        receive: &mut Receive,
        frame: &Frame,
        wire: &mut impl Wire,
    ) -> Result<Delivered, Fault> {
        match self.stage {
            Stage::Fill => return self.fill(frame, wire),
            Stage::Give => {
                let written = HEADER + frame.length();
                self.queue.put_used(wire.receiver(), self.chain, written)?;
                self.stage = Stage::Publish;
            }
            Stage::Publish => {
                self.queue.publish(wire.receiver())?;
                receive.queue = Some(self.queue);
                self.stage = Stage::Ask;
            }
            Stage::Ask => {
                return Ok(match self.queue.needs_interrupt(wire.receiver())? {
                    true => Delivered::Interrupt,
                    false => Delivered::Done,
                });
            }
        }
        Ok(Delivered::More)
    }

    /// Whether the driver can see the frame.
    pub(crate) fn is_published(&self) -> bool {
        self.stage == Stage::Ask
    }

    /// Fills part of a buffer.
    fn fill(&mut self, frame: &Frame, wire: &mut impl Wire) -> Result<Delivered, Fault> {
        let Some(buffer) = self.buffer.as_mut().filter(|buffer| buffer.length > 0) else {
            self.buffer = self.chain.next(&self.queue, wire.receiver())?;
            return match self.buffer {
                Some(buffer) if buffer.writable => Ok(Delivered::More),
                Some(_) => Err(Fault::Receiver),
                None => Ok(Delivered::Lost),
            };
        };
        if self.first < FIRST {
            let first = first(frame);
            let left = first.get(self.first..).unwrap_or_default();
            let piece = left.get(..buffer.length as usize).unwrap_or(left);
            let memory = wire.receiver();
            core_virtq::Memory::write(memory, buffer.address, piece)
                .map_err(|_| Fault::Receiver)?;
            self.first += piece.len();
            buffer.skip(piece.len() as u32)?;
            return Ok(Delivered::More);
        }
        let Some((address, length)) = frame.buffer(self.source) else {
            self.stage = Stage::Give;
            return Ok(Delivered::More);
        };
        let size = (length - self.copied).min(buffer.length);
        let from = address + u64::from(self.copied);
        let done = wire
            .copy(from, buffer.address, size)
            .map_err(|refusal| match refusal {
                Refusal::Source => Fault::Sender,
                Refusal::Target => Fault::Receiver,
            })?;
        buffer.skip(done)?;
        self.copied += done;
        if self.copied >= length {
            self.source += 1;
            self.copied = 0;
            if frame.buffer(self.source).is_none() {
                self.stage = Stage::Give;
            }
        }
        Ok(Delivered::More)
    }
}

/// The first bytes that a driver receives of a frame.
fn first(frame: &Frame) -> [u8; FIRST] {
    let mut bytes = [0; FIRST];
    let (header, addresses) = bytes.split_at_mut(RECEIVED.len());
    header.copy_from_slice(&RECEIVED);
    addresses.copy_from_slice(&frame.begins_with());
    bytes
}
