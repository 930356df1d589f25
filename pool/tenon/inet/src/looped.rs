//! [`Looped`]: frames on their way to this host itself.

use crate::FRAME;
use core::net::Ipv4Addr;

/// A frame on its way to this host itself.
#[derive(Debug)]
pub struct Slot {
    length: usize,
    bytes: [u8; FRAME],
}

impl Slot {
    /// No frame.
    pub(crate) const fn new() -> Self {
        Self {
            length: 0,
            bytes: [0; FRAME],
        }
    }
}

/// Types of Ethernet frames.
const IPV4: [u8; 2] = [8, 0];
const ARP: [u8; 2] = [8, 6];

/// Frames that this host transmits to itself, in the order of their transmission. Without a slot there
/// is no loopback, and each frame is for the card.
pub(crate) struct Looped {
    slots: &'static mut [Slot],
    first: usize,
    count: usize,
    mac: [u8; 6],
    /// Own address on the card's network, if there is one.
    pub(crate) own: Option<Ipv4Addr>,
}

impl Looped {
    pub(crate) const fn new(slots: &'static mut [Slot], mac: [u8; 6]) -> Self {
        Self {
            slots,
            first: 0,
            count: 0,
            mac,
            own: None,
        }
    }

    /// Whether there is a loopback.
    pub(crate) const fn is_used(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Whether no frame is on its way.
    pub(crate) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether a frame to this host itself can be transmitted.
    pub(crate) const fn has_room(&self) -> bool {
        self.slots.is_empty() || self.count < self.slots.len()
    }

    /// Whether a frame is for this host itself: by its receiver, or a request for an own address.
    pub(crate) fn takes(&self, frame: &[u8]) -> bool {
        if !self.is_used() {
            return false;
        }
        let asks_for_own = || {
            let target = address(frame, 38);
            frame.get(12..14) == Some(&ARP)
                && target.is_some_and(|target| target.is_loopback() || Some(target) == self.own)
        };
        frame.get(..6) == Some(&self.mac) || asks_for_own()
    }

    /// Appends a frame. Returns whether there was room.
    pub(crate) fn push(&mut self, frame: &[u8]) -> bool {
        if self.count == self.slots.len() {
            return false;
        }
        let place = (self.first + self.count) % self.slots.len();
        let slot = &mut self.slots[place];
        slot.length = frame.len().min(FRAME);
        slot.bytes[..slot.length].copy_from_slice(&frame[..slot.length]);
        self.count += 1;
        true
    }

    /// Takes the first frame; returns its length.
    pub(crate) fn pop(&mut self, frame: &mut [u8; FRAME]) -> Option<usize> {
        if self.count == 0 {
            return None;
        }
        let slot = &self.slots[self.first];
        frame[..slot.length].copy_from_slice(&slot.bytes[..slot.length]);
        self.first = (self.first + 1) % self.slots.len();
        self.count -= 1;
        Some(slot.length)
    }

    /// Whether a frame of the card states a loopback address, which no other host has (RFC 1122,
    /// 3.2.1.3).
    pub(crate) fn refuses(&self, frame: &[u8]) -> bool {
        let places = match frame.get(12..14) {
            Some(kind) if kind == IPV4 => [26, 30],
            Some(kind) if kind == ARP => [28, 38],
            _ => return false,
        };
        let is_loopback = |place| address(frame, place).is_some_and(|found| found.is_loopback());
        self.is_used() && places.into_iter().any(is_loopback)
    }
}

/// The address at a place of a frame.
fn address(frame: &[u8], place: usize) -> Option<Ipv4Addr> {
    let bytes = frame.get(place..)?.first_chunk::<4>()?;
    Some(Ipv4Addr::from(*bytes))
}
