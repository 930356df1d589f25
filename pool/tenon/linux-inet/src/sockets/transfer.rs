//! [`Received`]: bytes of connections, and datagrams.

use super::{Socket, Sockets, State};
use crate::errno::ENETUNREACH;
use crate::settings::index;
use smoltcp::socket::udp::{SendError, UdpMetadata};
use smoltcp::wire::{IpAddress, IpEndpoint};
use tenon_inet::{FRAME, Handle, ImageStack, SocketAddrV4, address_of};
use tenon_process::{Errno, Frames, Memory};

/// Bytes of a datagram at most: behind the headers of Ethernet, IP and UDP.
pub(crate) const LONGEST: usize = FRAME - 14 - 20 - 8;

/// Memory of a transfer: where it is, an offset in it, and how many bytes.
pub(crate) type Place<'a, 'b> = (&'a mut Memory<'b>, usize, usize);

/// What was received.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// Bytes that were copied.
    pub(crate) count: usize,
    /// Bytes of the datagram.
    pub(crate) length: usize,
    /// Its sender.
    pub(crate) from: Option<SocketAddrV4>,
}

impl Received {
    const fn bytes(count: usize) -> Self {
        Self {
            count,
            length: count,
            from: None,
        }
    }
}

impl Sockets {
    /// Receives bytes or a datagram; keeps them if `peek`. `None` if there is nothing yet.
    pub(crate) fn receive(
        &mut self,
        number: u32,
        place: Place<'_, '_>,
        peek: bool,
        (stack, frames): (&mut ImageStack, &mut Frames),
    ) -> Result<Option<Received>, Errno> {
        let socket = self.fresh(number, stack)?;
        let received = if socket.stream {
            let bytes = socket.receive_bytes(place, peek, stack, frames)?;
            bytes.map(Received::bytes)
        } else {
            socket.receive_datagram(place, peek, stack, frames)?
        };
        socket.note(number, stack);
        Ok(received)
    }

    /// Sends bytes, or a datagram to a receiver; returns how many. `None` if there is no room.
    pub(crate) fn send(
        &mut self,
        number: u32,
        place: Place<'_, '_>,
        target: Option<SocketAddrV4>,
        (stack, frames): (&mut ImageStack, &mut Frames),
    ) -> Result<Option<usize>, Errno> {
        let length = place.2;
        let socket = self.fresh(number, stack)?;
        if let Some(error) = socket.error.take() {
            return Err(error);
        }
        if socket.ended_write {
            return Err(Errno::EPIPE);
        }
        let sent = if socket.stream {
            socket.send_bytes(place, stack, frames)?
        } else {
            let to = target.or(socket.peer).ok_or(Errno::EDESTADDRREQ)?;
            if length > LONGEST {
                return Err(Errno::EMSGSIZE);
            }
            if to.port() == 0 {
                return Err(Errno::EINVAL);
            }
            self.bind_any(number, stack)?;
            self.get_mut(number)?
                .send_datagram(place, to, stack, frames)?
        };
        let socket = self.get_mut(number)?;
        socket.wants_room = sent.is_none_or(|sent| sent < length);
        socket.note(number, stack);
        Ok(sent)
    }
}

impl Socket {
    fn receive_bytes(
        &mut self,
        (memory, offset, length): Place<'_, '_>,
        peek: bool,
        stack: &mut ImageStack,
        frames: &mut Frames,
    ) -> Result<Option<usize>, Errno> {
        let handle = match (self.state, self.handle) {
            (State::Connecting(_), _) => return Ok(None),
            (State::Connected | State::Ended, Some(handle)) => handle,
            _ => return Err(self.error.take().unwrap_or(Errno::ENOTCONN)),
        };
        let connection = stack.tcp_mut(handle);
        if connection.recv_queue() == 0 {
            return match self.error.take() {
                Some(error) => Err(error),
                None if self.has_end || self.ended_read || self.state == State::Ended => {
                    Ok(Some(0))
                }
                None => Ok(None),
            };
        }
        if peek {
            let bytes = connection.peek(length).map_err(|_| Errno::EBADF)?;
            memory.write(offset, bytes, frames)?;
            return Ok(Some(bytes.len()));
        }
        let mut done = 0;
        // The bytes may lie in two parts.
        while done < length && connection.recv_queue() > 0 {
            let copied = connection.recv(|bytes| {
                let part = bytes.len().min(length - done);
                match memory.write(offset + done, &bytes[..part], frames) {
                    Ok(()) => (part, Ok(part)),
                    Err(error) => (0, Err(error)),
                }
            });
            match copied.map_err(|_| Errno::EBADF)? {
                Ok(count) => done += count,
                Err(error) if done == 0 => return Err(error),
                Err(_) => break,
            }
        }
        Ok(Some(done))
    }

    fn send_bytes(
        &mut self,
        (memory, offset, length): Place<'_, '_>,
        stack: &mut ImageStack,
        frames: &mut Frames,
    ) -> Result<Option<usize>, Errno> {
        let handle = match (self.state, self.handle) {
            (State::Connecting(_), _) => return Ok(None),
            (State::Connected, Some(handle)) => handle,
            _ => return Err(Errno::EPIPE),
        };
        let connection = stack.tcp_mut(handle);
        if !connection.may_send() {
            return Err(Errno::EPIPE);
        }
        let mut done = 0;
        while done < length && connection.can_send() {
            let copied = connection.send(|room| {
                let part = room.len().min(length - done);
                match memory.read(offset + done, &mut room[..part], frames) {
                    Ok(()) => (part, Ok(part)),
                    Err(error) => (0, Err(error)),
                }
            });
            match copied.map_err(|_| Errno::EPIPE)? {
                Ok(count) => done += count,
                Err(error) if done == 0 => return Err(error),
                Err(_) => break,
            }
        }
        Ok((done > 0 || length == 0).then_some(done))
    }

    /// The length of the first datagram, without those that are not of the peer.
    pub(super) fn first_length(&self, stack: &mut ImageStack, handle: Handle) -> Option<usize> {
        let socket = stack.udp(handle);
        while socket.can_recv() {
            let (bytes, from) = socket.peek().ok()?;
            let is_other = |peer: SocketAddrV4| address_of(from.endpoint) != peer;
            if !self.peer.is_some_and(is_other) {
                return Some(bytes.len());
            }
            let _ = socket.recv();
        }
        None
    }

    fn receive_datagram(
        &mut self,
        (memory, offset, length): Place<'_, '_>,
        peek: bool,
        stack: &mut ImageStack,
        frames: &mut Frames,
    ) -> Result<Option<Received>, Errno> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let first = self
            .handle
            .map(|handle| (handle, self.first_length(stack, handle)));
        let Some((handle, Some(whole))) = first else {
            return Ok(self.ended_read.then_some(Received::bytes(0)));
        };
        let socket = stack.udp(handle);
        let (bytes, from) = socket.peek().map_err(|_| Errno::EBADF)?;
        let count = whole.min(length);
        memory.write(offset, &bytes[..count], frames)?;
        let from = Some(address_of(from.endpoint));
        if !peek {
            let _ = socket.recv();
        }
        Ok(Some(Received {
            count,
            length: whole,
            from,
        }))
    }

    fn send_datagram(
        &mut self,
        (memory, offset, length): Place<'_, '_>,
        to: SocketAddrV4,
        stack: &mut ImageStack,
        frames: &mut Frames,
    ) -> Result<Option<usize>, Errno> {
        if to.ip().is_broadcast() && !self.options.is_set(index::BROADCAST) {
            return Err(Errno::EACCES);
        }
        let handle = self.handle.ok_or(Errno::EBADF)?;
        let source = stack.source(*to.ip()).ok_or(ENETUNREACH)?;
        let mut bytes = [0; LONGEST];
        memory.read(offset, &mut bytes[..length], frames)?;
        let bound = self.local.filter(|local| !local.ip().is_unspecified());
        let source = bound.map_or(source, |local| *local.ip());
        let mut meta = UdpMetadata::from(IpEndpoint::new(IpAddress::Ipv4(*to.ip()), to.port()));
        meta.local_address = Some(IpAddress::Ipv4(source));
        match stack.send(handle, &bytes[..length], meta) {
            Ok(()) => Ok(Some(length)),
            Err(SendError::BufferFull) => Ok(None),
            Err(SendError::Unaddressable) => Err(ENETUNREACH),
        }
    }
}
