//! Registers of the virtio-mmio transport (virtio 1.2, 4.2.2) and of a network card (5.1).

use crate::{Error, Frame, Registers};

/// Maximum number of polls of a register before a card is considered unresponsive.
pub const POLL_LIMIT: u32 = 100_000;

/// Transports in a page.
pub const TRANSPORTS: usize = 8;

/// Bytes of the registers of a transport.
const STRIDE: usize = 0x200;

/// Register offsets.
pub(crate) mod offset {
    pub const MAGIC: usize = 0x000;
    pub const VERSION: usize = 0x004;
    pub const DEVICE: usize = 0x008;
    pub const OFFERED: usize = 0x010;
    pub const OFFERED_SELECT: usize = 0x014;
    pub const WANTED: usize = 0x020;
    pub const WANTED_SELECT: usize = 0x024;
    pub const QUEUE_SELECT: usize = 0x030;
    pub const QUEUE_MOST: usize = 0x034;
    pub const QUEUE_SIZE: usize = 0x038;
    pub const QUEUE_READY: usize = 0x044;
    pub const NOTIFY: usize = 0x050;
    pub const STATUS: usize = 0x070;
    /// Descriptor table, available ring and used ring: lower half of the address, followed by the
    /// upper half.
    pub const PARTS: [usize; 3] = [0x080, 0x090, 0x0a0];
    pub const GENERATION: usize = 0x0fc;
    /// The address of the card, six bytes (5.1.4).
    pub const MAC: usize = 0x100;
    /// Lower byte of the status of the link.
    pub const LINK: usize = 0x106;
}

/// `virt`.
pub(crate) const MAGIC: u32 = 0x7472_6976;
/// Version of virtio 1.
pub(crate) const VERSION: u32 = 2;
/// Network card.
pub(crate) const NETWORK: u32 = 1;
/// `VIRTIO_NET_S_LINK_UP`.
pub(crate) const LINK_UP: u8 = 1;

/// Bits of the device status (2.1).
pub(crate) mod status {
    pub const ACKNOWLEDGE: u32 = 1;
    pub const DRIVER: u32 = 2;
    pub const DRIVER_OK: u32 = 4;
    pub const FEATURES_OK: u32 = 8;
    pub const FAILED: u32 = 128;
}

/// Feature bits (5.1.3, 6).
pub(crate) mod feature {
    pub const MAC: u64 = 1 << 5;
    pub const STATUS: u64 = 1 << 16;
    pub const VERSION_1: u64 = 1 << 32;
}

/// Registers of a device with fields of one byte, which are read as such (4.2.2.2).
pub trait ByteRegisters: Registers {
    /// Reads the byte at this offset.
    fn read8(&self, offset: usize) -> u8;
}

impl ByteRegisters for Frame {
    fn read8(&self, offset: usize) -> u8 {
        self.unordered().read8(offset)
    }
}

/// The registers of one transport in a page of several.
#[derive(Clone, Copy, Debug)]
pub struct Transport<R> {
    page: R,
    start: usize,
}

impl<R: ByteRegisters> Transport<R> {
    /// The transport of this number; beyond a page's, its registers are outside the frame.
    pub const fn new(page: R, number: usize) -> Self {
        Self {
            page,
            start: number * STRIDE,
        }
    }

    /// Whether a network card is behind it.
    pub(crate) fn has_card(&self) -> bool {
        self.read(offset::MAGIC) == MAGIC && self.read(offset::DEVICE) == NETWORK
    }

    /// Resets the device and waits for completion (2.4.1).
    pub(crate) fn reset(&mut self) -> Result<(), Error> {
        self.write(offset::STATUS, 0);
        for _ in 0..POLL_LIMIT {
            if self.read(offset::STATUS) == 0 {
                return Ok(());
            }
        }
        Err(Error::Silent)
    }

    /// Features that the device offers.
    pub(crate) fn offered(&mut self) -> u64 {
        let mut half = |select| {
            self.write(offset::OFFERED_SELECT, select);
            u64::from(self.read(offset::OFFERED))
        };
        half(0) | half(1) << 32
    }

    /// Negotiates features. Returns whether the device accepts them.
    pub(crate) fn agree(&mut self, wanted: u64) -> bool {
        for (select, half) in [(0, wanted as u32), (1, (wanted >> 32) as u32)] {
            self.write(offset::WANTED_SELECT, select);
            self.write(offset::WANTED, half);
        }
        let agreed = status::ACKNOWLEDGE | status::DRIVER | status::FEATURES_OK;
        self.write(offset::STATUS, agreed);
        self.read(offset::STATUS) & status::FEATURES_OK != 0
    }

    /// Sets up a queue with its parts. Returns whether the device has one of this size.
    pub(crate) fn set_queue(&mut self, number: u32, size: u32, parts: [u64; 3]) -> bool {
        self.write(offset::QUEUE_SELECT, number);
        let has_room = self.read(offset::QUEUE_MOST) >= size;
        if !has_room || self.read(offset::QUEUE_READY) != 0 {
            return false;
        }
        self.write(offset::QUEUE_SIZE, size);
        for (register, part) in offset::PARTS.into_iter().zip(parts) {
            self.write(register, part as u32);
            self.write(register + 4, (part >> 32) as u32);
        }
        self.write(offset::QUEUE_READY, 1);
        true
    }

    /// Address of the card, read consistently (4.2.2.2).
    pub(crate) fn mac(&self) -> Result<[u8; 6], Error> {
        for _ in 0..POLL_LIMIT {
            let before = self.read(offset::GENERATION);
            let mac = core::array::from_fn(|at| self.read8(offset::MAC + at));
            if self.read(offset::GENERATION) == before {
                return Ok(mac);
            }
        }
        Err(Error::Silent)
    }
}

impl<R: ByteRegisters> Registers for Transport<R> {
    fn read(&self, offset: usize) -> u32 {
        self.page.read(self.start + offset)
    }

    fn write(&mut self, offset: usize, value: u32) {
        self.page.write(self.start + offset, value);
    }
}

impl<R: ByteRegisters> ByteRegisters for Transport<R> {
    fn read8(&self, offset: usize) -> u8 {
        self.page.read8(self.start + offset)
    }
}
