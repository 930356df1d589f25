//! [`UdpSocket`]: a socket for datagrams.

use crate::server::{lock, ring, wait_for};
use crate::{Error, Handle};
use core::net::{Ipv4Addr, SocketAddrV4};
use smoltcp::socket::udp::SendError;
use smoltcp::wire::{IpAddress, IpEndpoint};
use tenon_thread::time::Instant;

/// A socket for datagrams to a port of this image. Dropping it closes it.
#[derive(Debug)]
pub struct UdpSocket {
    handle: Handle,
    port: u16,
}

impl UdpSocket {
    /// A socket with this port, or with any free one for zero.
    ///
    /// # Errors
    ///
    /// If the port or all sockets are in use, or the network is not started.
    pub fn bind(port: u16) -> Result<Self, Error> {
        let (handle, port) = lock()?.bind(Ipv4Addr::UNSPECIFIED, port)?;
        Ok(Self { handle, port })
    }

    /// Its port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Gives a datagram to the network thread, without waiting.
    ///
    /// # Errors
    ///
    /// [`Error::Full`] while earlier datagrams occupy the buffer, [`Error::TooLong`] for one of more
    /// than 1,472 bytes, which is beyond one frame, [`Error::Address`] for an invalid receiver.
    pub fn send_to(&self, datagram: &[u8], to: SocketAddrV4) -> Result<(), Error> {
        // Behind the headers of Ethernet, IP and UDP.
        const LONGEST: usize = crate::FRAME - 14 - 20 - 8;
        if datagram.len() > LONGEST {
            return Err(Error::TooLong);
        }
        let sent = lock()?.send(self.handle, datagram, endpoint(to));
        sent.map_err(|error| match error {
            SendError::BufferFull => Error::Full,
            SendError::Unaddressable => Error::Address,
        })?;
        ring();
        Ok(())
    }

    /// Copies the next datagram into `buffer`, and blocks until there is one, or until the
    /// deadline. Returns its length and sender; of a longer datagram only the begin is copied.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] at the deadline.
    pub fn recv_from(
        &self,
        buffer: &mut [u8],
        deadline: Option<Instant>,
    ) -> Result<(usize, SocketAddrV4), Error> {
        wait_for(deadline, |stack| {
            let (datagram, from) = stack.udp(self.handle).recv().ok()?;
            let length = datagram.len().min(buffer.len());
            buffer
                .iter_mut()
                .zip(datagram)
                .for_each(|(to, from)| *to = *from);
            Some(Ok((length, address_of(from.endpoint))))
        })
    }
}

impl Drop for UdpSocket {
    fn drop(&mut self) {
        if let Ok(mut stack) = lock() {
            stack.udp(self.handle).close();
        }
    }
}

/// An endpoint as smoltcp has it.
pub(crate) const fn endpoint(address: SocketAddrV4) -> IpEndpoint {
    IpEndpoint::new(IpAddress::Ipv4(*address.ip()), address.port())
}

/// The address of an endpoint of smoltcp, of which IPv4 is the only version.
#[must_use]
pub const fn address_of(endpoint: IpEndpoint) -> SocketAddrV4 {
    let IpAddress::Ipv4(host) = endpoint.addr;
    SocketAddrV4::new(host, endpoint.port)
}
