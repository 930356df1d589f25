//! Adapter of a network card to the device interface of smoltcp.

pub use hw_virtio_net::FRAME;

use crate::buffers::Frames;
use crate::checksum;
use crate::looped::{Looped, Slot};
use hw_virtio_net::{ByteRegisters, Card};
use smoltcp::phy::{self, Checksum, DeviceCapabilities, Medium};
use smoltcp::time::Instant;

/// A card, or a model of one, that receives and transmits Ethernet frames.
pub trait Port {
    /// Ethernet address, of one card.
    fn mac(&self) -> [u8; 6];
    /// Copies the next received frame into `frame`; returns its length of at most [`FRAME`] bytes,
    /// or `None` if there is none.
    fn receive(&mut self, frame: &mut [u8; FRAME]) -> Option<usize>;
    /// Whether a frame can be transmitted now.
    fn can_transmit(&mut self) -> bool;
    /// Transmits a frame. Returns whether the card has it.
    fn transmit(&mut self, frame: &[u8]) -> bool;
    /// Frames received, transmitted, and dropped.
    fn frames(&self) -> [u64; 3];
    /// Whether there is a network at the card.
    fn is_present(&self) -> bool {
        true
    }
}

/// A card that may be absent: this host then reaches itself alone.
impl<P: Port> Port for Option<P> {
    fn mac(&self) -> [u8; 6] {
        // Locally administered.
        let absent = [2, 0, 0, 0, 0, 1];
        self.as_ref().map_or(absent, P::mac)
    }

    fn receive(&mut self, frame: &mut [u8; FRAME]) -> Option<usize> {
        self.as_mut()?.receive(frame)
    }

    fn can_transmit(&mut self) -> bool {
        self.as_mut().is_none_or(P::can_transmit)
    }

    fn transmit(&mut self, frame: &[u8]) -> bool {
        self.as_mut().is_some_and(|port| port.transmit(frame))
    }

    fn frames(&self) -> [u64; 3] {
        self.as_ref().map_or([0; 3], P::frames)
    }

    fn is_present(&self) -> bool {
        self.is_some()
    }
}

impl<R: ByteRegisters> Port for Card<R> {
    fn mac(&self) -> [u8; 6] {
        Self::mac(self)
    }

    fn receive(&mut self, frame: &mut [u8; FRAME]) -> Option<usize> {
        Self::receive(self, frame)
    }

    fn can_transmit(&mut self) -> bool {
        Self::can_transmit(self)
    }

    fn transmit(&mut self, frame: &[u8]) -> bool {
        Self::transmit(self, frame)
    }

    fn frames(&self) -> [u64; 3] {
        let counters = self.counters();
        let dropped = counters.invalid + counters.refused;
        [counters.received, counters.transmitted, dropped]
    }
}

/// A card with a buffer for the frame that is processed in each direction.
pub(crate) struct Device<P> {
    pub(crate) port: P,
    received: &'static mut [u8; FRAME],
    length: usize,
    /// A frame was fetched, which is not processed yet.
    is_fetched: bool,
    /// Its checksums are right; a frame with others is counted, and ignored as an empty one.
    is_intact: bool,
    built: &'static mut [u8; FRAME],
    pub(crate) looped: Looped,
    /// The next frame is to be one of the card, if there is any.
    is_next: bool,
    /// Frames that could not be answered or transmitted, as the card had no free buffer.
    pub(crate) exhausted: u64,
}

impl<P: Port> Device<P> {
    pub(crate) fn new(port: P, [received, built]: Frames, slots: &'static mut [Slot]) -> Self {
        Self {
            looped: Looped::new(slots, port.mac()),
            is_next: false,
            port,
            received,
            length: 0,
            is_fetched: false,
            is_intact: true,
            built,
            exhausted: 0,
        }
    }

    /// Copies the next frame into the buffer, for the next call of `receive`: one of the card or of this
    /// host itself, or of the latter alone. Returns whether there is one.
    pub(crate) fn fetch(&mut self, with_card: bool) -> bool {
        self.is_intact = true;
        let next = if with_card {
            self.next()
        } else {
            self.looped.pop(self.received)
        };
        self.length = next.unwrap_or(0);
        self.is_fetched = next.is_some();
        self.is_fetched
    }

    /// Copies the next frame into the buffer: of the card and of this host itself in turn, while there
    /// are such of both. Returns its length.
    fn next(&mut self) -> Option<usize> {
        self.is_next = !self.is_next;
        if !self.is_next
            && let Some(length) = self.looped.pop(self.received)
        {
            return Some(length);
        }
        let Some(length) = self.port.receive(self.received) else {
            return self.looped.pop(self.received);
        };
        let frame = self.received.get(..length).unwrap_or(&[]);
        self.is_intact = checksum::is_intact(frame);
        // An empty frame is ignored.
        Some(if self.looped.refuses(frame) {
            0
        } else {
            length
        })
    }

    /// The frame that was received last.
    pub(crate) fn received(&self) -> &[u8] {
        self.received.get(..self.length).unwrap_or(&[])
    }
}

impl<P: Port> phy::Device for Device<P> {
    type RxToken<'a>
        = Received<'a>
    where
        Self: 'a;
    type TxToken<'a>
        = Transmission<'a, P>
    where
        Self: 'a;

    fn receive(&mut self, _: Instant) -> Option<(Received<'_>, Transmission<'_, P>)> {
        if !core::mem::take(&mut self.is_fetched) {
            return None;
        }
        let length = if self.is_intact { self.length } else { 0 };
        let frame = self.received.get(..length).unwrap_or(&[]);
        let transmission = Transmission {
            port: &mut self.port,
            looped: &mut self.looped,
            frame: self.built,
            exhausted: &mut self.exhausted,
        };
        Some((Received(frame), transmission))
    }

    fn transmit(&mut self, _: Instant) -> Option<Transmission<'_, P>> {
        let can_transmit = self.looped.has_room() && self.port.can_transmit();
        can_transmit.then_some(Transmission {
            port: &mut self.port,
            looped: &mut self.looped,
            frame: self.built,
            exhausted: &mut self.exhausted,
        })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = FRAME;
        // Of the frames of the card alone.
        capabilities.checksum.ipv4 = Checksum::None;
        capabilities.checksum.udp = Checksum::None;
        capabilities.checksum.tcp = Checksum::None;
        capabilities
    }
}

/// A received frame.
pub(crate) struct Received<'a>(&'a [u8]);

impl phy::RxToken for Received<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, process: F) -> R {
        process(self.0)
    }
}

/// A frame to build and transmit.
pub(crate) struct Transmission<'a, P> {
    port: &'a mut P,
    looped: &'a mut Looped,
    frame: &'a mut [u8; FRAME],
    exhausted: &'a mut u64,
}

impl<P: Port> phy::TxToken for Transmission<'_, P> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, build: F) -> R {
        let length = length.min(FRAME);
        let (frame, _) = self.frame.split_at_mut(length);
        let result = build(frame);
        if self.looped.takes(frame) {
            *self.exhausted += u64::from(!self.looped.push(frame));
        } else if !self.port.can_transmit() {
            // The answer to a received frame, which did not ask for room.
            *self.exhausted += 1;
        } else {
            checksum::complete(frame);
            self.port.transmit(frame);
        }
        result
    }
}
