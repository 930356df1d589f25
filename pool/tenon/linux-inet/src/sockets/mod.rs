//! [`Sockets`]: all sockets of IPv4, over the connections and datagrams of the network stack.

mod connection;
mod transfer;

pub(crate) use transfer::Received;

use crate::settings::Options;
use smoltcp::socket::tcp;
use tenon_frames::Table;
use tenon_inet::{Handle, ImageStack, SocketAddrV4};
use tenon_process::{Errno, Files, Frames, ready};
use tenon_thread::time::{Duration, Instant};

/// Sockets at a time, of all processes.
const SOCKETS: u32 = 1024;
/// How long a closed socket keeps datagrams that it has not transmitted.
const LINGER: Duration = Duration::from_secs(2);
/// How long it takes at most until all sockets are looked at, while there is traffic.
const LOOK: Duration = Duration::from_millis(100);
/// A connection that ends later than this after its begin has ended by itself, not by its peer.
const PATIENCE: Duration = Duration::from_secs(25);

/// What a socket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Neither connected nor listening.
    Fresh,
    /// It accepts connections.
    Listening,
    /// It has asked a peer for a connection, at a time.
    Connecting(Instant),
    /// It has a peer; one of datagrams, a receiver.
    Connected,
    /// Its connection was refused.
    Refused,
    /// Its connection has ended.
    Ended,
    /// It is closed, and has datagrams to transmit until a time.
    Closed(Instant),
}

/// A socket.
#[derive(Debug)]
pub(crate) struct Socket {
    /// It is one of a connection, else of datagrams.
    pub(crate) stream: bool,
    pub(crate) state: State,
    /// The address that it is bound to.
    pub(crate) local: Option<SocketAddrV4>,
    pub(crate) peer: Option<SocketAddrV4>,
    /// The host of `local` is that from which the peer is reached, and goes with it.
    chosen: bool,
    pub(crate) options: Options,
    error: Option<Errno>,
    /// Its source of events.
    source: u32,
    handle: Option<Handle>,
    /// Connections of a listener that can wait to be accepted.
    backlog: usize,
    ended_read: bool,
    ended_write: bool,
    /// The peer has ended its half.
    has_end: bool,
    /// A sender waits for room.
    wants_room: bool,
    /// The events and the bytes to receive that were told last.
    told: (u16, usize),
}

/// All sockets of IPv4.
#[derive(Debug)]
pub(crate) struct Sockets {
    table: Table<Socket>,
    /// When all were looked at last.
    looked: Option<Instant>,
}

impl Sockets {
    /// No socket.
    pub(crate) const fn new() -> Self {
        Self {
            table: Table::new(SOCKETS),
            looked: None,
        }
    }

    /// Creates a socket.
    pub(crate) fn create(&mut self, stream: bool, frames: &mut Frames) -> Result<u32, Errno> {
        let socket = Socket {
            stream,
            state: State::Fresh,
            local: None,
            peer: None,
            chosen: false,
            options: Options::new(stream),
            error: None,
            source: u32::MAX,
            handle: None,
            backlog: 0,
            ended_read: false,
            ended_write: false,
            has_end: false,
            wants_room: false,
            told: (0, 0),
        };
        let inserted = self.table.insert(socket, 0, frames);
        inserted.map_err(|_| Errno::ENFILE)
    }

    /// Notes the source of events of a socket.
    pub(crate) fn set_source(&mut self, number: u32, source: u32) {
        if let Ok(socket) = self.get_mut(number) {
            socket.source = source;
        }
    }

    /// A socket.
    pub(crate) fn get(&self, number: u32) -> Result<&Socket, Errno> {
        self.table.get(number).ok_or(Errno::EBADF)
    }

    /// A socket, to change it.
    pub(crate) fn get_mut(&mut self, number: u32) -> Result<&mut Socket, Errno> {
        self.table.get_mut(number).ok_or(Errno::EBADF)
    }

    /// A socket that is up to date with its connection.
    fn fresh(&mut self, number: u32, stack: &mut ImageStack) -> Result<&mut Socket, Errno> {
        let socket = self.get_mut(number)?;
        socket.refresh(number, stack);
        Ok(socket)
    }

    /// The error of a socket, which is forgotten (`SO_ERROR`).
    pub(crate) fn take_error(&mut self, number: u32, stack: &mut ImageStack) -> Option<Errno> {
        self.fresh(number, stack).ok()?.error.take()
    }

    /// The events of a socket.
    pub(crate) fn events(&mut self, number: u32, stack: &mut ImageStack) -> u16 {
        let socket = self.fresh(number, stack);
        socket.map_or(0, |socket| socket.events(number, stack))
    }

    /// Bytes that can be received at once: of a connection, or of the first datagram.
    pub(crate) fn available(
        &mut self,
        number: u32,
        stack: &mut ImageStack,
    ) -> Result<usize, Errno> {
        let socket = self.fresh(number, stack)?;
        if socket.state == State::Listening {
            return Err(Errno::EINVAL);
        }
        Ok(socket.receivable(stack))
    }

    /// States the events of sockets that have received or transmitted; of all after a connection has
    /// had another state, or after some time: listeners then wait for further peers, and closed sockets
    /// are removed that have transmitted their last datagrams.
    pub(crate) fn look(&mut self, stack: &mut ImageStack, files: &mut Files, frames: &mut Frames) {
        let now = Instant::now();
        let all = stack.take_change() || self.looked.is_none_or(|looked| now >= looked + LOOK);
        let mut place = 0;
        while let Some((next, number)) = stack.next_news(place) {
            place = next;
            if !all {
                self.look_at(number, stack, files, frames);
            }
        }
        if all {
            self.looked = Some(now);
            let mut next = self.table.next(0);
            while let Some(number) = next {
                next = self.table.next(number + 1);
                self.look_at(number, stack, files, frames);
            }
        }
    }

    fn look_at(
        &mut self,
        number: u32,
        stack: &mut ImageStack,
        files: &mut Files,
        frames: &mut Frames,
    ) {
        let Some(socket) = self.table.get_mut(number) else {
            return;
        };
        socket.refresh(number, stack);
        if let State::Closed(end) = socket.state {
            let sent = socket
                .handle
                .is_none_or(|at| stack.udp(at).send_queue() == 0);
            if sent || Instant::now() >= end {
                self.remove(number, stack, frames);
            }
            return;
        }
        let news = socket.news(number, stack);
        if news != 0 {
            files.notify(socket.source, news);
        }
    }

    /// Removes a closed socket of datagrams.
    fn remove(&mut self, number: u32, stack: &mut ImageStack, frames: &mut Frames) {
        if let Some(socket) = self.table.remove(number, frames)
            && let Some(handle) = socket.handle
        {
            stack.udp(handle).close();
        }
    }
}

impl Socket {
    /// Follows the state of the connection.
    fn refresh(&mut self, number: u32, stack: &mut ImageStack) {
        if self.state == State::Listening {
            // While all connections are in use, it waits for none.
            let _ = self.queue(number, stack);
            return;
        }
        let Some(handle) = self.handle.filter(|_| self.stream) else {
            return;
        };
        let state = stack.tcp(handle).state();
        match self.state {
            State::Connecting(begin) => match state {
                tcp::State::SynSent | tcp::State::SynReceived => {}
                tcp::State::Closed => {
                    stack.give_connection(handle);
                    (self.handle, self.peer, self.state) = (None, None, State::Refused);
                    self.error = Some(if Instant::now() < begin + PATIENCE {
                        Errno::ECONNREFUSED
                    } else {
                        Errno::ETIMEDOUT
                    });
                }
                _ => self.state = State::Connected,
            },
            State::Connected => {
                self.has_end |= matches!(
                    state,
                    tcp::State::CloseWait
                        | tcp::State::LastAck
                        | tcp::State::Closing
                        | tcp::State::TimeWait
                );
                if state == tcp::State::Closed {
                    self.state = State::Ended;
                    self.error = match (self.has_end, self.ended_write) {
                        (true, true) => self.error,
                        (true, false) => Some(Errno::EPIPE),
                        (false, _) => Some(Errno::ECONNRESET),
                    };
                }
            }
            _ => {}
        }
    }

    /// Bytes that can be received at once.
    fn receivable(&mut self, stack: &mut ImageStack) -> usize {
        match self.handle {
            Some(handle) if self.stream => stack.tcp(handle).recv_queue(),
            Some(handle) => self.first_length(stack, handle).unwrap_or(0),
            None => 0,
        }
    }

    /// The events that it has.
    fn events(&mut self, number: u32, stack: &mut ImageStack) -> u16 {
        const READABLE: u16 = ready::READABLE | ready::READABLE_NORMAL;
        const WRITABLE: u16 = ready::WRITABLE | ready::WRITABLE_NORMAL;
        const END: u16 = READABLE | ready::PEER_HANGUP;
        let mut events = 0;
        if self.error.is_some() {
            events |= ready::ERROR;
        }
        if !self.stream {
            if self.ended_read {
                events |= END;
            }
            if self.ended_read && self.ended_write {
                events |= ready::HANGUP;
            }
            let has_first = match self.handle {
                Some(handle) => self.first_length(stack, handle).is_some(),
                None => false,
            };
            if has_first {
                events |= READABLE;
            }
            if self.handle.is_none_or(|at| stack.udp(at).can_send()) {
                events |= WRITABLE | ready::WRITABLE_BAND;
            }
            return events;
        }
        match self.state {
            State::Fresh => return events | WRITABLE | ready::HANGUP,
            State::Refused => return events | END | WRITABLE | ready::HANGUP,
            State::Listening if stack.acceptable(number).is_some() => return events | READABLE,
            State::Listening | State::Connecting(_) | State::Closed(_) => return events,
            State::Connected | State::Ended => {}
        }
        let is_ended = self.state == State::Ended;
        if self.has_end || self.ended_read || is_ended {
            events |= END;
        }
        if is_ended || self.ended_write && (self.has_end || self.ended_read) {
            events |= ready::HANGUP;
        }
        if let Some(handle) = self.handle {
            let connection = stack.tcp(handle);
            let most = connection.send_capacity();
            if connection.recv_queue() > 0 {
                events |= READABLE;
            }
            if self.ended_write || is_ended || connection.send_queue() * 3 <= most * 2 {
                events |= WRITABLE;
            }
        }
        events
    }

    /// Events that have come since they were told last.
    fn news(&mut self, number: u32, stack: &mut ImageStack) -> u16 {
        let (events, count) = (self.events(number, stack), self.receivable(stack));
        let (before, less) = core::mem::replace(&mut self.told, (events, count));
        let mut news = events & !before;
        if count > less {
            news |= events & (ready::READABLE | ready::READABLE_NORMAL);
        }
        if self.state == State::Listening {
            news |= events;
        }
        if self.wants_room && events & ready::WRITABLE != 0 {
            self.wants_room = false;
            news |= ready::WRITABLE | ready::WRITABLE_NORMAL;
        }
        news
    }

    /// Notes what is no longer there after a transfer, so that it is told when it comes again.
    fn note(&mut self, number: u32, stack: &mut ImageStack) {
        let (events, count) = (self.events(number, stack), self.receivable(stack));
        self.told = (self.told.0 & events, self.told.1.min(count));
    }
}
