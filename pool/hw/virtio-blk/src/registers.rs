//! Registers of the virtio-mmio transport (virtio 1.2, 4.2.2) and of a block device (5.2).

use crate::{Error, Registers};

/// Maximum number of polls of a register before a disk is considered unresponsive.
pub const POLL_LIMIT: u32 = 100_000;

/// Transports in a page.
pub const TRANSPORTS: usize = 8;

/// Bytes of the registers of a transport.
const STRIDE: usize = 0x200;

/// The registers of one transport in a page of several.
#[derive(Clone, Copy, Debug)]
pub struct Transport<R> {
    page: R,
    start: usize,
}

impl<R: Registers> Transport<R> {
    /// The transport of this number; beyond a page's, its registers are outside the frame.
    pub const fn new(page: R, number: usize) -> Self {
        Self {
            page,
            start: number * STRIDE,
        }
    }
}

impl<R: Registers> Registers for Transport<R> {
    fn read(&self, offset: usize) -> u32 {
        self.page.read(self.start + offset)
    }

    fn write(&mut self, offset: usize, value: u32) {
        self.page.write(self.start + offset, value);
    }
}

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
    /// Capacity in sectors: lower half, followed by the upper half.
    pub const CAPACITY: usize = 0x100;
}

/// `virt`.
pub(crate) const MAGIC: u32 = 0x7472_6976;
/// Version of virtio 1.
pub(crate) const VERSION: u32 = 2;
/// Block device.
pub(crate) const BLOCK: u32 = 2;

/// Bits of the device status (2.1).
pub(crate) mod status {
    pub const ACKNOWLEDGE: u32 = 1;
    pub const DRIVER: u32 = 2;
    pub const DRIVER_OK: u32 = 4;
    pub const FEATURES_OK: u32 = 8;
    pub const FAILED: u32 = 128;
}

/// Feature bits (5.2.3, 6).
pub(crate) mod feature {
    pub const READ_ONLY: u64 = 1 << 5;
    pub const FLUSH: u64 = 1 << 9;
    pub const VERSION_1: u64 = 1 << 32;
}

/// Whether a block device is behind the registers.
pub(crate) fn has_disk(registers: &impl Registers) -> bool {
    registers.read(offset::MAGIC) == MAGIC && registers.read(offset::DEVICE) == BLOCK
}

/// Resets the device and waits for completion (2.4.1).
pub(crate) fn reset(registers: &mut impl Registers) -> Result<(), Error> {
    registers.write(offset::STATUS, 0);
    for _ in 0..POLL_LIMIT {
        if registers.read(offset::STATUS) == 0 {
            return Ok(());
        }
    }
    Err(Error::Silent)
}

/// Features that the device offers.
pub(crate) fn offered(registers: &mut impl Registers) -> u64 {
    let mut half = |select| {
        registers.write(offset::OFFERED_SELECT, select);
        u64::from(registers.read(offset::OFFERED))
    };
    half(0) | half(1) << 32
}

/// Negotiates features. Returns whether the device accepts them.
pub(crate) fn agree(registers: &mut impl Registers, wanted: u64) -> bool {
    for (select, half) in [(0, wanted as u32), (1, (wanted >> 32) as u32)] {
        registers.write(offset::WANTED_SELECT, select);
        registers.write(offset::WANTED, half);
    }
    let agreed = status::ACKNOWLEDGE | status::DRIVER | status::FEATURES_OK;
    registers.write(offset::STATUS, agreed);
    registers.read(offset::STATUS) & status::FEATURES_OK != 0
}

/// Capacity in sectors; both halves are read consistently (4.2.2.2).
pub(crate) fn capacity(registers: &impl Registers) -> Result<u64, Error> {
    for _ in 0..POLL_LIMIT {
        let before = registers.read(offset::GENERATION);
        let low = registers.read(offset::CAPACITY);
        let high = registers.read(offset::CAPACITY + 4);
        if registers.read(offset::GENERATION) == before {
            return Ok(u64::from(low) | u64::from(high) << 32);
        }
    }
    Err(Error::Silent)
}
