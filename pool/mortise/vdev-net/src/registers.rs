//! Registers and bits of the virtio-mmio transport (virtio 1.2, 4.2.2) and of a network card (5.1).

/// Register offsets.
pub(crate) mod offset {
    pub(crate) const MAGIC: usize = 0x000;
    pub(crate) const VERSION: usize = 0x004;
    pub(crate) const DEVICE: usize = 0x008;
    pub(crate) const VENDOR: usize = 0x00c;
    pub(crate) const OFFERED: usize = 0x010;
    pub(crate) const OFFERED_SELECT: usize = 0x014;
    pub(crate) const WANTED: usize = 0x020;
    pub(crate) const WANTED_SELECT: usize = 0x024;
    pub(crate) const QUEUE_SELECT: usize = 0x030;
    pub(crate) const QUEUE_MOST: usize = 0x034;
    pub(crate) const QUEUE_SIZE: usize = 0x038;
    pub(crate) const QUEUE_READY: usize = 0x044;
    pub(crate) const NOTIFY: usize = 0x050;
    pub(crate) const INTERRUPT: usize = 0x060;
    pub(crate) const ACKNOWLEDGE: usize = 0x064;
    pub(crate) const STATUS: usize = 0x070;
    /// Descriptor table, available ring and used ring: lower half of the address, followed by the
    /// upper half.
    pub(crate) const PARTS: [usize; 3] = [0x080, 0x090, 0x0a0];
    /// Length and address of shared memory regions. There are none: all ones.
    pub(crate) const SHARED_MEMORY: core::ops::Range<usize> = 0x0b0..0x0c0;
    pub(crate) const CONFIGURATION: usize = 0x100;
}

/// `virt`.
pub(crate) const MAGIC: u32 = 0x7472_6976;
/// Version of virtio 1.
pub(crate) const VERSION: u32 = 2;
/// Network card.
pub(crate) const NETWORK: u32 = 1;
/// Unassigned vendor number: `TENO`.
pub(crate) const VENDOR: u32 = 0x4f4e_4554;

/// Indices of the queues (5.1.2).
pub(crate) const RECEIVE: u32 = 0;
pub(crate) const TRANSMIT: u32 = 1;

/// Bits of the device status (2.1).
pub(crate) mod status {
    pub(crate) const DRIVER_OK: u32 = 4;
    pub(crate) const FEATURES_OK: u32 = 8;
    pub(crate) const NEEDS_RESET: u32 = 64;
    /// Bits that a driver may set.
    pub(crate) const DRIVER: u32 = 1 | 2 | DRIVER_OK | FEATURES_OK | 128;
}

/// Bits of the interrupt status (4.2.2).
pub(crate) mod cause {
    pub(crate) const USED: u32 = 1;
    pub(crate) const CONFIGURATION: u32 = 2;
}

/// Feature bits (5.1.3, 6).
pub(crate) mod feature {
    pub(crate) const ADDRESS: u64 = 1 << 5;
    pub(crate) const VERSION_1: u64 = 1 << 32;
    pub(crate) const OFFERED: u64 = ADDRESS | VERSION_1;
}
