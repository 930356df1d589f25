//! [`Sockets`] with addresses and connections: `bind`, `listen`, `connect`, `accept`, `shutdown`, close.

use super::{LINGER, Socket, Sockets, State};
use crate::errno::{EADDRNOTAVAIL, ENETUNREACH};
use crate::settings::index;
use smoltcp::socket::tcp;
use tenon_inet::{Error, ImageStack, Ipv4Addr, SocketAddrV4};
use tenon_process::{Errno, Files, Frames, ready};
use tenon_thread::time::Instant;

const ANY: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0);

impl Sockets {
    /// Whether another socket has a port, which it does not share.
    fn is_used(&self, number: u32, port: u16, stack: &ImageStack) -> bool {
        let Ok(own) = self.get(number) else {
            return false;
        };
        let shares = |socket: &Socket| {
            let reuses = |option| own.options.is_set(option) && socket.options.is_set(option);
            reuses(index::REUSE_ADDRESS) && socket.state != State::Listening
                || reuses(index::REUSE_PORT)
        };
        let mut others = self.table.numbers(0).filter(|other| *other != number);
        let mut known = false;
        let clash = others.any(|other| {
            let Ok(socket) = self.get(other) else {
                return false;
            };
            let same = socket.stream == own.stream
                && socket.local.is_some_and(|local| local.port() == port)
                && !matches!(socket.state, State::Closed(_));
            known |= same;
            // A connection of a listener that was closed does not keep its port.
            let accepted = matches!(socket.state, State::Connected | State::Ended);
            same && !shares(socket) && !(accepted && own.options.is_set(index::REUSE_ADDRESS))
        });
        // A socket of the application itself.
        clash || own.stream && !known && stack.is_listening(port)
    }

    /// Binds a socket to an address; to a free port for zero.
    pub(crate) fn bind(
        &mut self,
        number: u32,
        address: SocketAddrV4,
        stack: &mut ImageStack,
    ) -> Result<(), Errno> {
        let socket = self.get(number)?;
        if socket.local.is_some() || socket.state != State::Fresh {
            return Err(Errno::EINVAL);
        }
        let stream = socket.stream;
        let host = *address.ip();
        if !host.is_unspecified() && !stack.is_own(host) {
            return Err(EADDRNOTAVAIL);
        }
        let mut port = address.port();
        if port == 0 && stream {
            // One more candidate than there are sockets.
            for _ in 0..=super::SOCKETS {
                port = stack.free_port();
                if !self.is_used(number, port, stack) {
                    break;
                }
            }
        } else if port != 0 && self.is_used(number, port, stack) {
            return Err(Errno::EADDRINUSE);
        }
        let socket = self.get_mut(number)?;
        if !stream {
            let (handle, bound) = stack.bind(host, port).map_err(|error| match error {
                Error::PortInUse => Errno::EADDRINUSE,
                _ => Errno::ENOBUFS,
            })?;
            (socket.handle, port) = (Some(handle), bound);
            stack.set_owner(handle, number);
        }
        socket.local = Some(SocketAddrV4::new(host, port));
        Ok(())
    }

    /// Binds a socket that has no port yet to any.
    pub(super) fn bind_any(&mut self, number: u32, stack: &mut ImageStack) -> Result<(), Errno> {
        match self.get(number)?.local {
            Some(_) => Ok(()),
            None => self.bind(number, ANY, stack),
        }
    }

    /// Has a socket accept connections, for which so many can wait.
    pub(crate) fn listen(
        &mut self,
        number: u32,
        backlog: i32,
        stack: &mut ImageStack,
    ) -> Result<(), Errno> {
        let socket = self.fresh(number, stack)?;
        if !socket.stream {
            return Err(Errno::EOPNOTSUPP);
        }
        if !matches!(socket.state, State::Fresh | State::Listening) {
            return Err(Errno::EINVAL);
        }
        self.bind_any(number, stack)?;
        let port = self.get(number)?.local.map_or(0, |local| local.port());
        let is_first = self.get(number)?.state == State::Fresh;
        let listens = self.table.numbers(0).any(|other| {
            self.get(other).is_ok_and(|other| {
                other.state == State::Listening
                    && other.local.is_some_and(|local| local.port() == port)
                    && !other.options.is_set(index::REUSE_PORT)
            })
        });
        if is_first && listens {
            return Err(Errno::EADDRINUSE);
        }
        let socket = self.get_mut(number)?;
        let bound = stack.connections().div_ceil(2);
        // One more than stated, as in Linux.
        let most = usize::try_from(backlog).map_or(bound, |most| most.saturating_add(1));
        socket.backlog = most.min(bound);
        socket.queue(number, stack).map_err(|_| Errno::ENOBUFS)?;
        socket.state = State::Listening;
        Ok(())
    }

    /// Asks a peer for a connection, or has a socket of datagrams send to one; without a peer, ends
    /// that. `None` while a connection is asked for.
    pub(crate) fn connect(
        &mut self,
        number: u32,
        peer: Option<SocketAddrV4>,
        begun: bool,
        stack: &mut ImageStack,
    ) -> Result<Option<()>, Errno> {
        let socket = self.fresh(number, stack)?;
        let Some(peer) = peer else {
            socket.disconnect(number, stack);
            return Ok(Some(()));
        };
        match socket.state {
            State::Connecting(_) if begun => return Ok(None),
            State::Connecting(_) => return Err(Errno::EALREADY),
            State::Connected if begun => return Ok(Some(())),
            State::Refused if begun => {
                return Err(socket.error.take().unwrap_or(Errno::ECONNREFUSED));
            }
            State::Refused | State::Fresh => {}
            State::Connected if !socket.stream => {}
            _ => return Err(Errno::EISCONN),
        }
        // As in Linux, no address is this host itself.
        let host = match *peer.ip() {
            host if host.is_unspecified() => Ipv4Addr::LOCALHOST,
            host => host,
        };
        let peer = SocketAddrV4::new(host, peer.port());
        let source = stack.source(host).ok_or(ENETUNREACH)?;
        if !socket.stream {
            self.bind_any(number, stack)?;
            let socket = self.get_mut(number)?;
            (socket.peer, socket.state) = (Some(peer), State::Connected);
            if let Some(local) = &mut socket.local
                && (local.ip().is_unspecified() || socket.chosen)
            {
                local.set_ip(source);
                socket.chosen = true;
            }
            // Datagrams of others are no longer there.
            socket.note(number, stack);
            return Ok(Some(()));
        }
        if host.is_broadcast() || host.is_multicast() {
            return Err(ENETUNREACH);
        }
        if socket.state == State::Refused {
            (socket.state, socket.error, socket.told) = (State::Fresh, None, (0, 0));
        }
        if peer.port() == 0 {
            return Err(Errno::ECONNREFUSED);
        }
        let port = socket.local.map(|local| local.port());
        let handle = stack.take_connection().map_err(|_| Errno::ENOBUFS)?;
        match stack.connect(handle, peer, port) {
            Ok(local) => {
                let local = SocketAddrV4::new(source, local.port());
                (socket.local, socket.peer) = (Some(local), Some(peer));
            }
            Err(_) => {
                stack.give_connection(handle);
                return Err(ENETUNREACH);
            }
        }
        socket.options.apply(stack.tcp_mut(handle));
        stack.set_owner(handle, number);
        (socket.handle, socket.state) = (Some(handle), State::Connecting(Instant::now()));
        socket.note(number, stack);
        Ok(None)
    }

    /// Has the connection of a socket behave as its options state.
    pub(crate) fn apply(&self, number: u32, stack: &mut ImageStack) {
        if let Ok(socket) = self.get(number)
            && socket.stream
            && let Some(handle) = socket.handle
        {
            socket.options.apply(stack.tcp_mut(handle));
        }
    }

    /// Whether a socket has asked a peer for a connection.
    pub(crate) fn is_connecting(&self, number: u32) -> bool {
        let socket = self.get(number);
        socket.is_ok_and(|socket| matches!(socket.state, State::Connecting(_)))
    }

    /// The state of a socket of connections.
    pub(crate) fn tcp_state(
        &mut self,
        number: u32,
        stack: &mut ImageStack,
    ) -> Result<tcp::State, Errno> {
        let socket = self.fresh(number, stack)?;
        Ok(match (socket.state, socket.handle) {
            (State::Listening, _) => tcp::State::Listen,
            (_, Some(handle)) => stack.tcp(handle).state(),
            (_, None) => tcp::State::Closed,
        })
    }

    /// The address of a socket's peer. `ENOTCONN` without a connection.
    pub(crate) fn peer(
        &mut self,
        number: u32,
        stack: &mut ImageStack,
    ) -> Result<SocketAddrV4, Errno> {
        let socket = self.fresh(number, stack)?;
        let peer = socket.peer.filter(|_| socket.state == State::Connected);
        peer.ok_or(Errno::ENOTCONN)
    }

    /// Accepts a connection, as a socket of its own; `None` if there is none yet.
    pub(crate) fn accept(
        &mut self,
        number: u32,
        stack: &mut ImageStack,
        frames: &mut Frames,
    ) -> Result<Option<(u32, SocketAddrV4)>, Errno> {
        let socket = self.fresh(number, stack)?;
        if !socket.stream {
            return Err(Errno::EOPNOTSUPP);
        }
        if socket.state != State::Listening {
            return Err(Errno::EINVAL);
        }
        let Some(handle) = stack.acceptable(number) else {
            return Ok(None);
        };
        let (local, peer) = {
            let connection = stack.tcp(handle);
            let own = { connection.local_endpoint() }.map(tenon_inet::address_of);
            let peer = { connection.remote_endpoint() }.map(tenon_inet::address_of);
            (own, peer)
        };
        let options = socket.options;
        let accepted = self.create(true, frames)?;
        stack.accept(number);
        let socket = self.get_mut(accepted)?;
        (socket.local, socket.peer) = (local, peer);
        (socket.handle, socket.state) = (Some(handle), State::Connected);
        socket.options = options;
        socket.options.apply(stack.tcp_mut(handle));
        stack.set_owner(handle, accepted);
        self.get_mut(number)?.refresh(number, stack);
        Ok(Some((accepted, peer.unwrap_or(ANY))))
    }

    /// Ends a half of a connection, or both: what it reads, and what it writes.
    pub(crate) fn shutdown(
        &mut self,
        number: u32,
        (read, write): (bool, bool),
        stack: &mut ImageStack,
        files: &mut Files,
    ) -> Result<(), Errno> {
        let socket = self.fresh(number, stack)?;
        let mut result = Ok(());
        match socket.state {
            State::Connected | State::Ended => {}
            State::Listening if read => {
                socket.disconnect(number, stack);
                files.notify(socket.source, ready::HANGUP);
                return Ok(());
            }
            State::Listening => return Ok(()),
            State::Connecting(_) if socket.stream => socket.disconnect(number, stack),
            // As in Linux, it ends nevertheless.
            _ if !socket.stream => result = Err(Errno::ENOTCONN),
            _ => return Err(Errno::ENOTCONN),
        }
        if socket.state == State::Ended {
            return Err(Errno::ENOTCONN);
        }
        socket.ended_read |= read;
        socket.ended_write |= write;
        if socket.stream
            && write
            && let Some(handle) = socket.handle
        {
            stack.tcp_mut(handle).close();
        }
        let events = socket.events(number, stack);
        files.notify(socket.source, events | ready::PEER_HANGUP);
        socket.note(number, stack);
        result
    }

    /// Closes a socket: what it has is transmitted, and its connection ends.
    pub(crate) fn close(&mut self, number: u32, stack: &mut ImageStack, frames: &mut Frames) {
        let Ok(socket) = self.fresh(number, stack) else {
            return;
        };
        if let Some(handle) = socket.handle
            && !socket.stream
        {
            if stack.udp(handle).send_queue() > 0 {
                socket.state = State::Closed(Instant::now() + LINGER);
                socket.source = u32::MAX;
            } else {
                self.remove(number, stack, frames);
            }
            return;
        }
        if let Some(handle) = socket.handle.take() {
            let connection = stack.tcp_mut(handle);
            // As in Linux, bytes that nothing reads are refused.
            let aborts = connection.recv_queue() > 0 || socket.options.aborts();
            if aborts || matches!(socket.state, State::Connecting(_)) {
                connection.abort();
            } else {
                connection.close();
            }
            stack.give_connection(handle);
        }
        stack.end_queue(number);
        self.table.remove(number, frames);
    }
}

impl Socket {
    /// Ends a connection without waiting for its peer, so that another one can be asked for.
    fn disconnect(&mut self, number: u32, stack: &mut ImageStack) {
        if self.stream
            && let Some(handle) = self.handle.take()
        {
            stack.tcp_mut(handle).abort();
            stack.give_connection(handle);
        }
        stack.end_queue(number);
        if core::mem::take(&mut self.chosen)
            && let Some(local) = &mut self.local
        {
            local.set_ip(Ipv4Addr::UNSPECIFIED);
        }
        (self.peer, self.state) = (None, State::Fresh);
        (self.has_end, self.ended_read, self.ended_write) = (false, false, false);
    }

    /// Has a listener wait for peers.
    pub(super) fn queue(&self, number: u32, stack: &mut ImageStack) -> Result<(), Error> {
        let local = self.local.unwrap_or(ANY);
        stack.queue(number, (*local.ip(), local.port()), self.backlog)
    }
}
