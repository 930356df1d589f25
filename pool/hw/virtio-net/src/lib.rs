//! Driver of a virtio network card behind a virtio-mmio transport (virtio 1.2, 4.2 and 5.1).
//!
//! # Purpose
//!
//! [`Card::find`] finds the card in a page of transports and initialises it. [`Card::receive`]
//! copies a received Ethernet frame out, [`Card::transmit`] copies one in. There is one receive and
//! one transmit queue of [`BUFFERS`] buffers each; a buffer has one frame. The card is polled: its
//! interrupts are suppressed.
//!
//! # Guarantees
//!
//! - No call waits, except [`Card::open`] for at most [`POLL_LIMIT`] polls of a register. Each other
//!   call examines at most [`BUFFERS`] entries of a ring, and copies at most one frame.
//! - The card gets only addresses in [`Memory`]. The state by which its reports are validated is
//!   kept elsewhere: a card that reports a buffer which it does not have, or a length beyond a
//!   buffer, is turned off; it then receives and transmits nothing.
//! - A frame is copied once before it is examined, so that later writes of the card have no effect.
//! - No lock, no allocation, no panic.
//!
//! # Example
//!
//! ```no_run
//! use hw_virtio_net::{Card, Error, FRAME, Frame, Memory};
//!
//! fn reflect(transports: Frame, memory: &'static Memory) -> Result<(), Error> {
//!     let mut card = Card::find(&transports, memory)?;
//!     let mut frame = [0; FRAME];
//!     loop {
//!         if let Some(length) = card.receive(&mut frame) {
//!             card.transmit(&frame[..length]);
//!         }
//!     }
//! }
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod card;
mod memory;
mod queue;
mod registers;
#[cfg(test)]
mod tests;

/// Registers of a page of transports, or of one.
pub use hw_arch::dma::Frame;

pub use card::{Card, Counters};
pub use hw_arch::mmio::Registers;
pub use memory::{BUFFERS, Memory};
pub use registers::{ByteRegisters, POLL_LIMIT, TRANSPORTS, Transport};

/// The most bytes of an Ethernet frame without its check sequence: header and 1,500 bytes of data.
pub const FRAME: usize = 1514;

/// Bytes of the header of an Ethernet frame, the least that a frame has.
pub const FRAME_HEADER: usize = 14;

/// Reason why a card cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// No network card behind the transport.
    Absent,
    /// A transport older than virtio 1.
    Legacy,
    /// It lacks a required feature, or requires one that the driver lacks.
    Unfit,
    /// It did not respond.
    Silent,
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Absent => "there is no network card behind the transports",
            Self::Legacy => "the network card is behind a transport of before virtio 1",
            Self::Unfit => "the network card lacks a feature of virtio 1 or an address",
            Self::Silent => "the network card does not respond",
        })
    }
}

impl core::error::Error for Error {}
