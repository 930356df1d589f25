//! Static memory of the sockets.

use crate::FRAME;
use smoltcp::iface::{SocketHandle, SocketSet, SocketStorage};
use smoltcp::socket::{dhcpv4, tcp, udp};
use smoltcp::storage::{PacketBuffer, PacketMetadata, RingBuffer};
use spin::Once;
use spin::mutex::{SpinMutex, SpinMutexGuard};

/// Sockets for datagrams.
pub const UDP_SOCKETS: usize = 4;

/// Sockets for connections.
pub const TCP_SOCKETS: usize = 4;

/// Bytes of a socket in each direction.
pub const BUFFER: usize = 4096;

/// Datagrams of a socket in each direction.
const DATAGRAMS: usize = 8;

/// Sockets in the set: those of applications, and that of the DHCP client.
const SOCKETS: usize = UDP_SOCKETS + TCP_SOCKETS + 1;

type Datagram = PacketMetadata<udp::UdpMetadata>;

/// Bytes of all sockets. All are zero at first, so that they take no room in an image.
#[derive(Debug)]
pub struct Memory {
    frames: [[u8; FRAME]; 2],
    udp: [[[u8; BUFFER]; 2]; UDP_SOCKETS],
    tcp: [[[u8; BUFFER]; 2]; TCP_SOCKETS],
}

impl Memory {
    /// Memory of one stack.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            frames: [[0; FRAME]; 2],
            udp: [[[0; BUFFER]; 2]; UDP_SOCKETS],
            tcp: [[[0; BUFFER]; 2]; TCP_SOCKETS],
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

/// Tables of all sockets, which are not zero when empty.
#[derive(Debug)]
pub struct Tables {
    sockets: [SocketStorage<'static>; SOCKETS],
    datagrams: [[[Datagram; DATAGRAMS]; 2]; UDP_SOCKETS],
}

impl Tables {
    /// Tables of one stack.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            sockets: [const { SocketStorage::EMPTY }; SOCKETS],
            datagrams: [[[Datagram::EMPTY; DATAGRAMS]; 2]; UDP_SOCKETS],
        }
    }
}

impl Default for Tables {
    fn default() -> Self {
        Self::new()
    }
}

/// Memory and tables of the image's stack; `None` if they are taken.
pub(crate) fn take() -> Option<(&'static mut Memory, &'static mut Tables)> {
    static MEMORY: SpinMutex<Memory> = SpinMutex::new(Memory::new());
    // Initialised at the start, so that these take no room in the image either.
    static TABLES: Once<SpinMutex<Tables>> = Once::new();
    let tables = TABLES.call_once(|| SpinMutex::new(Tables::new()));
    let (memory, tables) = (MEMORY.try_lock()?, tables.try_lock()?);
    Some((SpinMutexGuard::leak(memory), SpinMutexGuard::leak(tables)))
}

/// The sockets of a stack, by their handles.
pub(crate) struct Sockets {
    pub(crate) set: SocketSet<'static>,
    pub(crate) udp: [SocketHandle; UDP_SOCKETS],
    pub(crate) tcp: [SocketHandle; TCP_SOCKETS],
    pub(crate) dhcp: Option<SocketHandle>,
}

/// Buffers for the frames that are processed: the received one, and the one that is built.
pub(crate) type Frames = [&'static mut [u8; FRAME]; 2];

/// Makes the sockets of a stack.
pub(crate) fn sockets(
    memory: &'static mut Memory,
    tables: &'static mut Tables,
    with_dhcp: bool,
) -> (Sockets, Frames) {
    let mut set = SocketSet::new(&mut tables.sockets[..]);
    let mut udp = [SocketHandle::default(); UDP_SOCKETS];
    let places = memory.udp.iter_mut().zip(&mut tables.datagrams);
    for (handle, ([in_bytes, out_bytes], [in_table, out_table])) in udp.iter_mut().zip(places) {
        *handle = set.add(udp::Socket::new(
            PacketBuffer::new(&mut in_table[..], &mut in_bytes[..]),
            PacketBuffer::new(&mut out_table[..], &mut out_bytes[..]),
        ));
    }
    let mut tcp = [SocketHandle::default(); TCP_SOCKETS];
    for (handle, [in_bytes, out_bytes]) in tcp.iter_mut().zip(&mut memory.tcp) {
        *handle = set.add(tcp::Socket::new(
            RingBuffer::new(&mut in_bytes[..]),
            RingBuffer::new(&mut out_bytes[..]),
        ));
    }
    let dhcp = with_dhcp.then(|| set.add(dhcpv4::Socket::new()));
    let sockets = Sockets {
        set,
        udp,
        tcp,
        dhcp,
    };
    (sockets, memory.frames.each_mut())
}
