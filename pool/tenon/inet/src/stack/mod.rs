//! The [`Stack`] of protocols, with its sockets.

mod listener;

use crate::buffers::{Room, sockets};
use crate::device::{Device, Port};
use crate::settings::is_host;
use crate::sockets::{Content, Handle, NOTHING, Sockets};
use crate::{Error, Settings};
use core::net::{Ipv4Addr, SocketAddrV4};
use smoltcp::iface::{Config, Interface, PollResult};
use smoltcp::socket::udp::{SendError, UdpMetadata};
use smoltcp::socket::{dhcpv4, tcp, udp};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{EthernetAddress, IpAddress, IpCidr, IpListenEndpoint, Ipv4Cidr};

/// First port of those for sockets without a port of their own (RFC 6335, 6).
const FIRST_EPHEMERAL: u16 = 49_152;

/// Port of DHCP clients (RFC 2131, 4.1).
const DHCP: u16 = 68;

/// Time after which a connection ends if its peer does not respond.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time after which the peer of an idle connection is asked whether it is there.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Numbers of frames and datagrams since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames received.
    pub received: u64,
    /// Frames transmitted.
    pub transmitted: u64,
    /// Frames dropped: malformed at the card, or without a free buffer to transmit.
    pub dropped: u64,
    /// Datagrams for a bound port that were dropped: no room in the buffer of the socket, or a
    /// wrong checksum.
    pub lost: u64,
}

/// A stack of protocols over a card.
pub struct Stack<P> {
    device: Device<P>,
    interface: Interface,
    pub(crate) sockets: Sockets,
    /// Address and prefix on the card's network, and whether there is a router to others.
    own: Option<Ipv4Cidr>,
    has_gateway: bool,
    ephemeral: u16,
    lost: u64,
    /// A connection has had another state.
    has_changed: bool,
    /// A connection was given back, which a listener may lack.
    has_given: bool,
}

impl<P: Port> Stack<P> {
    /// A stack over a card, at a time in nanoseconds, in memory of its own.
    #[must_use]
    pub fn new(port: P, settings: &Settings, now_ns: u64, room: Room) -> Self {
        let mut config = Config::new(EthernetAddress(port.mac()).into());
        config.random_seed = now_ns;
        let with_dhcp = settings.address.is_none() && port.is_present();
        let (sockets, frames, looped) = sockets(room, with_dhcp);
        let mut device = Device::new(port, frames, looped);
        let interface = Interface::new(config, &mut device, instant(now_ns));
        let mut stack = Self {
            device,
            interface,
            sockets,
            own: None,
            has_gateway: false,
            ephemeral: now_ns as u16,
            lost: 0,
            has_changed: false,
            has_given: false,
        };
        let own = settings
            .address
            .map(|(address, prefix)| Ipv4Cidr::new(address, prefix));
        stack.set_address(own, settings.gateway);
        stack
    }

    /// Processes one received frame if there is one, and transmits at most one frame of each
    /// socket. Returns whether anything was done, or a connection has another state: its peer may
    /// have been silent for too long.
    pub fn step(&mut self, now_ns: u64) -> bool {
        let now = instant(now_ns);
        let has_received = self.receive(now, true);
        self.follow_dhcp();
        let has_sent = self.transmit(now);
        has_received || has_sent
    }

    /// Transmits at most one frame of each socket, and processes one that this host has sent to itself.
    /// Returns whether anything was done, and whether there is more to do.
    pub fn step_looped(&mut self, now_ns: u64) -> (bool, bool) {
        let now = instant(now_ns);
        let has_sent = self.transmit(now);
        let has_received = self.receive(now, false);
        let has_more = !self.device.looped.is_empty() || self.sockets.next_due(0, now).is_some();
        (has_received || has_sent, has_more)
    }

    /// Takes the owner of the next open socket that has news, from a place of their list, and the place
    /// behind it.
    pub fn next_news(&mut self, place: usize) -> Option<(usize, u32)> {
        self.sockets.next_news(place)
    }

    /// Whether a connection has had another state since this was called last.
    pub const fn take_change(&mut self) -> bool {
        core::mem::replace(&mut self.has_changed, false)
    }

    /// States what owns a socket, which [`next_news`](Self::next_news) then names.
    pub fn set_owner(&mut self, handle: Handle, owner: u32) {
        self.sockets.set_owner(handle, owner);
    }

    /// Processes one received frame, with the socket that it is for. Returns whether there was one.
    fn receive(&mut self, now: Instant, with_card: bool) -> bool {
        if !self.device.fetch(with_card) {
            return false;
        }
        let content = Content::of(self.device.received());
        let handle = match content {
            Content::Datagram(DHCP, _) if self.sockets.dhcp.is_some() => self.sockets.dhcp,
            Content::Datagram(port, _) => self.sockets.bound(port),
            Content::Segment(ends, is_first) => self.sockets.connected(ends, is_first),
            Content::Resolution | Content::Other => None,
        };
        let queued = self.queued(handle);
        let (device, set) = (&mut self.device, self.sockets.set_of(handle));
        self.interface.poll_ingress_single(now, device, set);
        match (content, handle) {
            // A datagram has no answer.
            (Content::Datagram(_, has_bytes), Some(bound)) if Some(bound) != self.sockets.dhcp => {
                self.lost += u64::from(has_bytes && self.queued(handle) == queued);
            }
            // It may be the address that sockets wait for.
            (Content::Resolution, _) => self.sockets.mark_all(),
            (_, Some(handle)) => self.sockets.mark(handle),
            _ => {}
        }
        if let Some(handle) = handle {
            self.sockets.set_news(handle);
            if self.follow(handle) {
                // Before the next frame, which may be of a further peer.
                self.has_changed = true;
                self.follow_listeners();
            }
        }
        true
    }

    /// Transmits at most one frame of each socket that has one. Returns whether there was any, or a
    /// connection has another state.
    fn transmit(&mut self, now: Instant) -> bool {
        let (mut has_worked, mut has_changed) = (false, false);
        let mut place = 0;
        while let Some((at, handle)) = self.sockets.next_due(place, now) {
            let (device, set) = (&mut self.device, self.sockets.set_of(Some(handle)));
            let egress = self.interface.poll_egress(now, device, set);
            if matches!(egress, PollResult::SocketStateChanged) {
                has_worked = true;
                self.sockets.set_news(handle);
            }
            has_changed |= self.follow(handle);
            // A neighbour that does not answer has a socket wait, with nothing to transmit too.
            let due = if self.sockets.is_silent(handle) {
                None
            } else {
                let set = self.sockets.set_of(Some(handle));
                self.interface.poll_at(now, set)
            };
            self.sockets.set_due(handle, due);
            let was_closed = self.sockets.remove_closed(at);
            place = at + usize::from(!was_closed);
        }
        self.has_changed |= has_changed;
        if has_changed | core::mem::take(&mut self.has_given) {
            self.follow_listeners();
        }
        has_worked || has_changed
    }

    /// Whether a connection has another state than when this was called last. Resets one that was given
    /// back, has transmitted all, and receives bytes that nothing will read (RFC 2525, 2.17).
    fn follow(&mut self, handle: Handle) -> bool {
        let Some(socket) = self.sockets.connection(handle) else {
            return false;
        };
        let (state, has_bytes) = (socket.state(), socket.recv_queue() > 0);
        let Some(connection) = self.sockets.connection_mut(handle) else {
            return false;
        };
        let has_changed = core::mem::replace(&mut connection.seen, state) != state;
        if !connection.taken && state == tcp::State::FinWait2 && has_bytes {
            self.tcp_mut(handle).abort();
        }
        has_changed
    }

    /// How many connections there can be.
    #[must_use]
    pub const fn connections(&self) -> usize {
        self.sockets.connections.len()
    }

    /// Own address, once there is one.
    #[must_use]
    pub fn address(&self) -> Option<Ipv4Addr> {
        self.own.map(|own| own.address())
    }

    /// The own address from which a peer is reached: the loopback one of this host itself. `None` if
    /// there is no route.
    #[must_use]
    pub fn source(&self, peer: Ipv4Addr) -> Option<Ipv4Addr> {
        if peer.is_loopback() {
            return self.device.looped.is_used().then_some(peer);
        }
        let own = self.own?;
        let is_reached = self.has_gateway || own.contains_addr(&peer) || peer.is_broadcast();
        is_reached.then_some(own.address())
    }

    /// Whether an address is one of this host.
    #[must_use]
    pub fn is_own(&self, address: Ipv4Addr) -> bool {
        Some(address) == self.address()
            || address == Ipv4Addr::LOCALHOST && self.device.looped.is_used()
    }

    /// Numbers of frames and datagrams.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let [received, transmitted, dropped] = self.device.port.frames();
        Counters {
            received,
            transmitted,
            dropped: dropped + self.device.exhausted,
            lost: self.lost,
        }
    }

    /// The card.
    pub const fn port(&mut self) -> &mut P {
        &mut self.device.port
    }

    /// Takes a socket for datagrams to a port, of one own address or of all; zero for any free one.
    ///
    /// # Errors
    ///
    /// If the port or all sockets are in use.
    pub fn bind(&mut self, address: Ipv4Addr, port: u16) -> Result<(Handle, u16), Error> {
        if self.is_bound(port) {
            return Err(Error::PortInUse);
        }
        let port = match port {
            0 => self.ephemeral_port(|stack, port| !stack.is_bound(port)),
            port => port,
        };
        let handle = self.sockets.free_for_datagrams().ok_or(Error::NoSocket)?;
        let bound = self.udp(handle).bind(endpoint(address, port));
        bound.map_err(|_| Error::Address)?;
        self.sockets.mark(handle);
        Ok((handle, port))
    }

    /// The socket for datagrams with this handle. What is to be transmitted goes by [`send`](Self::send).
    pub fn udp(&mut self, handle: Handle) -> &mut udp::Socket<'static> {
        self.sockets.get_mut(handle)
    }

    /// Gives a datagram to a socket, to transmit it.
    ///
    /// # Errors
    ///
    /// If there is no room for it, or its receiver is no address of a host.
    pub fn send(
        &mut self,
        handle: Handle,
        datagram: &[u8],
        to: impl Into<UdpMetadata>,
    ) -> Result<(), SendError> {
        self.udp(handle).send_slice(datagram, to)?;
        self.sockets.mark(handle);
        Ok(())
    }

    /// The connection with this handle.
    #[must_use]
    pub fn tcp(&self, handle: Handle) -> &tcp::Socket<'static> {
        self.sockets.get(handle)
    }

    /// The connection with this handle, to change it: the next step transmits what it then has.
    pub fn tcp_mut(&mut self, handle: Handle) -> &mut tcp::Socket<'static> {
        self.sockets.mark(handle);
        self.sockets.get_mut(handle)
    }

    /// Takes a connection that is not in use, a completely closed one first.
    ///
    /// # Errors
    ///
    /// If all are in use.
    pub fn take_connection(&mut self) -> Result<Handle, Error> {
        let all = self.sockets.connections.iter().enumerate();
        let free = all.filter_map(|(index, connection)| {
            let handle = connection.handle?;
            let rank = rank(self.tcp(handle).state())?;
            (!connection.taken).then_some((rank, index, handle))
        });
        let (_, index, handle) = free.min_by_key(|free| free.0).ok_or(Error::NoSocket)?;
        self.sockets.connections[index].taken = true;
        self.sockets.set_owner(handle, NOTHING);
        let socket = self.tcp_mut(handle);
        socket.abort();
        socket.set_timeout(Some(PATIENCE));
        socket.set_keep_alive(Some(KEEP_ALIVE));
        socket.set_nagle_enabled(true);
        Ok(handle)
    }

    /// Gives a connection back, which may still have to transmit its end.
    pub fn give_connection(&mut self, handle: Handle) {
        if let Some(connection) = self.sockets.connection_mut(handle) {
            connection.taken = false;
            self.has_given = true;
            self.sockets.mark(handle);
        }
    }

    /// Has a connection wait for a peer, at a port of one own address or of all.
    ///
    /// # Errors
    ///
    /// If the port is zero, or the connection is in use.
    pub fn listen(&mut self, handle: Handle, address: Ipv4Addr, port: u16) -> Result<(), Error> {
        let listening = self.tcp_mut(handle).listen(endpoint(address, port));
        listening.map_err(|_| Error::Address)
    }

    /// Opens a connection to a peer, from a port or from any free one. Returns the own address.
    ///
    /// # Errors
    ///
    /// If there is no route to the peer, or it is no address of a host.
    pub fn connect(
        &mut self,
        handle: Handle,
        peer: SocketAddrV4,
        port: Option<u16>,
    ) -> Result<SocketAddrV4, Error> {
        let source = self.source(*peer.ip()).ok_or(Error::Address)?;
        let port = port.unwrap_or_else(|| self.free_port());
        self.sockets.mark(handle);
        let socket = self.sockets.get_mut::<tcp::Socket<'_>>(handle);
        let local = endpoint(source, port);
        let opened = socket.connect(self.interface.context(), crate::udp::endpoint(peer), local);
        opened.map_err(|_| Error::Address)?;
        Ok(SocketAddrV4::new(source, port))
    }

    /// A port that no connection has.
    pub fn free_port(&mut self) -> u16 {
        self.ephemeral_port(|stack, port| !stack.has_connection(port))
    }

    /// Whether connections wait for peers at a port.
    #[must_use]
    pub fn is_listening(&self, port: u16) -> bool {
        let mut all = self.sockets.open_connections();
        all.any(|(_, socket)| socket.is_listening() && socket.listen_endpoint().port == port)
    }

    /// Whether a connection has a port, or waits for peers at it.
    #[must_use]
    pub fn has_connection(&self, port: u16) -> bool {
        let mut all = self.sockets.open_connections();
        all.any(|(_, socket)| {
            let local = socket.local_endpoint().map(|local| local.port);
            let listens = socket.is_listening() && socket.listen_endpoint().port == port;
            listens || local == Some(port)
        })
    }

    /// A port for a socket without one.
    fn ephemeral_port(&mut self, is_free: impl Fn(&Self, u16) -> bool) -> u16 {
        // One more candidate than sockets that may have one.
        for _ in 0..=self.sockets.count() {
            self.ephemeral = (self.ephemeral + 1) % (u16::MAX - FIRST_EPHEMERAL);
            if is_free(self, FIRST_EPHEMERAL + self.ephemeral) {
                break;
            }
        }
        FIRST_EPHEMERAL + self.ephemeral
    }

    /// Whether a socket for datagrams has this port.
    fn is_bound(&self, port: u16) -> bool {
        self.sockets.bound(port).is_some()
    }

    /// Bytes in the receive buffer of a socket for datagrams.
    fn queued(&mut self, handle: Option<Handle>) -> usize {
        let known = handle.filter(|handle| self.sockets.is_for_datagrams(*handle));
        known.map_or(0, |handle| self.udp(handle).recv_queue())
    }

    /// Takes the address that a DHCP server assigned, or gives it back.
    fn follow_dhcp(&mut self) {
        let Some(handle) = self.sockets.dhcp else {
            return;
        };
        let event = self.sockets.get_mut::<dhcpv4::Socket<'_>>(handle).poll();
        let lease = match event {
            None => return,
            Some(dhcpv4::Event::Deconfigured) => None,
            Some(dhcpv4::Event::Configured(lease)) => Some((lease.address, lease.router)),
        };
        let (address, router) = lease.unzip();
        self.set_address(address, router.flatten());
    }

    fn set_address(&mut self, address: Option<Ipv4Cidr>, gateway: Option<Ipv4Addr>) {
        let address = address.filter(|address| is_host(address.address()));
        let loopback = Ipv4Cidr::new(Ipv4Addr::LOCALHOST, 8);
        let loopback = self.device.looped.is_used().then_some(loopback);
        self.own = address;
        self.device.looped.own = self.address();
        self.interface.update_ip_addrs(|addresses| {
            addresses.clear();
            for address in address.into_iter().chain(loopback) {
                // There is room for two.
                let _ = addresses.push(IpCidr::Ipv4(address));
            }
        });
        self.interface.routes_mut().remove_default_ipv4_route();
        let gateway = gateway.filter(|gateway| is_host(*gateway));
        self.has_gateway = gateway.is_some();
        if let Some(gateway) = gateway {
            // The table, empty now, has room.
            let _ = self.interface.routes_mut().add_default_ipv4_route(gateway);
        }
    }
}

/// A port of one own address, or of all for the unspecified one.
fn endpoint(address: Ipv4Addr, port: u16) -> IpListenEndpoint {
    let addr = (!address.is_unspecified()).then_some(IpAddress::Ipv4(address));
    IpListenEndpoint { addr, port }
}

/// Order in which connections that are given back are taken; `None` for those with data or an end to
/// transmit. A peer that never ends its half (FIN-WAIT-2) does not keep one.
const fn rank(state: tcp::State) -> Option<u8> {
    match state {
        tcp::State::Closed => Some(0),
        tcp::State::TimeWait => Some(1),
        tcp::State::FinWait2 => Some(2),
        _ => None,
    }
}

fn instant(nanoseconds: u64) -> Instant {
    Instant::from_micros((nanoseconds / 1000) as i64)
}
