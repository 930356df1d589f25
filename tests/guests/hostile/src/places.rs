//! Addresses on `qemu-virt` that belong to other VMs, devices or Mortise.

/// Distributor of the GIC.
pub const GICD: u64 = 0x0800_0000;
/// CPU interface of a GICv2.
pub const GICC: u64 = 0x0801_0000;
/// First redistributor, of vCPU 0.
pub const GICR: u64 = 0x080a_0000;
/// Size of a redistributor in bytes: two frames.
pub const REDISTRIBUTOR: u64 = 0x2_0000;
/// Where Mortise and the payloads begin in physical memory; none of it is in this VM's space.
pub const MORTISE: u64 = 0x4020_0000;
/// The areas Mortise shares with a VM: the status page first, then the log ring.
pub const SHARED: u64 = 0x8000_0000;
/// Bits of an intermediate physical address.
pub const SPACE_BITS: u32 = 39;

/// Devices that a VM in this system does not have.
pub const DEVICES: &[u64] = &[
    0x0000_0000, // flash
    0x0802_0000, // GICv2m
    0x0808_0000, // ITS
    0x0900_0000, // PL011: data
    0x0900_0038, // PL011: interrupt mask
    0x0901_0000, // PL031
    0x0902_0000, // fw_cfg
    0x0903_0000, // PL061
    0x0a00_0000, // virtio
    0x1000_0000, // PCI memory
    0x3f00_0000, // PCI configuration
    0x40_1000_0000,
];
