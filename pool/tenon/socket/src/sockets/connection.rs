//! [`Sockets`] with names and connections: `bind`, `listen`, `connect`, `accept`, `shutdown`, close.

use super::{Credentials, Kind, NONE, Name, NameKind, Sockets, State};
use crate::NAME;
use tenon_files::{Files, Side, ready};
use tenon_frames::Frames;
use tenon_program::Errno;

impl Sockets {
    /// The socket that has a name.
    #[must_use]
    pub fn find(&self, kind: NameKind, bytes: &[u8]) -> Option<u32> {
        let mut left = self.name_count;
        for number in self.names.numbers(0) {
            if left == 0 {
                break;
            }
            left -= 1;
            let name = self.names.get(number)?;
            let same = name.kind == kind && (kind != NameKind::Abstract || name.bytes() == bytes);
            if same && name.socket != NONE {
                return Some(name.socket);
            }
        }
        None
    }

    /// Fails if a socket cannot be given a name.
    pub fn check_unnamed(&self, number: u32) -> Result<(), Errno> {
        let unnamed = self.get(number)?.name == NONE;
        unnamed.then_some(()).ok_or(Errno::EINVAL)
    }

    /// Gives a socket a name, which no other one has. It holds the inode of a name in the file tree.
    pub fn bind(
        &mut self,
        number: u32,
        kind: NameKind,
        bytes: &[u8],
        (files, frames): (&mut Files, &mut Frames),
    ) -> Result<(), Errno> {
        self.check_unnamed(number)?;
        if self.find(kind, bytes).is_some() {
            return Err(Errno::EADDRINUSE);
        }
        let mut name = Name {
            kind,
            socket: number,
            references: 1,
            length: 0,
            bytes: [0; NAME],
        };
        let place = name.bytes.get_mut(..bytes.len()).ok_or(Errno::EINVAL)?;
        place.copy_from_slice(bytes);
        name.length = bytes.len() as u8;
        let inserted = self.names.insert(name, 0, frames);
        let name = inserted.map_err(|_| Errno::ENOMEM)?;
        self.name_count += 1;
        if let NameKind::File(inode) = kind {
            files.tree.files.hold(inode);
        }
        self.get_mut(number)?.name = name;
        Ok(())
    }

    /// Has a socket accept connections, for which so many can wait.
    pub fn listen(
        &mut self,
        number: u32,
        backlog: i32,
        credentials: Credentials,
        files: &mut Files,
    ) -> Result<(), Errno> {
        /// As Linux has it by default.
        const MOST: i32 = 4096;
        let socket = self.get_mut(number)?;
        if socket.kind == Kind::Datagram {
            return Err(Errno::EOPNOTSUPP);
        }
        if socket.name == NONE || socket.state == State::Connected {
            return Err(Errno::EINVAL);
        }
        socket.state = State::Listening;
        socket.backlog = if backlog < 0 { MOST } else { backlog.min(MOST) } as u32;
        socket.own_credentials = credentials;
        self.notify_senders(number, files);
        Ok(())
    }

    /// Connects a socket to one that listens, or has a socket of datagrams send to another one.
    /// `None` if there is no room for a connection.
    pub fn connect(
        &mut self,
        number: u32,
        target: u32,
        credentials: Credentials,
        (files, frames): (&mut Files, &mut Frames),
    ) -> Result<Option<()>, Errno> {
        let socket = self.get(number)?;
        let other = self.get(target)?;
        if socket.kind == Kind::Datagram {
            if other.kind != Kind::Datagram {
                return Err(Errno::EPROTOTYPE);
            }
            if other.peer != NONE && other.peer != number {
                return Err(Errno::EPERM);
            }
            return self.set_target(number, Some(target), files).map(Some);
        }
        if other.kind != socket.kind {
            return Err(Errno::EPROTOTYPE);
        }
        if other.state != State::Listening || other.ended_read {
            return Err(Errno::ECONNREFUSED);
        }
        if other.pending > other.backlog {
            self.get_mut(number)?.waits_for = target;
            return Ok(None);
        }
        match socket.state {
            State::Connected => return Err(Errno::EISCONN),
            State::Listening => return Err(Errno::EINVAL),
            State::Fresh => {}
        }
        let (kind, own, name) = (other.kind, other.own_credentials, other.name);
        let accepted = self.create(kind, own, frames)?;
        let name = self.share_name(name);
        let socket = self.get_mut(accepted)?;
        (socket.name, socket.state) = (name, State::Connected);
        (socket.peer, socket.peer_credentials) = (number, credentials);
        let socket = self.get_mut(number)?;
        (socket.state, socket.waits_for) = (State::Connected, NONE);
        (socket.peer, socket.peer_credentials) = (accepted, own);
        socket.own_credentials = credentials;
        let other = self.get_mut(target)?;
        other.pending += 1;
        let before = core::mem::replace(&mut other.last_pending, accepted);
        if before == NONE {
            other.first_pending = accepted;
        } else {
            self.get_mut(before)?.next_pending = accepted;
        }
        self.notify(target, ready::READABLE, files);
        self.notify(number, ready::WRITABLE, files);
        Ok(Some(()))
    }

    /// Has a socket of datagrams send to another one, or to none.
    pub fn set_target(
        &mut self,
        number: u32,
        target: Option<u32>,
        files: &mut Files,
    ) -> Result<(), Errno> {
        let own = self.get(number)?.own_credentials;
        let socket = self.get_mut(number)?;
        socket.peer = target.unwrap_or(NONE);
        socket.state = if target.is_some() {
            State::Connected
        } else {
            State::Fresh
        };
        socket.peer_credentials = own;
        self.notify(number, ready::WRITABLE, files);
        Ok(())
    }

    /// The next connection of a socket that listens, without a description yet; `None` if there is none.
    pub fn accept(&mut self, number: u32, files: &mut Files) -> Result<Option<u32>, Errno> {
        let socket = self.get_mut(number)?;
        if socket.kind == Kind::Datagram {
            return Err(Errno::EOPNOTSUPP);
        }
        if socket.state != State::Listening {
            return Err(Errno::EINVAL);
        }
        let accepted = socket.first_pending;
        if accepted == NONE {
            return if socket.ended_read {
                Err(Errno::EINVAL)
            } else {
                Ok(None)
            };
        }
        let was_full = socket.pending > socket.backlog;
        socket.pending -= 1;
        let (source, rest) = (socket.source, socket.pending > 0);
        let next = core::mem::replace(&mut self.get_mut(accepted)?.next_pending, NONE);
        let socket = self.get_mut(number)?;
        socket.first_pending = next;
        if next == NONE {
            socket.last_pending = NONE;
        }
        if rest {
            files.wake_next(source, Side::Read);
        }
        if was_full {
            self.notify_senders(number, files);
        }
        Ok(Some(accepted))
    }

    /// Ends what a socket receives, what it sends, or both.
    pub fn shutdown(
        &mut self,
        number: u32,
        (read, write): (bool, bool),
        files: &mut Files,
    ) -> Result<(), Errno> {
        let socket = self.get_mut(number)?;
        socket.ended_read |= read;
        socket.ended_write |= write;
        let (peer, connection) = (socket.peer, socket.kind != Kind::Datagram);
        let events = |read: bool, write: bool| {
            let end = if read {
                ready::READABLE | ready::PEER_HANGUP
            } else {
                0
            };
            end | if read && write { ready::HANGUP } else { 0 } | ready::WRITABLE
        };
        let own = events(socket.ended_read, socket.ended_write);
        self.notify(number, own, files);
        if connection && let Ok(other) = self.get_mut(peer) {
            other.ended_read |= write;
            other.ended_write |= read;
            let own = events(other.ended_read, other.ended_write);
            self.notify(peer, own, files);
        }
        Ok(())
    }

    /// Closes a socket, and connections that wait for it. What goes with messages is left to
    /// [`bury`](Self::bury).
    pub fn close(&mut self, number: u32, (files, frames): (&mut Files, &mut Frames)) {
        while let Ok(socket) = self.get_mut(number)
            && socket.first_pending != NONE
        {
            let accepted = socket.first_pending;
            let next = self
                .get(accepted)
                .map_or(NONE, |socket| socket.next_pending);
            if let Ok(socket) = self.get_mut(number) {
                socket.first_pending = next;
            }
            self.end(accepted, true, (files, frames));
        }
        self.end(number, false, (files, frames));
    }

    /// Ends a socket; its peer has an error if it was not accepted, or something was not received.
    fn end(&mut self, number: u32, unaccepted: bool, (files, frames): (&mut Files, &mut Frames)) {
        let unread = self.get(number).is_ok_and(|socket| !socket.ring.is_empty());
        self.drain(number, frames);
        let Some(mut socket) = self.table.remove(number, frames) else {
            return;
        };
        self.count -= 1;
        socket.ring.release(frames);
        if let Some(name) = self.names.get_mut(socket.name)
            && name.socket == number
        {
            name.socket = NONE;
            if let NameKind::File(inode) = name.kind {
                files.tree.files.let_go(inode, frames);
            }
        }
        self.release_name(socket.name, frames);
        self.forget_target(number, socket.kind == Kind::Datagram, files);
        if let Ok(peer) = self.get_mut(socket.peer)
            && peer.peer == number
        {
            peer.peer = NONE;
            (peer.ended_read, peer.ended_write) = (true, true);
            if unread || unaccepted {
                peer.error = Some(Errno::ECONNRESET);
            }
            let source = peer.source;
            files.notify(
                source,
                ready::READABLE | ready::WRITABLE | ready::HANGUP | ready::PEER_HANGUP,
            );
        }
    }

    /// Has sockets that send to one that is closed no longer do so: datagrams are refused once.
    fn forget_target(&mut self, number: u32, datagram: bool, files: &mut Files) {
        let (mut left, mut from) = (self.count, 0);
        while left > 0
            && let Some(other) = self.next(from)
        {
            (left, from) = (left - 1, other + 1);
            let Ok(socket) = self.get_mut(other) else {
                continue;
            };
            let mut events = socket.waits_for == number;
            if events {
                socket.waits_for = NONE;
            }
            if datagram && socket.peer == number {
                (socket.peer, socket.state) = (NONE, State::Fresh);
                socket.refused = true;
                events = true;
            }
            if events {
                files.notify(socket.source, ready::WRITABLE);
            }
        }
    }
}
