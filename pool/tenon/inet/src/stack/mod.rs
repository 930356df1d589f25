//! The [`Stack`] of protocols, with its sockets.

mod listener;

use crate::buffers::{Room, Sockets, sockets};
use crate::device::{Device, Port};
use crate::settings::is_host;
use crate::{Error, Settings};
use core::net::{Ipv4Addr, SocketAddrV4};
use smoltcp::iface::{Config, Interface, PollIngressSingleResult, PollResult, SocketHandle};
use smoltcp::socket::{Socket, dhcpv4, tcp, udp};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{EthernetAddress, IpAddress, IpCidr, IpListenEndpoint, Ipv4Cidr};

/// First port of those for sockets without a port of their own (RFC 6335, 6).
const FIRST_EPHEMERAL: u16 = 49_152;

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
    /// A digest of the states of all connections.
    states: u64,
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
            states: 0,
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
        let queued = self.queued();
        let (device, set) = (&mut self.device, &mut self.sockets.set);
        let ingress = self.interface.poll_ingress_single(now, device, set);
        let has_received = !matches!(ingress, PollIngressSingleResult::None);
        if has_received && self.queued() == queued {
            let port = datagram_port(self.device.received());
            self.lost += u64::from(port.is_some_and(|port| self.is_bound(port)));
        }
        self.follow_dhcp();
        let (device, set) = (&mut self.device, &mut self.sockets.set);
        let egress = self.interface.poll_egress(now, device, set);
        self.follow_listeners();
        let states = self.follow();
        let has_changed = core::mem::replace(&mut self.states, states) != states;
        has_received || has_changed || matches!(egress, PollResult::SocketStateChanged)
    }

    /// Resets connections that were given back, have transmitted all, and receive bytes that nothing
    /// will read (RFC 2525, 2.17). Returns a digest of the states of all.
    fn follow(&mut self) -> u64 {
        let mut digest = 0u64;
        for connection in &*self.sockets.connections {
            let Some(handle) = connection.handle else {
                continue;
            };
            let socket = self.sockets.set.get_mut::<tcp::Socket<'_>>(handle);
            let is_over = !connection.taken && socket.state() == tcp::State::FinWait2;
            if is_over && socket.recv_queue() > 0 {
                socket.abort();
            }
            digest = digest.wrapping_mul(31).wrapping_add(socket.state() as u64);
        }
        digest
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
    pub fn bind(&mut self, address: Ipv4Addr, port: u16) -> Result<(SocketHandle, u16), Error> {
        if self.is_bound(port) {
            return Err(Error::PortInUse);
        }
        let port = match port {
            0 => self.ephemeral_port(|stack, port| !stack.is_bound(port)),
            port => port,
        };
        let free = |(handle, socket): (_, &Socket<'_>)| match socket {
            Socket::Udp(socket) => (!socket.is_open()).then_some(handle),
            _ => None,
        };
        let handle = self.sockets.set.iter().find_map(free);
        let handle = handle.ok_or(Error::NoSocket)?;
        let bound = self.udp(handle).bind(endpoint(address, port));
        bound.map_err(|_| Error::Address)?;
        Ok((handle, port))
    }

    /// The socket for datagrams with this handle.
    pub fn udp(&mut self, handle: SocketHandle) -> &mut udp::Socket<'static> {
        self.sockets.set.get_mut(handle)
    }

    /// The connection with this handle.
    pub fn tcp(&mut self, handle: SocketHandle) -> &mut tcp::Socket<'static> {
        self.sockets.set.get_mut(handle)
    }

    /// Takes a connection that is not in use, a completely closed one first.
    ///
    /// # Errors
    ///
    /// If all are in use.
    pub fn take_connection(&mut self) -> Result<SocketHandle, Error> {
        let all = self.sockets.connections.iter_mut();
        let free = all.filter_map(|connection| {
            let handle = connection.handle?;
            let rank = rank(self.sockets.set.get::<tcp::Socket<'_>>(handle).state())?;
            (!connection.taken).then_some((rank, connection, handle))
        });
        let (_, connection, handle) = free.min_by_key(|free| free.0).ok_or(Error::NoSocket)?;
        connection.taken = true;
        let socket = self.tcp(handle);
        socket.abort();
        socket.set_timeout(Some(PATIENCE));
        socket.set_keep_alive(Some(KEEP_ALIVE));
        socket.set_nagle_enabled(true);
        Ok(handle)
    }

    /// Gives a connection back, which may still have to transmit its end.
    pub fn give_connection(&mut self, handle: SocketHandle) {
        for connection in &mut *self.sockets.connections {
            connection.taken &= connection.handle != Some(handle);
        }
    }

    /// Has a connection wait for a peer, at a port of one own address or of all.
    ///
    /// # Errors
    ///
    /// If the port is zero, or the connection is in use.
    pub fn listen(
        &mut self,
        handle: SocketHandle,
        address: Ipv4Addr,
        port: u16,
    ) -> Result<(), Error> {
        let listening = self.tcp(handle).listen(endpoint(address, port));
        listening.map_err(|_| Error::Address)
    }

    /// Opens a connection to a peer, from a port or from any free one. Returns the own address.
    ///
    /// # Errors
    ///
    /// If there is no route to the peer, or it is no address of a host.
    pub fn connect(
        &mut self,
        handle: SocketHandle,
        peer: SocketAddrV4,
        port: Option<u16>,
    ) -> Result<SocketAddrV4, Error> {
        let source = self.source(*peer.ip()).ok_or(Error::Address)?;
        let port = port.unwrap_or_else(|| self.free_port());
        let socket = self.sockets.set.get_mut::<tcp::Socket<'_>>(handle);
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
        let mut sockets = self.sockets.set.iter();
        sockets.any(|(_, socket)| match socket {
            Socket::Tcp(socket) => socket.is_listening() && socket.listen_endpoint().port == port,
            _ => false,
        })
    }

    /// Whether a connection has a port, or waits for peers at it.
    #[must_use]
    pub fn has_connection(&self, port: u16) -> bool {
        let mut sockets = self.sockets.set.iter();
        sockets.any(|(_, socket)| match socket {
            Socket::Tcp(socket) => {
                let local = socket.local_endpoint().map(|local| local.port);
                let listens = socket.is_listening() && socket.listen_endpoint().port == port;
                listens || local == Some(port)
            }
            _ => false,
        })
    }

    /// A port for a socket without one.
    fn ephemeral_port(&mut self, is_free: impl Fn(&Self, u16) -> bool) -> u16 {
        // One more candidate than sockets that may have one.
        for _ in 0..=self.sockets.set.iter().count() {
            self.ephemeral = (self.ephemeral + 1) % (u16::MAX - FIRST_EPHEMERAL);
            if is_free(self, FIRST_EPHEMERAL + self.ephemeral) {
                break;
            }
        }
        FIRST_EPHEMERAL + self.ephemeral
    }

    /// Whether a socket for datagrams has this port.
    fn is_bound(&self, port: u16) -> bool {
        let mut sockets = self.sockets.set.iter();
        sockets.any(|(_, socket)| match socket {
            Socket::Udp(socket) => socket.is_open() && socket.endpoint().port == port,
            _ => false,
        })
    }

    /// Bytes in the receive buffers for datagrams.
    fn queued(&self) -> usize {
        let bytes = |(_, socket): (_, &Socket<'_>)| match socket {
            Socket::Udp(socket) => socket.recv_queue(),
            _ => 0,
        };
        self.sockets.set.iter().map(bytes).sum()
    }

    /// Takes the address that a DHCP server assigned, or gives it back.
    fn follow_dhcp(&mut self) {
        let Some(handle) = self.sockets.dhcp else {
            return;
        };
        let event = self
            .sockets
            .set
            .get_mut::<dhcpv4::Socket<'_>>(handle)
            .poll();
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

/// Port of a whole datagram of at least one byte in an Ethernet frame.
fn datagram_port(frame: &[u8]) -> Option<u16> {
    const IPV4: &[u8] = &[8, 0];
    const UDP: u8 = 17;
    let packet = frame.get(14..)?;
    let is_udp = frame.get(12..14)? == IPV4 && *packet.get(9)? == UDP;
    // Neither a later fragment nor one with more to come.
    let is_whole = *packet.get(6)? & 0x3f == 0 && *packet.get(7)? == 0;
    if !is_udp || !is_whole {
        return None;
    }
    let header = usize::from(*packet.first()? & 0xf) * 4;
    let [_, _, high, low, length @ ..] = packet.get(header..)?.first_chunk::<6>()?;
    (u16::from_be_bytes(*length) > 8).then_some(u16::from_be_bytes([*high, *low]))
}

fn instant(nanoseconds: u64) -> Instant {
    Instant::from_micros((nanoseconds / 1000) as i64)
}
