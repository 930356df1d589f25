//! [`Sockets`], each in a set of its own.
//!
//! A set of smoltcp looks at all its sockets for each frame. With one socket in each, the cost of a
//! frame depends on the open sockets by a comparison of ports alone, and a socket without anything due
//! is not looked at.

use core::net::Ipv4Addr;
use smoltcp::iface::{SocketHandle, SocketSet, SocketStorage};
use smoltcp::socket::{AnySocket, tcp, udp};
use smoltcp::time::Instant;
use smoltcp::wire::{IpAddress, IpEndpoint};

/// Time of sockets with nothing to do but for a frame.
const NEVER: Instant = Instant::from_micros_const(i64::MAX);

/// The owner of a socket of which none was stated.
pub(crate) const NOTHING: u32 = u32::MAX;

/// A socket of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(u16);

impl Handle {
    /// The handle of the first socket.
    pub(crate) const FIRST: Self = Self(0);

    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A socket in a set of its own.
#[derive(Debug)]
pub(crate) struct Member {
    set: SocketSet<'static>,
    own: SocketHandle,
    /// When it has something to do next.
    due: Instant,
    is_active: bool,
    /// It has received or transmitted since its owner was told last.
    has_news: bool,
    owner: u32,
}

/// A socket for connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connection {
    pub(crate) handle: Option<Handle>,
    /// Something has it.
    pub(crate) taken: bool,
    /// The queue of a listener that it is in.
    pub(crate) queued: Option<Queued>,
    /// Its state when it was looked at last.
    pub(crate) seen: tcp::State,
}

impl Connection {
    pub(crate) const NONE: Self = Self {
        handle: None,
        taken: false,
        queued: None,
        seen: tcp::State::Closed,
    };
}

/// The place of a connection in the queue of a listener.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    /// The number of the listener.
    pub(crate) listener: u32,
    pub(crate) address: Ipv4Addr,
    pub(crate) port: u16,
    /// Connections of the queue at most.
    pub(crate) most: usize,
    /// Its place in the order in which peers have asked for connections.
    pub(crate) order: u64,
    /// No later one waits for a peer.
    pub(crate) is_last: bool,
}

/// The sockets of a stack: those for datagrams first, then those for connections, the DHCP client last.
pub(crate) struct Sockets {
    members: &'static mut [Option<Member>],
    /// Handles of those that are open, or have been since they were looked at last, in its begin.
    active: &'static mut [Handle],
    open: usize,
    added: u16,
    /// How many are for datagrams.
    pub(crate) datagrams: u16,
    pub(crate) connections: &'static mut [Connection],
    pub(crate) dhcp: Option<Handle>,
    nothing: SocketSet<'static>,
}

impl Sockets {
    /// None yet.
    pub(crate) fn new(
        members: &'static mut [Option<Member>],
        active: &'static mut [Handle],
        connections: &'static mut [Connection],
    ) -> Self {
        Self {
            members,
            active,
            open: 0,
            added: 0,
            datagrams: 0,
            connections,
            dhcp: None,
            nothing: SocketSet::new(&mut [][..]),
        }
    }

    /// Adds a socket, if there is a place for one more.
    pub(crate) fn add<T: AnySocket<'static>>(
        &mut self,
        storage: &'static mut [SocketStorage<'static>],
        socket: T,
    ) -> Option<Handle> {
        let member = self.members.get_mut(usize::from(self.added))?;
        let mut set = SocketSet::new(storage);
        let own = set.add(socket);
        *member = Some(Member {
            set,
            own,
            due: NEVER,
            is_active: false,
            has_news: false,
            owner: NOTHING,
        });
        self.added += 1;
        Some(Handle(self.added - 1))
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.added.into()
    }

    fn member(&self, handle: Handle) -> &Member {
        let member = self.members[handle.index()].as_ref();
        member.expect("a handle is that of a socket that was added")
    }

    fn member_mut(&mut self, handle: Handle) -> &mut Member {
        let member = self.members[handle.index()].as_mut();
        member.expect("a handle is that of a socket that was added")
    }

    /// A socket.
    pub(crate) fn get<T: AnySocket<'static>>(&self, handle: Handle) -> &T {
        let member = self.member(handle);
        member.set.get(member.own)
    }

    /// A socket, to change it. Only what [marks](Self::mark) it has it transmit.
    pub(crate) fn get_mut<T: AnySocket<'static>>(&mut self, handle: Handle) -> &mut T {
        let member = self.member_mut(handle);
        member.set.get_mut(member.own)
    }

    /// The set of a socket, or one without any.
    pub(crate) fn set_of(&mut self, handle: Option<Handle>) -> &mut SocketSet<'static> {
        match handle {
            Some(handle) => &mut self.member_mut(handle).set,
            None => &mut self.nothing,
        }
    }

    /// Has the next step look at a socket.
    pub(crate) fn mark(&mut self, handle: Handle) {
        let member = self.member_mut(handle);
        member.due = Instant::ZERO;
        if !core::mem::replace(&mut member.is_active, true) {
            self.active[self.open] = handle;
            self.open += 1;
        }
    }

    /// Has the next step look at all open sockets.
    pub(crate) fn mark_all(&mut self) {
        for at in 0..self.open {
            self.member_mut(self.active[at]).due = Instant::ZERO;
        }
    }

    /// States when a socket has something to do next.
    pub(crate) fn set_due(&mut self, handle: Handle, due: Option<Instant>) {
        self.member_mut(handle).due = due.unwrap_or(NEVER);
    }

    /// Whether a socket has nothing to transmit before it receives or is changed.
    pub(crate) fn is_silent(&self, handle: Handle) -> bool {
        if self.is_for_datagrams(handle) {
            return self.get::<udp::Socket<'_>>(handle).send_queue() == 0;
        }
        let connection = self.connection(handle);
        connection.is_some_and(|socket| socket.local_endpoint().is_none())
    }

    /// The first socket from a place of the list of open ones that has something to do now, and its
    /// place.
    pub(crate) fn next_due(&self, from: usize, now: Instant) -> Option<(usize, Handle)> {
        let mut places = from..self.open;
        let place = places.find(|place| self.member(self.active[*place]).due <= now)?;
        Some((place, self.active[place]))
    }

    /// States what owns a socket.
    pub(crate) fn set_owner(&mut self, handle: Handle, owner: u32) {
        self.member_mut(handle).owner = owner;
    }

    /// Notes that a socket has received or transmitted.
    pub(crate) fn set_news(&mut self, handle: Handle) {
        self.member_mut(handle).has_news = true;
    }

    /// Takes the owner of the next open socket that has news and an owner, from a place of their list,
    /// and the place behind it.
    pub(crate) fn next_news(&mut self, from: usize) -> Option<(usize, u32)> {
        (from..self.open).find_map(|place| {
            let member = self.member_mut(self.active[place]);
            let has_news = core::mem::replace(&mut member.has_news, false);
            (has_news && member.owner != NOTHING).then_some((place + 1, member.owner))
        })
    }

    /// Removes a socket from the list of open ones, of which the last one takes its place, if it is
    /// closed and has nothing to transmit. Returns whether it was.
    pub(crate) fn remove_closed(&mut self, place: usize) -> bool {
        let handle = self.active[place];
        let is_closed = if self.is_for_datagrams(handle) {
            !self.get::<udp::Socket<'_>>(handle).is_open()
        } else {
            let connection = self.connection(handle);
            let has_ended = connection.is_some_and(|socket| socket.state() == tcp::State::Closed);
            has_ended && self.member(handle).due == NEVER
        };
        if is_closed {
            self.member_mut(handle).is_active = false;
            self.open -= 1;
            self.active[place] = self.active[self.open];
        }
        is_closed
    }

    /// Whether a socket is one for datagrams.
    pub(crate) fn is_for_datagrams(&self, handle: Handle) -> bool {
        handle.0 < self.datagrams
    }

    /// A socket, if it is one for connections.
    pub(crate) fn connection(&self, handle: Handle) -> Option<&tcp::Socket<'static>> {
        let is_one = !self.is_for_datagrams(handle) && Some(handle) != self.dhcp;
        is_one.then(|| self.get(handle))
    }

    /// The state that the stack has of a socket for connections.
    pub(crate) fn connection_mut(&mut self, handle: Handle) -> Option<&mut Connection> {
        let index = handle.0.checked_sub(self.datagrams)?;
        self.connections.get_mut(usize::from(index))
    }

    /// A socket for datagrams that is not in use.
    pub(crate) fn free_for_datagrams(&self) -> Option<Handle> {
        let mut all = (0..self.datagrams).map(Handle);
        all.find(|handle| !self.get::<udp::Socket<'_>>(*handle).is_open())
    }

    /// The open sockets for datagrams.
    fn open_for_datagrams(&self) -> impl Iterator<Item = (Handle, &udp::Socket<'static>)> {
        let active = self.active[..self.open].iter();
        let known = active.filter(|handle| self.is_for_datagrams(**handle));
        known.map(|handle| (*handle, self.get(*handle)))
    }

    /// The open sockets for connections.
    pub(crate) fn open_connections(&self) -> impl Iterator<Item = (Handle, &tcp::Socket<'static>)> {
        let active = self.active[..self.open].iter();
        active.filter_map(|handle| Some((*handle, self.connection(*handle)?)))
    }

    /// The socket for datagrams to a port.
    pub(crate) fn bound(&self, port: u16) -> Option<Handle> {
        let mut all = self.open_for_datagrams();
        let found = all.find(|(_, socket)| socket.is_open() && socket.endpoint().port == port);
        found.map(|(handle, _)| handle)
    }

    /// The connection between two endpoints, or one that waits for a peer at the own one. A new peer
    /// can have the endpoint of one with which the connection has ended.
    pub(crate) fn connected(&self, [peer, own]: [IpEndpoint; 2], is_first: bool) -> Option<Handle> {
        let (mut waiting, mut ended) = (None, None);
        for (handle, socket) in self.open_connections() {
            if socket.remote_endpoint() == Some(peer) && socket.local_endpoint() == Some(own) {
                if socket.state() != tcp::State::TimeWait {
                    return Some(handle);
                }
                ended = Some(handle);
            } else if socket.is_listening() {
                let at = socket.listen_endpoint();
                if at.port == own.port && at.addr.is_none_or(|address| address == own.addr) {
                    waiting = Some(handle);
                }
            }
        }
        if is_first {
            waiting.or(ended)
        } else {
            ended.or(waiting)
        }
    }
}

/// A datagram or a segment of a connection in an Ethernet frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// To a port; whether it has bytes.
    Datagram(u16, bool),
    /// From the first endpoint to the second one; whether it is the first one of a connection.
    Segment([IpEndpoint; 2], bool),
    /// A message of ARP.
    Resolution,
    /// Anything else, or malformed.
    Other,
}

impl Content {
    /// The content of a frame. Each socket checks what it receives: this only finds the socket.
    pub(crate) fn of(frame: &[u8]) -> Self {
        Self::parsed(frame).unwrap_or(Self::Other)
    }

    fn parsed(frame: &[u8]) -> Option<Self> {
        const ARP: &[u8] = &[8, 6];
        const IPV4: &[u8] = &[8, 0];
        let kind = frame.get(12..14)?;
        if kind == ARP {
            return Some(Self::Resolution);
        }
        let packet = frame.get(14..).filter(|_| kind == IPV4)?;
        let header = packet.first_chunk::<20>()?;
        let length = usize::from(header[0] & 0xf) * 4;
        // Neither a later fragment nor one with more to come.
        if header[6] & 0x3f != 0 || header[7] != 0 {
            return None;
        }
        let body = packet.get(length..)?;
        let [s0, s1, d0, d1, l0, l1, ..] = *body.first_chunk::<8>()?;
        let (source, destination) = (u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1]));
        match header[9] {
            17 => Some(Self::Datagram(
                destination,
                u16::from_be_bytes([l0, l1]) > 8,
            )),
            6 => {
                const SYN_AND_ACK: u8 = 0x12;
                const SYN: u8 = 2;
                let at = |place: usize, port| {
                    let [a, b, c, d] = *header.get(place..)?.first_chunk::<4>()?;
                    Some(IpEndpoint::new(IpAddress::v4(a, b, c, d), port))
                };
                let ends = [at(12, source)?, at(16, destination)?];
                Some(Self::Segment(ends, body.get(13)? & SYN_AND_ACK == SYN))
            }
            _ => None,
        }
    }
}
