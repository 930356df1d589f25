//! IPv4 network stack in a thread of its own: UDP and TCP sockets over a virtio network card.
//!
//! # Purpose
//!
//! [`start`] initialises the card and starts the network thread, which processes received frames,
//! answers ARP and ICMP echo requests, obtains an address by DHCP unless there is a static one, and
//! transmits what sockets have. [`UdpSocket`], [`TcpListener`] and [`TcpStream`] are sockets for
//! threads of the application; their calls block until a deadline at the most. The protocols are
//! those of smoltcp.
//!
//! # Guarantees
//!
//! - No frame is processed in an interrupt handler. The thread polls the card once a period and
//!   processes at most [`Settings::frames`] frames in it, at its own priority; with a
//!   [budget](Settings::budget_us) a server limits its execution time as well.
//! - Threads at higher priorities that use no socket do not wait for it. A call of a socket waits
//!   for one received frame and one of each open socket at the most, as the stack is locked for
//!   one step at a time.
//! - Memory is static: [`UDP_SOCKETS`] and [`TCP_SOCKETS`] sockets with [`BUFFER`] bytes in each
//!   direction, unless the image states other numbers. Nothing is allocated later.
//! - With a loopback, this host reaches itself at 127.0.0.1 and its own address. Frames of the card
//!   that state a loopback address are dropped.
//! - Frames and datagrams that find no free buffer are dropped and [counted](Counters).
//!
//! Initial sequence numbers follow from the time of the start; they are not secret.
//!
//! # Example
//!
//! ```no_run
//! use tenon_inet::{Error, UdpSocket, start};
//!
//! fn reflect() -> Result<(), Error> {
//!     start()?;
//!     let socket = UdpSocket::bind(7)?;
//!     let mut datagram = [0; 1472];
//!     loop {
//!         let (length, from) = socket.recv_from(&mut datagram, None)?;
//!         socket.send_to(&datagram[..length], from)?;
//!     }
//! }
//! ```

#![cfg_attr(not(test), no_std)]
#![cfg_attr(
    target_os = "none",
    expect(unsafe_code, reason = "the settings are a static of the image")
)]

mod buffers;
mod checksum;
mod device;
mod error;
mod looped;
mod server;
mod settings;
mod sockets;
mod stack;
mod tcp;
#[cfg(test)]
mod tests;
mod udp;

pub use buffers::{
    BUFFER, Memory, Place, Room, SmallMemory, SmallTables, TCP_SOCKETS, Tables, UDP_SOCKETS,
};
pub use core::net::{Ipv4Addr, SocketAddrV4};
pub use device::{FRAME, Port};
pub use error::Error;
pub use server::{ImageStack, address, counters, start, wait_for_change, with, work};
pub use settings::Settings;
pub use sockets::Handle;
pub use stack::{Counters, Stack};
pub use tcp::{TcpListener, TcpStream};
pub use udp::{UdpSocket, address_of};
