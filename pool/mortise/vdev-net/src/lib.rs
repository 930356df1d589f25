//! Virtual networks: a switch in Mortise with a virtio network card for each VM.
//!
//! # Purpose
//!
//! [`Port`] is a network card behind a virtio-mmio transport (virtio 1.2, 4.2 and 5.1) for unmodified
//! drivers, with the features `VERSION_1` and `MAC`. [`send`] is the switch: it copies the frames of a
//! port from the memory of their sender into posted buffers of the receivers, on the sender's core.
//! Addresses are fixed, so that there is nothing to learn and no address table to fill: a frame goes to
//! the port with its destination, or to all peers if that is a group.
//!
//! [`NETWORKS`] are the networks of the manifest. `docs/decisions/virtual-network.md` gives the reasons.
//!
//! # Guarantees
//!
//! - Drivers are untrusted: each value that one writes, and may change concurrently, is read once and
//!   checked. A violation of the protocol leaves its own card in need of a reset (2.1.2), and affects
//!   no other VM. A port sends with its own source address only.
//! - Buffers must lie in RAM of their VM: not in shared areas, devices, or memory of Mortise.
//! - Pending interrupts are checked after at most a descriptor of each ring, what a buffer has of a
//!   frame's addresses, or 512 bytes of its data. The addresses that are delivered are the bytes that
//!   were checked. No allocation, no panic.
//! - A receiver that sees a frame has its interrupt, also if the sender is reset or ends then.
//! - No sender waits for a receiver, or for another sender longer than the work between two checks: a
//!   receiver without a buffer loses the frame, and a delivery that was interrupted loses its buffers to
//!   a sender that comes in between, and begins anew.
//! - Frames of one sender arrive in order.
//!
//! # Example
//!
//! ```
//! use mortise_vdev_net::{Port, Properties};
//!
//! let address = u64::from_le_bytes([0x02, 0, 0, 0, 0, 1, 0, 0]);
//! let port = Port::new();
//! port.set_properties(Properties { address, peers: 0b10, rate: 0 });
//! assert_eq!(port.read(0x000, 4), Ok(0x7472_6976)); // MagicValue
//! assert_eq!(port.read(0x008, 4), Ok(1)); // DeviceID: network card
//! assert_eq!(port.read(0x105, 1), Ok(1)); // last byte of the address
//! ```

#![cfg_attr(not(test), no_std)]
#![expect(
    unsafe_code,
    reason = "memory is copied at addresses of the VMs' drivers"
)]

mod frame;
mod networks;
mod port;
mod rate;
mod receive;
mod registers;
#[cfg(test)]
mod tests;
mod transmit;
mod transport;
mod wire;

pub use networks::{NETWORKS, Networks};
pub use port::{Busy, Counter, Counters, Port, Properties};
pub use transmit::{Progress, send};
pub use wire::{Refusal, Wire};
