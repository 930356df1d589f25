//! [`Sockets`]: all local sockets.

mod connection;
mod flight;
mod transfer;

use flight::Mark;
pub use transfer::{Received, Sending};

use crate::{BUFFER, NAME};
use core::time::Duration;
use flight::Passed;
use tenon_files::{Files, Ring, ready};
use tenon_frames::{Frames, PAGE, Table};
use tenon_program::Errno;

/// Sockets at a time.
const SOCKETS: u32 = 4096;
/// Names of sockets at a time.
const NAMES: u32 = 4096;
/// Bytes of a ring at most: twice what a buffer can have.
const RING: usize = 104 * PAGE;
/// None of a table.
pub(super) const NONE: u32 = u32::MAX;

/// The type of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes of a connection.
    Stream,
    /// Messages, each with its sender.
    Datagram,
    /// Messages of a connection.
    Packet,
}

/// What a socket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Neither connected nor listening.
    Fresh,
    /// It accepts connections.
    Listening,
    /// It has or had a peer.
    Connected,
}

/// A process with its user, as a receiver sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// The number of the process.
    pub process: u32,
    /// Its user.
    pub user: u32,
    /// Its group.
    pub group: u32,
}

impl Credentials {
    /// Of nothing: `nobody`.
    pub const NOBODY: Self = Self {
        process: 0,
        user: 65534,
        group: 65534,
    };
}

/// Where a name of a socket lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// In the file tree, by its inode.
    File(u32),
    /// In a space of names of its own.
    Abstract,
}

/// A name of a socket.
#[derive(Debug)]
pub struct Name {
    /// Where it lies.
    pub kind: NameKind,
    /// The socket that has it, until that is closed.
    socket: u32,
    /// The socket, and messages that state it as their sender.
    references: u32,
    length: u8,
    bytes: [u8; NAME],
}

impl Name {
    /// Its bytes, of `sun_path`.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// Options of a socket.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Credentials are received.
    pub pass_credentials: bool,
    /// Bytes that are sent and not received at most.
    pub send_buffer: u32,
    /// What `SO_RCVBUF` states.
    pub receive_buffer: u32,
    /// The longest wait to receive.
    pub receive_timeout: Option<Duration>,
    /// The longest wait to send.
    pub send_timeout: Option<Duration>,
}

/// A socket.
#[derive(Debug)]
pub struct Socket {
    /// Its type.
    pub kind: Kind,
    /// What it is.
    pub state: State,
    /// Its options.
    pub settings: Settings,
    /// The process that made the connection at the other end.
    pub peer_credentials: Credentials,
    own_credentials: Credentials,
    /// Its source of events, and the description that refers to it; none before it is accepted.
    source: u32,
    description: u32,
    peer: u32,
    /// The receiver that has no room for what it sends.
    waits_for: u32,
    name: u32,
    ring: Ring,
    /// Messages in the ring, of a socket that receives such.
    messages: u32,
    /// Bytes received so far: places of marks count from there.
    received: u64,
    first_mark: u32,
    last_mark: u32,
    /// Connections to accept: the first, the last, how many, and how many there can be.
    first_pending: u32,
    last_pending: u32,
    pending: u32,
    backlog: u32,
    next_pending: u32,
    ended_read: bool,
    ended_write: bool,
    error: Option<Errno>,
    /// The receiver of its datagrams is closed.
    refused: bool,
    /// References of its description that are in flight.
    in_flight: u32,
    reached: bool,
    next_reached: u32,
}

/// All local sockets.
#[derive(Debug)]
pub struct Sockets {
    table: Table<Socket>,
    names: Table<Name>,
    marks: Table<Mark>,
    passed: Table<Passed>,
    count: u32,
    name_count: u32,
    passed_count: u32,
    /// References to sockets in flight.
    sockets_in_flight: u32,
    /// References of closed sockets that are to be closed, and whether something does that.
    graveyard: u32,
    closing: bool,
}

impl Sockets {
    /// No socket.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            table: Table::new(SOCKETS),
            names: Table::new(NAMES),
            marks: Table::new(flight::MARKS),
            passed: Table::new(flight::PASSED),
            count: 0,
            name_count: 0,
            passed_count: 0,
            sockets_in_flight: 0,
            graveyard: NONE,
            closing: false,
        }
    }

    /// Creates a socket.
    pub fn create(
        &mut self,
        kind: Kind,
        credentials: Credentials,
        frames: &mut Frames,
    ) -> Result<u32, Errno> {
        let socket = Socket {
            kind,
            state: State::Fresh,
            settings: Settings {
                pass_credentials: false,
                send_buffer: BUFFER,
                receive_buffer: BUFFER,
                receive_timeout: None,
                send_timeout: None,
            },
            peer_credentials: Credentials::NOBODY,
            own_credentials: credentials,
            source: NONE,
            description: NONE,
            peer: NONE,
            waits_for: NONE,
            name: NONE,
            ring: Ring::new(RING),
            messages: 0,
            received: 0,
            first_mark: NONE,
            last_mark: NONE,
            first_pending: NONE,
            last_pending: NONE,
            pending: 0,
            backlog: 0,
            next_pending: NONE,
            ended_read: false,
            ended_write: false,
            error: None,
            refused: false,
            in_flight: 0,
            reached: false,
            next_reached: NONE,
        };
        let inserted = self.table.insert(socket, 0, frames);
        let number = inserted.map_err(|_| Errno::ENFILE)?;
        self.count += 1;
        Ok(number)
    }

    /// Connects two sockets that were created as a pair.
    pub fn pair(&mut self, one: u32, other: u32) {
        for (number, peer) in [(one, other), (other, one)] {
            let credentials = self.get(peer).map(|peer| peer.own_credentials);
            if let (Ok(socket), Ok(credentials)) = (self.get_mut(number), credentials) {
                socket.state = State::Connected;
                socket.peer = peer;
                socket.peer_credentials = credentials;
            }
        }
    }

    /// Notes the source of events and the description of a socket.
    pub fn set_description(&mut self, number: u32, source: u32, description: u32) {
        if let Ok(socket) = self.get_mut(number) {
            (socket.source, socket.description) = (source, description);
        }
    }

    /// The first number of a socket from one on.
    fn next(&self, from: u32) -> Option<u32> {
        self.table.numbers(from).next()
    }

    /// A socket.
    pub fn get(&self, number: u32) -> Result<&Socket, Errno> {
        self.table.get(number).ok_or(Errno::EBADF)
    }

    /// A socket, to change it.
    #[inline]
    pub fn get_mut(&mut self, number: u32) -> Result<&mut Socket, Errno> {
        self.table.get_mut(number).ok_or(Errno::EBADF)
    }

    /// The name of a socket, if it has one.
    #[must_use]
    pub fn name_of(&self, number: u32) -> Option<&Name> {
        self.name(self.table.get(number)?.name)
    }

    /// The name of a socket's peer. `ENOTCONN` without a peer.
    pub fn peer_name(&self, number: u32) -> Result<Option<&Name>, Errno> {
        match self.get(number)?.peer {
            NONE => Err(Errno::ENOTCONN),
            peer => Ok(self.name_of(peer)),
        }
    }

    /// A name.
    #[must_use]
    pub fn name(&self, name: u32) -> Option<&Name> {
        self.names.get(name)
    }

    /// A further reference to a name.
    fn share_name(&mut self, name: u32) -> u32 {
        if let Some(name) = self.names.get_mut(name) {
            name.references += 1;
        }
        name
    }

    /// Ends a reference to a name.
    pub fn release_name(&mut self, name: u32, frames: &mut Frames) {
        if let Some(found) = self.names.get_mut(name) {
            found.references -= 1;
            if found.references == 0 {
                self.names.remove(name, frames);
                self.name_count -= 1;
            }
        }
    }

    /// The error of a socket, which is forgotten (`SO_ERROR`).
    pub fn take_error(&mut self, number: u32) -> Option<Errno> {
        self.get_mut(number).ok()?.error.take()
    }

    /// Bytes that a read returns at once: all of a stream, of the first message else.
    pub fn available(&self, number: u32) -> Result<usize, Errno> {
        let socket = self.get(number)?;
        match (socket.state, socket.kind) {
            (State::Listening, _) => Err(Errno::EINVAL),
            (_, Kind::Stream) => Ok(socket.ring.len()),
            _ => Ok(socket.first_length().unwrap_or(0)),
        }
    }

    /// The events of a socket.
    #[must_use]
    pub fn events(&self, number: u32) -> u16 {
        let Ok(socket) = self.get(number) else {
            return 0;
        };
        let mut events = 0;
        let connection = socket.kind != Kind::Datagram;
        if socket.error.is_some() {
            events |= ready::ERROR;
        }
        if socket.ended_read && socket.ended_write || connection && socket.state == State::Fresh {
            events |= ready::HANGUP;
        }
        if socket.ended_read {
            events |= ready::PEER_HANGUP | ready::READABLE | ready::READABLE_NORMAL;
        }
        if !socket.ring.is_empty() || socket.pending > 0 {
            events |= ready::READABLE | ready::READABLE_NORMAL;
        }
        if self.is_writable(socket) {
            events |= ready::WRITABLE | ready::WRITABLE_NORMAL | ready::WRITABLE_BAND;
        }
        events
    }

    /// Whether a socket counts as writable: at most a quarter of its buffer is not received.
    fn is_writable(&self, socket: &Socket) -> bool {
        if socket.state == State::Listening {
            return false;
        }
        let Some(peer) = self.table.get(socket.peer) else {
            return true;
        };
        peer.has_room_from(socket)
    }

    /// Notes an event of a socket.
    fn notify(&self, number: u32, events: u16, files: &mut Files) {
        if let Ok(socket) = self.get(number) {
            files.notify(socket.source, events);
        }
    }

    /// Notes that a receiver has room again for those that send to it without being its peer.
    fn notify_senders(&self, receiver: u32, files: &mut Files) {
        let mut left = self.count;
        for number in self.table.numbers(0) {
            if left == 0 {
                break;
            }
            left -= 1;
            if let Some(socket) = self.table.get(number)
                && (socket.peer == receiver || socket.waits_for == receiver)
            {
                files.notify(socket.source, ready::WRITABLE);
            }
        }
    }
}

impl Default for Sockets {
    fn default() -> Self {
        Self::new()
    }
}
