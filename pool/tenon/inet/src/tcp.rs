//! [`TcpListener`] and [`TcpStream`]: sockets for connections.

use crate::server::{ImageStack, lock, ring, wait_for};
use crate::udp::address_of;
use crate::{Error, Handle};
use core::net::SocketAddrV4;
use smoltcp::socket::tcp::State;
use tenon_thread::time::Instant;

/// A port that accepts connections. Dropping it closes the port.
#[derive(Debug)]
pub struct TcpListener {
    port: u16,
    /// The connection that waits for a peer.
    waiting: Option<Handle>,
}

impl TcpListener {
    /// Listens at a port, with one connection at a time that is not accepted yet.
    ///
    /// # Errors
    ///
    /// If all connections are in use, the port is zero, or the network is not started.
    pub fn bind(port: u16) -> Result<Self, Error> {
        let waiting = Some(listen(&mut *lock()?, port)?);
        Ok(Self { port, waiting })
    }

    /// Blocks until a peer connects, which it cannot while all connections are in use, or until the
    /// deadline.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] at the deadline.
    pub fn accept(
        &mut self,
        deadline: Option<Instant>,
    ) -> Result<(TcpStream, SocketAddrV4), Error> {
        wait_for(deadline, |stack| {
            let handle = match self.waiting {
                Some(handle) => handle,
                None => match listen(stack, self.port) {
                    Ok(handle) => *self.waiting.insert(handle),
                    Err(Error::NoSocket) => return None,
                    Err(error) => return Some(Err(error)),
                },
            };
            let socket = stack.tcp_mut(handle);
            if !socket.is_open() {
                // The peer gave up before it was accepted.
                let _ = socket.listen(self.port);
            }
            if matches!(socket.state(), State::Listen | State::SynReceived) {
                return None;
            }
            let peer = address_of(socket.remote_endpoint()?);
            self.waiting = listen(stack, self.port).ok();
            Some(Ok((TcpStream { handle }, peer)))
        })
    }
}

impl Drop for TcpListener {
    fn drop(&mut self) {
        if let Some(handle) = self.waiting {
            drop(TcpStream { handle });
        }
    }
}

/// Takes a connection that waits for a peer.
fn listen(stack: &mut ImageStack, port: u16) -> Result<Handle, Error> {
    let handle = stack.take_connection()?;
    let socket = stack.tcp_mut(handle);
    if socket.listen(port).is_ok() {
        return Ok(handle);
    }
    stack.give_connection(handle);
    Err(Error::Address)
}

/// A connection. Dropping it transmits what is written, and closes it.
#[derive(Debug)]
pub struct TcpStream {
    handle: Handle,
}

impl TcpStream {
    /// Connects to a peer; blocks until it accepts, or until the deadline.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`] if it refuses, [`Error::TimedOut`] at the deadline, [`Error::Address`]
    /// without an own address or for an invalid peer, [`Error::NoSocket`] if all connections are in
    /// use.
    pub fn connect(peer: SocketAddrV4, deadline: Option<Instant>) -> Result<Self, Error> {
        let mut stack = lock()?;
        let stream = Self {
            handle: stack.take_connection()?,
        };
        let opened = stack.connect(stream.handle, peer, None);
        // Dropping the stream locks the stack.
        drop(stack);
        opened?;
        ring();
        wait_for(deadline, |stack| match stack.tcp(stream.handle).state() {
            State::SynSent | State::SynReceived => None,
            State::Closed => Some(Err(Error::Closed)),
            _ => Some(Ok(())),
        })?;
        Ok(stream)
    }

    /// Copies received bytes into `buffer`; blocks until there are some, or until the deadline.
    /// Returns their number: zero at the end of what the peer sends.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] at the deadline.
    pub fn read(&self, buffer: &mut [u8], deadline: Option<Instant>) -> Result<usize, Error> {
        let read = wait_for(deadline, |stack| {
            let socket = stack.tcp_mut(self.handle);
            if socket.can_recv() {
                return Some(socket.recv_slice(buffer).map_err(|_| Error::Closed));
            }
            (!socket.may_recv()).then_some(Ok(0))
        })?;
        // The peer may send more.
        ring();
        Ok(read)
    }

    /// Copies bytes of `data` to transmit; blocks until there is room for some, or until the
    /// deadline. Returns their number.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`] if the peer ended the connection, [`Error::TimedOut`] at the deadline.
    pub fn write(&self, data: &[u8], deadline: Option<Instant>) -> Result<usize, Error> {
        let written = wait_for(deadline, |stack| {
            let socket = stack.tcp_mut(self.handle);
            if !socket.may_send() {
                return Some(Err(Error::Closed));
            }
            let can_send = socket.can_send();
            can_send.then(|| socket.send_slice(data).map_err(|_| Error::Closed))
        })?;
        ring();
        Ok(written)
    }
}

impl Drop for TcpStream {
    fn drop(&mut self) {
        if let Ok(mut stack) = lock() {
            stack.tcp_mut(self.handle).close();
            stack.give_connection(self.handle);
            drop(stack);
            ring();
        }
    }
}
