//! The [`Stack`] of protocols, with its sockets.

use crate::buffers::{Memory, Sockets, TCP_SOCKETS, Tables, sockets};
use crate::device::{Device, Port};
use crate::settings::is_host;
use crate::{Error, Settings};
use core::net::Ipv4Addr;
use smoltcp::iface::{Config, Interface, PollIngressSingleResult, PollResult, SocketHandle};
use smoltcp::socket::{dhcpv4, tcp, udp};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{EthernetAddress, IpCidr, Ipv4Cidr};

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
    /// Connections that a listener or stream has.
    taken: [bool; TCP_SOCKETS],
    ephemeral: u16,
    lost: u64,
}

impl<P: Port> Stack<P> {
    /// A stack over a card, at a time in nanoseconds, in memory of its own.
    #[must_use]
    pub fn new(
        port: P,
        settings: &Settings,
        now_ns: u64,
        (memory, tables): (&'static mut Memory, &'static mut Tables),
    ) -> Self {
        let mut config = Config::new(EthernetAddress(port.mac()).into());
        config.random_seed = now_ns;
        let (sockets, frames) = sockets(memory, tables, settings.address.is_none());
        let mut device = Device::new(port, frames);
        let interface = Interface::new(config, &mut device, instant(now_ns));
        let mut stack = Self {
            device,
            interface,
            sockets,
            taken: [false; TCP_SOCKETS],
            ephemeral: 0,
            lost: 0,
        };
        if let Some((address, prefix)) = settings.address {
            stack.set_address(Some(Ipv4Cidr::new(address, prefix)), settings.gateway);
        }
        stack
    }

    /// Processes one received frame if there is one, and transmits at most one frame of each
    /// socket. Returns whether anything was done.
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
        has_received || matches!(egress, PollResult::SocketStateChanged)
    }

    /// Own address, once there is one.
    #[must_use]
    pub fn address(&self) -> Option<Ipv4Addr> {
        self.interface.ipv4_addr()
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

    /// Takes a socket for datagrams to a port; zero for any free one.
    pub(crate) fn bind(&mut self, port: u16) -> Result<(SocketHandle, u16), Error> {
        if self.is_bound(port) {
            return Err(Error::PortInUse);
        }
        let port = match port {
            0 => self.ephemeral_port(|stack, port| !stack.is_bound(port)),
            port => port,
        };
        let handles = self.sockets.udp;
        let free = handles
            .into_iter()
            .find(|handle| !self.udp(*handle).is_open());
        let handle = free.ok_or(Error::NoSocket)?;
        let bound = self.udp(handle).bind(port);
        bound.map_err(|_| Error::Address)?;
        Ok((handle, port))
    }

    /// The socket for datagrams with this handle.
    pub(crate) fn udp(&mut self, handle: SocketHandle) -> &mut udp::Socket<'static> {
        self.sockets.set.get_mut(handle)
    }

    /// The connection with this handle.
    pub(crate) fn tcp(&mut self, handle: SocketHandle) -> &mut tcp::Socket<'static> {
        self.sockets.set.get_mut(handle)
    }

    /// Takes a connection that is not in use, a completely closed one first.
    pub(crate) fn take_connection(&mut self) -> Result<SocketHandle, Error> {
        let all = self.taken.iter_mut().zip(self.sockets.tcp);
        let free = all.filter_map(|(taken, handle)| {
            let rank = rank(self.sockets.set.get::<tcp::Socket<'_>>(handle).state())?;
            (!*taken).then_some((rank, taken, handle))
        });
        let (_, taken, handle) = free.min_by_key(|free| free.0).ok_or(Error::NoSocket)?;
        *taken = true;
        let socket = self.tcp(handle);
        socket.abort();
        socket.set_timeout(Some(PATIENCE));
        socket.set_keep_alive(Some(KEEP_ALIVE));
        Ok(handle)
    }

    /// Gives a connection back, which may still have to transmit its end.
    pub(crate) fn give_connection(&mut self, handle: SocketHandle) {
        for (taken, own) in self.taken.iter_mut().zip(self.sockets.tcp) {
            *taken &= own != handle;
        }
    }

    /// Opens a connection to a peer.
    pub(crate) fn connect(
        &mut self,
        handle: SocketHandle,
        peer: core::net::SocketAddrV4,
    ) -> Result<(), Error> {
        let port = self.ephemeral_port(|_, _| true);
        let socket = self.sockets.set.get_mut::<tcp::Socket<'_>>(handle);
        let opened = socket.connect(self.interface.context(), crate::udp::endpoint(peer), port);
        opened.map_err(|_| Error::Address)
    }

    /// A port for a socket without one.
    fn ephemeral_port(&mut self, is_free: impl Fn(&Self, u16) -> bool) -> u16 {
        // One more candidate than sockets that may have one.
        for _ in 0..=self.sockets.udp.len() {
            self.ephemeral = (self.ephemeral + 1) % (u16::MAX - FIRST_EPHEMERAL);
            if is_free(self, FIRST_EPHEMERAL + self.ephemeral) {
                break;
            }
        }
        FIRST_EPHEMERAL + self.ephemeral
    }

    /// Whether a socket for datagrams has this port.
    fn is_bound(&self, port: u16) -> bool {
        let has_port =
            |socket: &udp::Socket<'_>| socket.is_open() && socket.endpoint().port == port;
        let mut sockets = self.sockets.udp.iter();
        sockets.any(|handle| has_port(self.sockets.set.get(*handle)))
    }

    /// Bytes in the receive buffers for datagrams.
    fn queued(&self) -> usize {
        let bytes = |handle| self.sockets.set.get::<udp::Socket<'_>>(handle).recv_queue();
        self.sockets.udp.into_iter().map(bytes).sum()
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
        self.interface.update_ip_addrs(|addresses| {
            addresses.clear();
            // There is room for two.
            let _ = address.map(|address| addresses.push(IpCidr::Ipv4(address)));
        });
        self.interface.routes_mut().remove_default_ipv4_route();
        if let Some(gateway) = gateway.filter(|gateway| is_host(*gateway)) {
            // The table, empty now, has room.
            let _ = self.interface.routes_mut().add_default_ipv4_route(gateway);
        }
    }
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
