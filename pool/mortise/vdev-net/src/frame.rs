//! Frame of a sender: its buffers, gathered from a descriptor chain.

use crate::Wire;
use core_virtq::{Chain, Memory, Queue, Violation};

/// Bytes of the header before a frame (virtio 1.2, 5.1.6).
pub(crate) const HEADER: usize = 12;

/// Bytes of the addresses of destination and source, with which a frame begins.
const ADDRESSES: usize = 12;

/// Bytes of the header and of these addresses.
pub(crate) const FIRST: usize = HEADER + ADDRESSES;

/// Shortest frame: two addresses and a type (IEEE 802.3, 3.1.1; a card adds the padding).
const SHORTEST: u32 = 14;

/// Longest frame: with a VLAN tag and 1,500 bytes of data, without a check sequence.
const LONGEST: u32 = 1518;

/// Most buffers of a frame.
const BUFFERS: usize = 16;

/// What a receiver gets first: the header of a frame without offload in one buffer (virtio 1.2, 5.1.6),
/// then the addresses; aligned for access by words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(8))]
struct First([u8; FIRST]);

/// Frame that is being sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    chain: Chain,
    /// The addresses are read once, so that what is delivered is what was checked.
    first: First,
    /// Bytes of the addresses that are read.
    read: usize,
    /// Buffers that had nothing else.
    emptied: usize,
    /// Addresses and lengths of its buffers, behind the header and what is read.
    buffers: [(u64, u32); BUFFERS],
    count: usize,
    length: u32,
    /// Bytes of the header that are still to be skipped.
    header: u32,
    /// Whether it cannot be sent: too many buffers, too long or too short.
    invalid: bool,
}

impl Frame {
    /// No frame.
    pub(crate) const NONE: Self = Self {
        chain: Chain::EMPTY,
        first: First([
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ]),
        read: 0,
        emptied: 0,
        buffers: [(0, 0); BUFFERS],
        count: 0,
        length: 0,
        header: HEADER as u32,
        invalid: false,
    };

    /// Begins the frame of a chain.
    pub(crate) const fn begin(&mut self, chain: Chain) {
        self.chain = chain;
        self.read = 0;
        self.emptied = 0;
        self.count = 0;
        self.length = 0;
        self.header = HEADER as u32;
        self.invalid = false;
    }

    /// Chain of the frame.
    pub(crate) const fn chain(&self) -> Chain {
        self.chain
    }

    /// Bytes of the frame, once it is gathered.
    pub(crate) const fn length(&self) -> u32 {
        self.length
    }

    /// A buffer behind the addresses, by its index.
    pub(crate) fn buffer(&self, index: usize) -> Option<(u64, u32)> {
        let all = self.buffers.get(..self.count)?;
        all.get(self.emptied + index).copied()
    }

    /// The buffer behind the addresses, if it is the only one.
    #[inline(always)]
    pub(crate) fn only_buffer(&self) -> Option<(u64, u32)> {
        match self.count.wrapping_sub(self.emptied) {
            1 => self.buffers.get(self.emptied).copied(),
            _ => None,
        }
    }

    /// Whether the frame can be sent, once it is gathered.
    pub(crate) const fn is_valid(&self) -> bool {
        !self.invalid && self.length >= SHORTEST
    }

    /// Begins the frame of a chain with one descriptor, which is the usual case. Returns false in other
    /// cases, and if it cannot be sent.
    #[inline(always)]
    pub(crate) fn begin_whole(
        &mut self,
        chain: Chain,
        queue: &Queue,
        memory: &impl Memory,
    ) -> Result<bool, Violation> {
        let mut rest = chain;
        let Some(mut buffer) = rest.next(queue, memory)? else {
            return Ok(false);
        };
        let length = buffer.length.wrapping_sub(HEADER as u32);
        if !buffer.last || buffer.writable || !(SHORTEST..=LONGEST).contains(&length) {
            return Ok(false);
        }
        buffer.skip(HEADER as u32)?;
        self.chain = chain;
        self.read = 0;
        self.emptied = 0;
        self.buffers[0] = (buffer.address, length);
        self.count = 1;
        self.length = length;
        Ok(true)
    }

    /// Reads descriptors, until all are read or an interrupt is pending. Returns whether there are more.
    #[inline(never)]
    pub(crate) fn gather(
        &mut self,
        queue: &Queue,
        wire: &mut impl Wire,
    ) -> Result<bool, Violation> {
        loop {
            let Some(mut buffer) = self.chain.next(queue, wire.sender())? else {
                return Ok(false);
            };
            if buffer.writable {
                return Err(Violation::Shape);
            }
            let skipped = self.header.min(buffer.length);
            self.header -= skipped;
            buffer.skip(skipped)?;
            if buffer.length > 0 {
                match self.buffers.get_mut(self.count) {
                    Some(place) if buffer.length <= LONGEST - self.length => {
                        *place = (buffer.address, buffer.length);
                        self.count += 1;
                        self.length += buffer.length;
                    }
                    _ => self.invalid = true,
                }
            }
            if buffer.last || self.invalid {
                return Ok(false);
            }
            if wire.is_interrupted() {
                return Ok(true);
            }
        }
    }

    /// Reads what a buffer has of the addresses, once the frame is gathered. Returns whether there is
    /// more of them.
    #[inline(always)]
    pub(crate) fn read(&mut self, memory: &impl Memory) -> Result<bool, Violation> {
        if self.read == 0
            && let Some((address, length)) = self.buffers.first_mut()
            && *length > ADDRESSES as u32
            && let Some(addresses) = self.first.0.last_chunk_mut::<ADDRESSES>()
        {
            memory.read(*address, addresses)?;
            *address += ADDRESSES as u64;
            *length -= ADDRESSES as u32;
            self.read = ADDRESSES;
            return Ok(false);
        }
        let open = self.first.0.get_mut(HEADER + self.read..);
        let open = open.unwrap_or_default();
        let Some((address, length)) = self.buffers.get_mut(self.emptied) else {
            return Ok(false);
        };
        let size = open.len().min(*length as usize);
        memory.read(*address, open.get_mut(..size).unwrap_or_default())?;
        self.read += size;
        *address += size as u64;
        *length -= size as u32;
        self.emptied += usize::from(*length == 0);
        Ok(self.read < ADDRESSES)
    }

    /// The bytes that a receiver gets first, from a position in them on.
    #[inline(always)]
    pub(crate) fn first(&self, from: usize) -> &[u8] {
        self.first.0.get(from..).unwrap_or_default()
    }

    /// Addresses of destination and source, as numbers with the first byte lowest.
    #[inline(always)]
    pub(crate) const fn addresses(&self) -> [u64; 2] {
        let low = match self.first.0.last_chunk::<ADDRESSES>() {
            Some(bytes) => match bytes.first_chunk() {
                Some(bytes) => u32::from_le_bytes(*bytes) as u64,
                None => 0,
            },
            None => 0,
        };
        let high = match self.first.0.last_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => 0,
        };
        [low | (high & 0xffff) << 32, high >> 16]
    }
}
