//! Frame of a sender: its buffers, gathered from a descriptor chain.

use core_virtq::{Chain, Memory, Queue, Violation};

/// Bytes of the header before a frame (virtio 1.2, 5.1.6).
pub(crate) const HEADER: u32 = 12;

/// Bytes of the addresses of destination and source, with which a frame begins.
pub(crate) const ADDRESSES: usize = 12;

/// Shortest frame: two addresses and a type (IEEE 802.3, 3.1.1; a card adds the padding).
const SHORTEST: u32 = 14;

/// Longest frame: with a VLAN tag and 1,500 bytes of data, without a check sequence.
const LONGEST: u32 = 1518;

/// Most buffers of a frame.
const BUFFERS: usize = 16;

/// Frame that is being sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    chain: Option<Chain>,
    /// The addresses of destination and source: read once, so that what is delivered is what was
    /// checked.
    addresses: [u8; ADDRESSES],
    /// Bytes of these that are read.
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
        chain: None,
        addresses: [0; ADDRESSES],
        read: 0,
        emptied: 0,
        buffers: [(0, 0); BUFFERS],
        count: 0,
        length: 0,
        header: HEADER,
        invalid: false,
    };

    /// Begins the frame of a chain.
    pub(crate) const fn begin(&mut self, chain: Chain) {
        self.chain = Some(chain);
        self.read = 0;
        self.emptied = 0;
        self.count = 0;
        self.length = 0;
        self.header = HEADER;
        self.invalid = false;
    }

    /// Chain of the frame.
    pub(crate) const fn chain(&self) -> Option<Chain> {
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

    /// Whether the frame can be sent, once it is gathered.
    pub(crate) const fn is_valid(&self) -> bool {
        !self.invalid && self.length >= SHORTEST
    }

    /// Reads a descriptor. Returns whether there are more.
    pub(crate) fn gather(
        &mut self,
        queue: &Queue,
        memory: &impl Memory,
    ) -> Result<bool, Violation> {
        let Some(chain) = &mut self.chain else {
            return Ok(false);
        };
        let Some(mut buffer) = chain.next(queue, memory)? else {
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
        Ok(!buffer.last && !self.invalid)
    }

    /// Reads what a buffer has of the addresses, once the frame is gathered. Returns whether there is
    /// more of them.
    pub(crate) fn read(&mut self, memory: &impl Memory) -> Result<bool, Violation> {
        let open = self.addresses.get_mut(self.read..).unwrap_or_default();
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

    /// The bytes before its buffers: the addresses of destination and source.
    pub(crate) const fn begins_with(&self) -> [u8; ADDRESSES] {
        self.addresses
    }

    /// The addresses of destination and source, as numbers with the first byte lowest.
    pub(crate) fn addresses(&self) -> [u64; 2] {
        let number = |bytes: &[u8]| {
            bytes
                .iter()
                .rev()
                .fold(0, |sum, &byte| sum << 8 | u64::from(byte))
        };
        let (destination, source) = self.addresses.split_at(ADDRESSES / 2);
        [number(destination), number(source)]
    }
}
