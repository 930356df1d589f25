//! Static memory of the sockets.

use crate::FRAME;
use crate::looped::Slot;
use crate::sockets::{Connection, Handle, Member, Sockets};
use smoltcp::iface::SocketStorage;
use smoltcp::socket::{dhcpv4, tcp, udp};
use smoltcp::storage::{PacketBuffer, PacketMetadata, RingBuffer};
use spin::mutex::{SpinMutex, SpinMutexGuard};

/// Sockets for datagrams of an image that states no other number.
pub const UDP_SOCKETS: usize = 4;

/// Sockets for connections of an image that states no other number.
pub const TCP_SOCKETS: usize = 4;

/// Bytes of a socket in each direction, in an image that states no other number.
pub const BUFFER: usize = 4096;

/// Datagrams of a socket in each direction.
const DATAGRAMS: usize = 8;

type Datagram = PacketMetadata<udp::UdpMetadata>;

/// Buffers of all sockets: `BYTES` of these, and `LOOPED` frames on their way to this host itself. All
/// are zero at first, so that they take no room in an image.
#[derive(Debug)]
pub struct Memory<const BYTES: usize, const LOOPED: usize>(SpinMutex<Buffers<BYTES, LOOPED>>);

#[derive(Debug)]
struct Buffers<const BYTES: usize, const LOOPED: usize> {
    frames: [[u8; FRAME]; 2],
    looped: [Slot; LOOPED],
    bytes: [u8; BYTES],
}

impl<const BYTES: usize, const LOOPED: usize> Memory<BYTES, LOOPED> {
    /// Buffers that no stack has.
    #[must_use]
    pub const fn new() -> Self {
        Self(SpinMutex::new(Buffers {
            frames: [[0; FRAME]; 2],
            looped: [const { Slot::new() }; LOOPED],
            bytes: [0; BYTES],
        }))
    }
}

impl<const BYTES: usize, const LOOPED: usize> Default for Memory<BYTES, LOOPED> {
    fn default() -> Self {
        Self::new()
    }
}

/// Tables of all sockets, which are not zero when empty: `SOCKETS` with that of the DHCP client, `LISTS`
/// of datagrams, two for each socket of such, and `TCP` connections.
#[derive(Debug)]
pub struct Tables<const SOCKETS: usize, const LISTS: usize, const TCP: usize>(
    SpinMutex<Lists<SOCKETS, LISTS, TCP>>,
);

#[derive(Debug)]
struct Lists<const SOCKETS: usize, const LISTS: usize, const TCP: usize> {
    storage: [SocketStorage<'static>; SOCKETS],
    members: [Option<Member>; SOCKETS],
    active: [Handle; SOCKETS],
    datagrams: [[Datagram; DATAGRAMS]; LISTS],
    connections: [Connection; TCP],
}

impl<const SOCKETS: usize, const LISTS: usize, const TCP: usize> Tables<SOCKETS, LISTS, TCP> {
    /// Tables that no stack has.
    #[must_use]
    pub const fn new() -> Self {
        assert!(
            LISTS.is_multiple_of(2) && SOCKETS == LISTS / 2 + TCP + 1,
            "one place is that of the DHCP client"
        );
        Self(SpinMutex::new(Lists {
            storage: [const { SocketStorage::EMPTY }; SOCKETS],
            members: [const { None }; SOCKETS],
            active: [Handle::FIRST; SOCKETS],
            datagrams: [[Datagram::EMPTY; DATAGRAMS]; LISTS],
            connections: [Connection::NONE; TCP],
        }))
    }
}

impl<const SOCKETS: usize, const LISTS: usize, const TCP: usize> Default
    for Tables<SOCKETS, LISTS, TCP>
{
    fn default() -> Self {
        Self::new()
    }
}

/// Buffers of an image that states no numbers of its own.
pub type SmallMemory = Memory<{ 2 * (UDP_SOCKETS + TCP_SOCKETS) * BUFFER }, 0>;

/// Tables of an image that states no numbers of its own.
pub type SmallTables = Tables<{ UDP_SOCKETS + TCP_SOCKETS + 1 }, { 2 * UDP_SOCKETS }, TCP_SOCKETS>;

/// Memory of a stack, whatever its size.
pub trait Place: Sync {
    /// Takes the memory; `None` if a stack has it.
    fn take(&self) -> Option<Room>;
}

impl<
    const BYTES: usize,
    const LOOPED: usize,
    const SOCKETS: usize,
    const LISTS: usize,
    const TCP: usize,
> Place
    for (
        &'static Memory<BYTES, LOOPED>,
        &'static Tables<SOCKETS, LISTS, TCP>,
    )
{
    fn take(&self) -> Option<Room> {
        let (memory, tables) = (self.0.0.try_lock()?, self.1.0.try_lock()?);
        let (memory, tables) = (SpinMutexGuard::leak(memory), SpinMutexGuard::leak(tables));
        Some(Room {
            frames: memory.frames.each_mut(),
            looped: &mut memory.looped,
            bytes: &mut memory.bytes,
            storage: &mut tables.storage,
            members: &mut tables.members,
            active: &mut tables.active,
            datagrams: &mut tables.datagrams,
            connections: &mut tables.connections,
        })
    }
}

/// Memory that one stack has.
#[derive(Debug)]
pub struct Room {
    pub(crate) frames: Frames,
    pub(crate) looped: &'static mut [Slot],
    bytes: &'static mut [u8],
    storage: &'static mut [SocketStorage<'static>],
    members: &'static mut [Option<Member>],
    active: &'static mut [Handle],
    datagrams: &'static mut [[Datagram; DATAGRAMS]],
    connections: &'static mut [Connection],
}

/// Buffers for the frames that are processed: the received one, and the one that is built.
pub(crate) type Frames = [&'static mut [u8; FRAME]; 2];

/// Makes the sockets of a stack: those for datagrams, those for connections, the DHCP client.
pub(crate) fn sockets(room: Room, with_dhcp: bool) -> (Sockets, Frames, &'static mut [Slot]) {
    let mut sockets = Sockets::new(room.members, room.active, room.connections);
    let mut storage = room.storage.chunks_exact_mut(1);
    let buffers = room.datagrams.len() + 2 * sockets.connections.len();
    let mut bytes = room
        .bytes
        .chunks_exact_mut(room.bytes.len() / buffers.max(1));
    let mut lists = room.datagrams.iter_mut();
    while let (Some(received), Some(sent)) = (lists.next(), lists.next())
        && let (Some(receive), Some(send)) = (bytes.next(), bytes.next())
        && let Some(place) = storage.next()
    {
        let receive = PacketBuffer::new(&mut received[..], receive);
        let send = PacketBuffer::new(&mut sent[..], send);
        sockets.add(place, udp::Socket::new(receive, send));
        sockets.datagrams += 1;
    }
    for index in 0..sockets.connections.len() {
        if let (Some(receive), Some(send)) = (bytes.next(), bytes.next())
            && let Some(place) = storage.next()
        {
            let (receive, send) = (RingBuffer::new(receive), RingBuffer::new(send));
            let handle = sockets.add(place, tcp::Socket::new(receive, send));
            sockets.connections[index].handle = handle;
        }
    }
    if with_dhcp && let Some(place) = storage.next() {
        sockets.dhcp = sockets.add(place, dhcpv4::Socket::new());
        if let Some(handle) = sockets.dhcp {
            sockets.mark(handle);
        }
    }
    (sockets, room.frames, room.looped)
}
