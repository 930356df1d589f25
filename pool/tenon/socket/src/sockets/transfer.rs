//! [`Sending`] and [`Received`]: bytes and messages of sockets.

use super::flight::Mark;
use super::{Credentials, Kind, NONE, RING, Socket, Sockets, State};
use tenon_files::{Files, Memory, Operations, Side, ready};
use tenon_frames::Frames;
use tenon_program::Errno;

/// Datagrams that a receiver has at most before senders wait, as Linux has it by default.
const QUEUE: u32 = 10;
/// Bytes in front of each message in a ring: its length, and the name of its sender.
const HEADER: usize = 8;

/// What is sent.
#[derive(Debug)]
pub struct Sending<'a, 'b> {
    /// Where the bytes are.
    pub memory: &'a mut Memory<'b>,
    /// How many there are, behind an offset.
    pub length: usize,
    /// Bytes of the memory that were sent before.
    pub offset: usize,
    /// The receiver of a datagram, if it is not that of the socket.
    pub target: Option<u32>,
    /// The process that sends.
    pub own: Credentials,
    /// Credentials that are stated.
    pub credentials: Option<Credentials>,
    /// References that are sent, which the socket has from then on.
    pub passed: u32,
}

/// What was received.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// Bytes that were copied.
    pub count: usize,
    /// Bytes of the message.
    pub length: usize,
    /// The name of the sender, a reference.
    pub from: u32,
    /// References that were sent with it.
    pub passed: u32,
    /// Credentials of the sender, if they are known.
    pub credentials: Option<Credentials>,
}

impl Received {
    /// No byte, at the end.
    const END: Self = Self {
        count: 0,
        length: 0,
        from: NONE,
        passed: NONE,
        credentials: None,
    };
}

impl Socket {
    /// The place of the first byte that is not received yet.
    fn position(&self) -> u64 {
        self.received - self.ring.len() as u64
    }

    /// The length of the first message, and the name of its sender.
    fn header(&self) -> Option<(usize, u32)> {
        let mut header = [0; HEADER];
        if self.ring.peek(0, &mut header) < HEADER {
            return None;
        }
        let [a, b, c, d, from @ ..] = header;
        let length = u32::from_le_bytes([a, b, c, d]);
        Some((length as usize, u32::from_le_bytes(from)))
    }

    /// The length of the first message.
    pub(super) fn first_length(&self) -> Option<usize> {
        Some(self.header()?.0)
    }

    /// Whether a sender counts as writable for this receiver.
    pub(super) fn has_room_from(&self, sender: &Self) -> bool {
        self.ring.len() * 4 <= sender.settings.send_buffer as usize
            && (self.kind != Kind::Datagram || self.messages <= QUEUE)
    }

    /// Checks that a socket, which has a number, can send to another one.
    fn check_receiver(&self, number: u32, other: &Self) -> Result<(), Errno> {
        if self.kind == Kind::Datagram {
            if other.kind != Kind::Datagram {
                return Err(Errno::EPROTOTYPE);
            }
            if other.peer != NONE && other.peer != number {
                return Err(Errno::EPERM);
            }
        }
        if other.ended_read {
            return Err(Errno::EPIPE);
        }
        Ok(())
    }

    fn has_room(&self) -> bool {
        self.has_room_from(self)
    }

    /// Copies bytes of a sender to the end; returns how many there was memory for.
    fn append(
        &mut self,
        (memory, offset): (&mut Memory<'_>, usize),
        length: usize,
        frames: &mut Frames,
    ) -> Result<usize, Errno> {
        let count = { &mut self.ring }.append_with(length, frames, |frame, at, part, frames| {
            memory.read_to_frame(offset + part.start, (frame, at), part.len(), frames)
        })?;
        self.received += count as u64;
        Ok(count)
    }

    /// Copies the first bytes behind an offset to a receiver; returns how many.
    fn copy_out(
        &self,
        from: usize,
        (memory, offset): (&mut Memory<'_>, usize),
        length: usize,
        frames: &mut Frames,
    ) -> Result<usize, Errno> {
        self.ring.peek_with(from, length, |frame, at, part| {
            memory.write_from_frame(offset + part.start, (frame, at), part.len(), frames)
        })
    }
}

impl Sockets {
    /// The error of a socket that sends to a number which no socket has.
    #[cold]
    fn unconnected(&mut self, number: u32, target: u32) -> Errno {
        let take = |socket: &mut Socket| core::mem::take(&mut socket.refused);
        if target == NONE && self.get_mut(number).is_ok_and(take) {
            Errno::ECONNREFUSED
        } else {
            Errno::ENOTCONN
        }
    }

    /// Sends bytes, or a message as a whole; returns how many bytes. `None` without room for any.
    pub fn send(
        &mut self,
        number: u32,
        sending: &mut Sending<'_, '_>,
        (files, frames): (&mut Files, &mut Frames),
    ) -> Result<Option<usize>, Errno> {
        let sender = self.get(number)?;
        if sender.ended_write {
            return Err(Errno::EPIPE);
        }
        let target = sending.target.unwrap_or(sender.peer);
        let Some(receiver) = self.table.get(target) else {
            return Err(self.unconnected(number, target));
        };
        sender.check_receiver(number, receiver)?;
        let (kind, name, waits) = (sender.kind, sender.name, sender.waits_for != NONE);
        let most = (sender.settings.send_buffer as usize).min(RING - HEADER);
        let shown = sender.settings.pass_credentials;
        let shown = shown || receiver.settings.pass_credentials;
        let (used, start, source) = (receiver.ring.len(), receiver.received, receiver.source);
        let full = if kind == Kind::Stream {
            used >= most && sending.length > 0
        } else {
            if sending.length > most.saturating_sub(32) {
                return Err(Errno::EMSGSIZE);
            }
            let most = most.min(RING - 2 * HEADER);
            used > 0 && used + HEADER + sending.length > most
                || kind == Kind::Datagram && receiver.messages > QUEUE
        };
        if full {
            self.get_mut(number)?.waits_for = target;
            return Ok(None);
        }
        if kind == Kind::Stream && sending.length == 0 {
            self.discard_passed(sending.passed);
            return Ok(Some(0));
        }
        let credentials = { sending.credentials }.or(shown.then_some(sending.own));
        let mark = sending.passed != NONE || credentials.is_some();
        let mark = if mark {
            Some(self.new_mark(target, start, (sending.passed, credentials), frames)?)
        } else {
            None
        };
        let receiver = self.get_mut(target)?;
        let appended = if kind == Kind::Stream {
            let length = sending.length.min(most - used);
            receiver.append((sending.memory, sending.offset), length, frames)
        } else {
            let mut header = [0; HEADER];
            header[..4].copy_from_slice(&(sending.length as u32).to_le_bytes());
            header[4..].copy_from_slice(&name.to_le_bytes());
            let mut header = Memory::Kernel(&mut header);
            let noted = receiver.append((&mut header, 0), HEADER, frames);
            let appended = match noted {
                Ok(HEADER) => {
                    let from = (&mut *sending.memory, sending.offset);
                    receiver.append(from, sending.length, frames)
                }
                _ => Err(Errno::ENOMEM),
            };
            match appended {
                Ok(count) if count == sending.length => {
                    receiver.messages += 1;
                    Ok(count)
                }
                appended => {
                    receiver.ring.truncate(used, frames);
                    receiver.received = start;
                    // A part of the message could not be read, or there is no memory for it.
                    let short = appended.is_ok_and(|count| count > 0);
                    Err(match appended {
                        Err(error) => error,
                        Ok(_) if short => Errno::EFAULT,
                        Ok(_) => Errno::ENOMEM,
                    })
                }
            }
        };
        let count = match appended {
            Ok(count) if count > 0 || sending.length == 0 => count,
            failed => {
                if let Some(mark) = mark {
                    self.marks.remove(mark, frames);
                }
                return Err(failed.err().unwrap_or(Errno::ENOMEM));
            }
        };
        if kind != Kind::Stream {
            self.share_name(name);
        }
        if let Some(mark) = mark {
            self.add_mark(target, mark, frames);
        }
        sending.passed = NONE;
        if waits {
            self.get_mut(number)?.waits_for = NONE;
        }
        files.notify(source, ready::READABLE);
        Ok(Some(count))
    }

    /// A mark that is in no list yet.
    fn new_mark(
        &mut self,
        receiver: u32,
        start: u64,
        (passed, credentials): (u32, Option<Credentials>),
        frames: &mut Frames,
    ) -> Result<u32, Errno> {
        debug_assert!(self.get(receiver).is_ok());
        let mark = Mark {
            place: (start, start),
            passed,
            credentials,
            next: NONE,
        };
        let inserted = self.marks.insert(mark, 0, frames);
        inserted.map_err(|_| Errno::ENOBUFS)
    }

    /// Appends a mark for what was received last, or extends the last mark.
    fn add_mark(&mut self, receiver: u32, mark: u32, frames: &mut Frames) {
        let Ok(socket) = self.get(receiver) else {
            return;
        };
        let (end, last, stream) = (
            socket.received,
            socket.last_mark,
            socket.kind == Kind::Stream,
        );
        let Some(own) = self.marks.get_mut(mark) else {
            return;
        };
        own.place.1 = end;
        let (start, passed, credentials) = (own.place.0, own.passed, own.credentials);
        if let Some(before) = self.marks.get_mut(last) {
            let same = before.place.1 == start
                && (before.passed, passed) == (NONE, NONE)
                && before.credentials == credentials;
            if stream && same {
                before.place.1 = end;
                self.marks.remove(mark, frames);
                return;
            }
            before.next = mark;
        }
        if let Ok(socket) = self.get_mut(receiver) {
            socket.last_mark = mark;
            if last == NONE {
                socket.first_mark = mark;
            }
        }
    }

    /// What is received without bytes: an error, the end, or nothing yet.
    fn receive_nothing(&mut self, number: u32) -> Result<Option<Received>, Errno> {
        let socket = self.get_mut(number)?;
        match socket.error.take() {
            Some(error) => Err(error),
            None if socket.ended_read => Ok(Some(Received::END)),
            None => Ok(None),
        }
    }

    /// Receives bytes or a message from an offset of what there is; keeps them if `peek`. `None` if there
    /// is nothing yet.
    pub fn receive(
        &mut self,
        number: u32,
        (memory, offset, length): (&mut Memory<'_>, usize, usize),
        peek: bool,
        (files, frames): (&mut Files, &mut Frames),
        operations: &'static Operations,
    ) -> Result<Option<Received>, Errno> {
        let socket = self.get(number)?;
        match (socket.kind, socket.state) {
            (Kind::Stream, State::Fresh | State::Listening) => return Err(Errno::EINVAL),
            (Kind::Packet, State::Fresh | State::Listening) => return Err(Errno::ENOTCONN),
            _ => {}
        }
        if socket.ring.is_empty() {
            return self.receive_nothing(number);
        }
        let (stream, marked) = (socket.kind == Kind::Stream, socket.first_mark != NONE);
        let (whole, from, header) = if stream && !marked {
            (length.min(socket.ring.len()), NONE, 0)
        } else if stream {
            (self.stream_length(number, length), NONE, 0)
        } else {
            let (length, from) = socket.header().ok_or(Errno::EBADF)?;
            (length, from, HEADER)
        };
        let count = socket.copy_out(header, (memory, offset), whole.min(length), frames)?;
        if !stream && count < whole.min(length) {
            return Err(Errno::EFAULT);
        }
        let taken = if stream { count } else { header + whole };
        let (passed, credentials) = if marked {
            self.take_marks(number, taken, peek, frames)
        } else {
            (NONE, None)
        };
        let passed = if peek {
            let process = { credentials }.map_or(0, |found| found.process);
            self.copy_passed(passed, process, (files, frames), operations)?
        } else {
            passed
        };
        let from = if peek { self.share_name(from) } else { from };
        if !peek {
            self.consume(number, taken, (files, frames));
        }
        Ok(Some(Received {
            count,
            length: if stream { count } else { whole },
            from,
            passed,
            credentials,
        }))
    }

    /// Bytes of a stream that are received together: up to the end of those that references go with,
    /// and of one sender where credentials are received.
    fn stream_length(&self, number: u32, length: usize) -> usize {
        let Ok(socket) = self.get(number) else {
            return 0;
        };
        let start = socket.position();
        let end = start + length.min(socket.ring.len()) as u64;
        let mut credentials = None;
        let (mut at, mut limit) = (socket.first_mark, end);
        let mut reached = start;
        while let Some(mark) = self.marks.get(at) {
            if mark.place.0 >= limit {
                break;
            }
            if socket.settings.pass_credentials {
                // What is in front of a mark has no credentials.
                let other = mark.place.0 > reached;
                let known = *credentials.get_or_insert(mark.credentials);
                if mark.place.0 > start && (other || known != mark.credentials) {
                    limit = mark.place.0;
                    break;
                }
            }
            reached = mark.place.1;
            if mark.passed != NONE {
                limit = limit.min(mark.place.1);
                break;
            }
            at = mark.next;
        }
        (limit - start) as usize
    }

    /// Takes what goes with the first bytes, and removes their marks; leaves all if `peek`.
    fn take_marks(
        &mut self,
        number: u32,
        taken: usize,
        peek: bool,
        frames: &mut Frames,
    ) -> (u32, Option<Credentials>) {
        let (mut passed, mut credentials) = (NONE, None);
        let Ok(socket) = self.get(number) else {
            return (passed, credentials);
        };
        let (start, mut at) = (socket.position(), socket.first_mark);
        let end = start + taken as u64;
        while let Some(mark) = self.marks.get_mut(at) {
            if mark.place.0 >= end {
                break;
            }
            let (number_of_mark, next) = (at, mark.next);
            credentials = credentials.or(mark.credentials);
            if mark.passed != NONE {
                passed = mark.passed;
            }
            at = next;
            if peek {
                continue;
            }
            mark.passed = NONE;
            if mark.place.1 > end {
                break;
            }
            self.marks.remove(number_of_mark, frames);
            if let Ok(socket) = self.get_mut(number) {
                socket.first_mark = next;
                if next == NONE {
                    socket.last_mark = NONE;
                }
            }
        }
        (passed, credentials)
    }

    /// Removes bytes that were received, and wakes senders that have room now.
    fn consume(&mut self, number: u32, taken: usize, (files, frames): (&mut Files, &mut Frames)) {
        let Ok(socket) = self.get_mut(number) else {
            return;
        };
        let (had_room, peer) = (socket.has_room(), socket.peer);
        let before = socket.ring.len();
        socket.ring.skip(taken, frames);
        if socket.kind != Kind::Stream {
            socket.messages -= 1;
        }
        let (source, rest) = (socket.source, socket.ring.len());
        let datagram = socket.kind == Kind::Datagram;
        let has_room = socket.has_room();
        if rest > 0 {
            files.wake_next(source, Side::Read);
        }
        if datagram {
            if has_room && !had_room || rest == 0 {
                self.notify_senders(number, files);
            }
        } else if let Ok(other) = self.get(peer) {
            let most = other.settings.send_buffer as usize;
            if before * 4 > most && rest * 4 <= most {
                self.notify(peer, ready::WRITABLE, files);
            } else if rest == 0 {
                files.wake_next(other.source, Side::Write);
            }
        }
    }

    /// Removes the messages of a socket with the names of their senders.
    pub(super) fn release_senders(&mut self, number: u32, frames: &mut Frames) {
        while let Ok(socket) = self.get_mut(number)
            && socket.kind != Kind::Stream
            && let Some((length, from)) = socket.header()
        {
            socket.ring.skip(HEADER + length, frames);
            socket.messages = socket.messages.saturating_sub(1);
            self.release_name(from, frames);
        }
        if let Ok(socket) = self.get_mut(number) {
            (socket.first_mark, socket.last_mark) = (NONE, NONE);
        }
    }
}
