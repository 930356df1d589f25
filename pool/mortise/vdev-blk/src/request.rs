//! Execution of a driver's request (virtio 1.2, 5.2.6), a step at a time.
//!
//! A request is a chain of buffers: a header, data to be written to the disk, data to be read from
//! it, and the status in the last byte. No assumption is made about how these are split into
//! buffers (2.7.4.3).

use crate::{Geometry, SECTOR, registers::kind};
use core_virtq::{Buffer, Chain, Memory, Outside, Queue, Violation};

/// Bytes of a header: type, priority, sector.
const HEADER: usize = 16;

/// Bytes that are read or written one by one per step.
const PIECE: usize = 4;

/// Reason why an access fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoError {
    /// The buffer lies outside the driver's memory.
    Outside,
    /// The disk fails.
    Failed,
}

impl From<Outside> for IoError {
    fn from(_: Outside) -> Self {
        Self::Outside
    }
}

/// A disk and its driver's memory.
pub trait Store: Memory {
    /// Begins a request; what an earlier one left unfinished is dropped.
    fn begin(&mut self) {}

    /// Copies up to `size` bytes, at least one, from offset `from` of the disk to the driver's
    /// memory. Returns how many, possibly none. The range lies within the disk.
    ///
    /// # Errors
    ///
    /// If part of the target is not the driver's memory, before anything is copied, or the disk
    /// fails.
    fn load(&mut self, from: u64, to: u64, size: u32) -> Result<u32, IoError>;

    /// Copies up to `size` bytes from the driver's memory to offset `to` of the disk.
    ///
    /// # Errors
    ///
    /// Those of [`load`](Self::load).
    fn store(&mut self, from: u64, to: u64, size: u32) -> Result<u32, IoError>;

    /// Completes the writes of a request, or with `all` makes all earlier writes durable. Returns
    /// false if that is still in progress.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    fn settle(&mut self, _all: bool) -> Result<bool, IoError> {
        // Memory needs no write-back.
        Ok(true)
    }
}

/// Status of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Done = 0,
    Failed = 1,
    Unknown = 2,
}

/// Operation of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    /// Header not read yet.
    Unread,
    Read,
    Write,
    Identify,
    Flush,
    /// Contents of the buffers are ignored.
    Nothing,
}

/// A request in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    chain: Chain,
    buffer: Option<Buffer>,
    header: [u64; 2],
    /// Bytes of the header that were read.
    have: usize,
    action: Action,
    status: Status,
    /// Offset on the disk at which it continues.
    position: u64,
    /// Data bytes transferred.
    moved: u64,
    /// Bytes written to its buffers.
    written: u32,
}

/// A completed request, with the number of bytes written to its buffers.
pub(crate) struct Completed(pub(crate) Chain, pub(crate) u32);

impl Request {
    pub(crate) const fn new(chain: Chain) -> Self {
        Self {
            chain,
            buffer: None,
            header: [0; 2],
            have: 0,
            action: Action::Unread,
            status: Status::Done,
            position: 0,
            moved: 0,
            written: 0,
        }
    }

    /// Executes a step: reads a descriptor or part of the header, or transfers part of a buffer.
    pub(crate) fn step(
        &mut self,
        disk: &Geometry,
        queue: &Queue,
        memory: &mut impl Store,
    ) -> Result<Option<Completed>, Violation> {
        let Some(mut buffer) = self.buffer else {
            // A request without a byte for its status is malformed.
            let next = self.chain.next(queue, memory)?.ok_or(Violation::Shape)?;
            self.buffer = Some(next);
            return Ok(None);
        };
        if self.have == HEADER && self.action == Action::Unread {
            self.parse_header(disk);
            return Ok(None);
        }
        let done = match buffer.writable {
            false if self.have < HEADER => self.read_header(&buffer, memory)?,
            false => self.take(&buffer, disk, memory)?,
            true if self.action == Action::Unread => return Err(Violation::Shape),
            true => {
                let room = buffer.length.checked_sub(buffer.last.into());
                match room.ok_or(Violation::Shape)? {
                    0 if buffer.last => return self.end(&buffer, memory),
                    room => self.fill(
                        Buffer {
                            length: room,
                            ..buffer
                        },
                        disk,
                        memory,
                    )?,
                }
            }
        };
        buffer.skip(done)?;
        // The rest of the last writable buffer is the status byte; a readable buffer has no rest.
        self.buffer = (buffer.length > 0).then_some(buffer);
        Ok(None)
    }

    /// Reads part of the header, or all of it in the usual framing.
    fn read_header(&mut self, buffer: &Buffer, memory: &impl Store) -> Result<u32, Violation> {
        let whole = buffer.length as usize >= HEADER && buffer.address.is_multiple_of(8);
        if self.have == 0 && whole {
            self.header = memory.read64s(buffer.address)?;
            self.have = HEADER;
            return Ok(HEADER as u32);
        }
        let size = PIECE.min(HEADER - self.have).min(buffer.length as usize);
        let mut bytes = [0; PIECE];
        let bytes = bytes.get_mut(..size).unwrap_or_default();
        memory.read(buffer.address, bytes)?;
        for &byte in bytes.iter() {
            if let Some(word) = self.header.get_mut(self.have / 8) {
                *word |= u64::from(byte) << (8 * (self.have % 8));
            }
            self.have += 1;
        }
        Ok(size as u32)
    }

    /// Evaluates the header.
    fn parse_header(&mut self, disk: &Geometry) {
        let [kind, sector] = self.header;
        self.action = match kind as u32 {
            kind::IN => Action::Read,
            kind::OUT if disk.read_only => self.fail(),
            kind::OUT => Action::Write,
            kind::FLUSH => Action::Flush,
            kind::GET_ID => Action::Identify,
            _ => {
                self.status = Status::Unknown;
                Action::Nothing
            }
        };
        match sector.checked_mul(SECTOR) {
            Some(position) => self.position = position,
            None if matches!(self.action, Action::Read | Action::Write) => {
                self.action = self.fail();
            }
            None => {}
        }
    }

    /// Transfers part of a buffer to the disk; ignored data is skipped at once.
    fn take(
        &mut self,
        buffer: &Buffer,
        disk: &Geometry,
        memory: &mut impl Store,
    ) -> Result<u32, Violation> {
        if self.action != Action::Write || !self.fits(buffer, disk) {
            return Ok(buffer.length);
        }
        let done = memory.store(buffer.address, self.position, buffer.length);
        self.count(done)
    }

    /// Transfers part of a buffer from the disk.
    fn fill(
        &mut self,
        buffer: Buffer,
        disk: &Geometry,
        memory: &mut impl Store,
    ) -> Result<u32, Violation> {
        match self.action {
            Action::Read => {
                if !self.fits(&buffer, disk) {
                    return Ok(buffer.length);
                }
                let done = memory.load(self.position, buffer.address, buffer.length);
                let done = self.count(done)?;
                self.written = self.written.saturating_add(done);
                Ok(done)
            }
            Action::Identify => {
                let left = disk.name.get(self.moved as usize..).unwrap_or_default();
                let piece = left
                    .get(..PIECE.min(buffer.length as usize))
                    .unwrap_or(left);
                if piece.is_empty() {
                    return Ok(buffer.length);
                }
                memory.write(buffer.address, piece)?;
                self.moved += piece.len() as u64;
                self.written = self.written.saturating_add(piece.len() as u32);
                Ok(piece.len() as u32)
            }
            _ => Ok(buffer.length),
        }
    }

    /// Checks that a buffer fits on the disk from the current offset; the request fails otherwise.
    fn fits(&mut self, buffer: &Buffer, disk: &Geometry) -> bool {
        let end = self.position.checked_add(buffer.length.into());
        let fits = buffer.length > 0 && end.is_some_and(|end| end <= disk.size());
        if !fits && buffer.length > 0 {
            self.action = self.fail();
        }
        fits
    }

    fn fail(&mut self) -> Action {
        self.status = Status::Failed;
        Action::Nothing
    }

    /// Advances by the bytes transferred, or fails the request.
    fn count(&mut self, done: Result<u32, IoError>) -> Result<u32, Violation> {
        let done = match done {
            Ok(done) => done,
            Err(IoError::Outside) => return Err(Violation::Outside),
            Err(IoError::Failed) => {
                self.action = self.fail();
                return Ok(0);
            }
        };
        self.moved += u64::from(done);
        self.position += u64::from(done);
        Ok(done)
    }

    /// Writes the status into the last byte.
    fn end(
        &mut self,
        buffer: &Buffer,
        memory: &mut impl Store,
    ) -> Result<Option<Completed>, Violation> {
        if matches!(self.action, Action::Read | Action::Write) && !self.moved.is_multiple_of(SECTOR)
        {
            self.action = self.fail();
        }
        if let Action::Write | Action::Flush = self.action {
            match memory.settle(self.action == Action::Flush) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(_) => self.action = self.fail(),
            }
        }
        memory.write8(buffer.address, self.status as u8)?;
        Ok(Some(Completed(self.chain, self.written.saturating_add(1))))
    }
}
